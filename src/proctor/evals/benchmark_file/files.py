"""Files beside a benchmark file: the only ones that it may name."""

from pathlib import Path

from proctor.errors import InputError
from proctor.program import check_relative


def beside(directory: Path, name: str, file: str | None = None, field: str | None = None) -> Path:
    """Return a file or directory below the directory of a benchmark file.

    It must not be hidden, and links must not lead out of that directory. Raises InputError, with
    `file` and `field`.
    """
    try:
        place = directory / check_relative(name)
        if any(part.startswith(".") for part in place.relative_to(directory).parts):
            raise InputError(f"{name} is hidden")
        if not (place.is_file() or place.is_dir()):
            raise InputError(f"there is no {place}")
        if not place.resolve().is_relative_to(directory.resolve()):
            raise InputError(f"{name} leads out of {directory}")
    except InputError as error:
        raise InputError(error.message, file=file, field=field) from error
    except OSError as error:
        what = f"cannot be found: {error.strerror}"
        raise InputError(what, file=file, field=field) from error
    return place
