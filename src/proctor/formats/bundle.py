"""Bundles: files that belong together, in a directory or a zip archive, with a manifest of all.

`manifest.json` has, besides what its maker says, the size and SHA-256 of every other file. Bundles
come from strangers: only files that the manifest names are read, none of them through a link, and
never more than MOST bytes.
"""

import contextlib
import hashlib
import json
import os
import secrets
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.formats.livecodebench import parse_json
from proctor.formats.zip_files import open_zip, zip_faults
from proctor.json_values import convert_json
from proctor.limits import MIB
from proctor.program import check_relative
from proctor.sandbox.machine import plain_file

MANIFEST = "manifest.json"
ZIP = ".zip"
MOST = 512 * MIB
"""Bytes of all files."""
MOST_FILES = 5000
_MOST_MANIFEST = 32 * MIB
_DIRECTORY = 8 * MIB
"""Bytes of the list of files of an archive."""
_DATE = (1980, 1, 1, 0, 0, 0)
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_Read = Callable[[str, int], bytes]
"""Returns the content of a file, given its name and the most bytes that it may have."""


class _ListedFile(msgspec.Struct, frozen=True):
    """Entry of the manifest for one file."""

    size: int
    sha256: str


class _Manifest(msgspec.Struct, frozen=True):
    files: dict[str, _ListedFile]


def write_bundle(place: Path, manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> None:
    """Write a bundle, whole or not at all; a zip archive if the name ends in `.zip`.

    Raises InputError if the place exists already, for more than a bundle may hold, and if the
    bundle cannot be written.
    """
    if len(files) > MOST_FILES or sum(map(len, files.values())) > MOST:
        raise InputError(
            f"a bundle has at most {MOST_FILES} files and {MOST // MIB} MiB", file=str(place)
        )
    listed = {
        name: {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in files.items()
    }
    text = json.dumps({**manifest, "files": listed}, indent=2, allow_nan=False) + "\n"
    everything = {MANIFEST: text.encode(), **files}
    if os.path.lexists(place):
        raise InputError("is there already; name another place", file=str(place))
    draft = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
    try:
        if place.suffix == ZIP:
            _write_zip(draft, everything)
            os.link(draft, place)  # unlike a rename, this replaces nothing
        else:
            _write_directory(draft, everything)
            draft.rename(place)  # this replaces at most an empty directory
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(place)) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        with contextlib.suppress(OSError):
            draft.unlink()


def _write_zip(draft: Path, files: Mapping[str, bytes]) -> None:
    with draft.open("xb") as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in files.items():
                archive.writestr(zipfile.ZipInfo(name, _DATE), data, zipfile.ZIP_DEFLATED)
        file.flush()
        os.fsync(file.fileno())


def _write_directory(draft: Path, files: Mapping[str, bytes]) -> None:
    draft.mkdir()
    for name, data in files.items():
        path = draft / check_relative(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())


def read_bundle(place: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the manifest of a bundle and its files, checked against the manifest.

    Raises InputError for what is not a bundle, is too large, has a missing or altered file, or
    names a file that could lie elsewhere.
    """
    try:
        with _opened(place) as read:
            content = parse_json(read(MANIFEST, _MOST_MANIFEST))
            listed = _checked_list(content)
            return content, {name: _checked(read, name, each) for name, each in listed.items()}
    except InputError as error:
        where = error.file if error.file is not None and error.file != str(place) else None
        inside = "" if where is None else f"{where}: "
        raise InputError(f"{inside}{error.message}", file=str(place)) from error
    except FileNotFoundError as error:
        raise InputError("there is no such bundle", file=str(place)) from error


def _checked_list(content: Any) -> dict[str, _ListedFile]:
    try:
        listed = convert_json(content, _Manifest).files
    except msgspec.ValidationError as error:
        raise InputError(f"is not a manifest of a bundle: {error}", file=MANIFEST) from error
    for name in listed:
        check_relative(name)
    sizes = [each.size for each in listed.values()]
    if len(listed) > MOST_FILES or any(size < 0 for size in sizes) or sum(sizes) > MOST:
        what = f"lists more than {MOST_FILES} files, or more than {MOST // MIB} MiB"
        raise InputError(what, file=MANIFEST)
    return listed


def _checked(read: _Read, name: str, listed: _ListedFile) -> bytes:
    try:
        data = read(name, listed.size)
    except FileNotFoundError as error:
        raise InputError("is missing", file=name) from error
    if len(data) != listed.size or hashlib.sha256(data).hexdigest() != listed.sha256:
        raise InputError("is not the file that the manifest lists: it was changed", file=name)
    return data


@contextmanager
def _opened(place: Path) -> Iterator[_Read]:
    if not place.is_dir():
        with open_zip(plain_file.read(str(place.resolve()), MOST), _DIRECTORY) as archive:
            yield lambda name, most: _read_zipped(archive, name, most)
        return
    root = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield lambda name, most: _read_below(root, name, most)
    finally:
        os.close(root)


def _read_zipped(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    with zip_faults():
        try:
            entry = archive.getinfo(name)
        except KeyError as error:
            raise FileNotFoundError(name) from error
        if entry.compress_type not in _METHODS:
            raise InputError("is neither stored nor deflated", file=name)
        with archive.open(entry) as file:
            return file.read(most + 1)


def _read_below(root: int, name: str, most: int) -> bytes:
    """Read a file below an open directory; no part of its name may be a link."""
    *parents, last = name.split("/")
    directory = os.dup(root)
    try:
        for parent in parents:
            below = os.open(
                parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC,
                dir_fd=directory,
            )  # fmt: skip
            os.close(directory)
            directory = below
        return plain_file.read(last, most, directory)
    except FileNotFoundError:
        raise
    except InputError as error:
        raise InputError(error.message, file=name) from error
    except OSError as error:  # ENOTDIR: one of the directories is a link
        raise InputError(f"cannot be read: {error.strerror}", file=name) from error
    finally:
        os.close(directory)
