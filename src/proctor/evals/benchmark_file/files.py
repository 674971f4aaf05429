"""Files beside a benchmark file: the only ones that it may name."""

from pathlib import Path

from proctor.errors import InputError
from proctor.program import check_relative


def beside(directory: Path, name: str, file: str, field: str) -> Path:
    """Return a file or directory below that of a benchmark file.

    Links may lead within the directory only. Raises InputError, with `file` and `field`.
    """
    try:
        place = directory / check_relative(name)
        if not place.exists():
            raise InputError(f"there is no {place}")
        if not place.resolve().is_relative_to(directory.resolve()):
            raise InputError(f"{name} leads out of {directory}")
    except InputError as error:
        raise InputError(error.message, file=file, field=field) from error
    return place
