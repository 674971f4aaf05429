"""Archives: `additional_files`, untrusted, unpacked into memory; and files that a run leaves."""

import io
import stat
import zipfile
from collections.abc import Mapping

from proctor.errors import InputError
from proctor.formats.zip_files import open_zip, zip_faults
from proctor.program import check_relative

MOST_FILES = 1000
_DIRECTORY = MOST_FILES << 10
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def unpacked(data: bytes, most: int) -> dict[str, bytes]:
    """Return the files of a zip, which may have `most` bytes in all.

    Sizes are counted, not taken from the archive. Raises InputError for data that is
    not a zip, is too large, or holds a name that could lead elsewhere, a link, or one name twice.
    """
    with open_zip(data, _DIRECTORY) as archive, zip_faults():
        return _files(archive, most)


def packed(files: Mapping[str, bytes]) -> bytes:
    """Return files as a zip, without compression and without times."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(name), content)
    return data.getvalue()


def _files(archive: zipfile.ZipFile, most: int) -> dict[str, bytes]:
    entries = [each for each in archive.infolist() if not each.is_dir()]
    if len(entries) > MOST_FILES:
        raise InputError(f"more than {MOST_FILES} files")
    found: dict[str, bytes] = {}
    left = most
    for entry in entries:
        name = check_relative(entry.orig_filename.removeprefix("./"))
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if kind not in {0, stat.S_IFREG}:
            raise InputError(f"{name!r} is not an ordinary file")
        if entry.compress_type not in _METHODS:
            raise InputError(f"{name!r} is neither stored nor deflated")
        if name in found:
            raise InputError(f"{name!r} is there twice")
        with archive.open(entry) as file:
            found[name] = file.read(left + 1)
        left -= len(found[name])
        if left < 0:
            raise InputError(f"more than {most >> 10} KB")
    _check_apart(found)
    return found


def _check_apart(found: dict[str, bytes]) -> None:
    """Refuse a name that is both a file and a directory: a cell cannot hold both."""
    for name in found:
        parts = name.split("/")
        for at in range(1, len(parts)):
            if "/".join(parts[:at]) in found:
                raise InputError(f"{'/'.join(parts[:at])!r} is a file and a directory")
