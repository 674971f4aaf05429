"""The program around the payload: unpacks it once, and becomes proctor under its Python.

Standard library only; frozen by build.py. What is unpacked lies in the cache directory under the
payload's digest, is put there whole or not at all, and is used by all later starts.
"""

import ctypes
import hashlib
import os
import shutil
import signal
import struct
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import BinaryIO

PYTHON = "bin/python3"
"""In the payload."""
TRAILER = struct.Struct(">QQ32s16s")
"""At the end of the file: where in it the payload is, its size, its SHA-256, the magic."""
MAGIC = b"proctor payload1"
START = "import sys; sys.argv[0] = {!r}; from proctor.cli.{} import main; sys.exit(main())"
TACK = ("--daemon", "--syntax-check", "--ast-check")
"""Arguments by which Tack Timetable's application calls the binary that it comes with; a number of
seconds is one, too."""
_FAILED = 125
_PR_SET_PDEATHSIG = 1
_PIECE = 1 << 20


class Payload:
    """The part of the file between two places, read as a file of its own; digested on the way."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._left = file, size
        self.digest = hashlib.sha256()

    def read(self, size: int) -> bytes:
        data = self._file.read(min(size, self._left))
        self._left -= len(data)
        self.digest.update(data)
        return data

    def drain(self) -> None:
        while self.read(_PIECE):
            pass


def main() -> None:
    """Become proctor, with the arguments that were typed."""
    try:
        with Path(sys.executable).open("rb") as file:
            place = unpacked(file)
    except (OSError, ValueError, tarfile.TarError) as error:
        sys.stderr.write(f"proctor: this file cannot be unpacked: {error}\n")
        sys.exit(_FAILED)
    python = str(place / PYTHON)
    end_with_parent()
    try:
        os.execve(python, [python, "-I", "-c", start(), *sys.argv[1:]], environment())
    except OSError as error:
        sys.stderr.write(f"proctor: {python} cannot be executed: {error}\n")
        sys.exit(_FAILED)


def start() -> str:
    """Return the Python program that becomes proctor, or proctor-tack where Tack calls it."""
    words = sys.argv[1:]
    if len(words) == 1 and (words[0] in TACK or words[0].replace(".", "", 1).isdigit()):
        return START.format("proctor-tack", "tack")
    return START.format("proctor", "main")


def unpacked(file: BinaryIO) -> Path:
    """Return where the payload is, after unpacking it if it is not there yet."""
    end = file.seek(-TRAILER.size, os.SEEK_END)
    start, size, digest, magic = TRAILER.unpack(file.read(TRAILER.size))
    if magic != MAGIC or start + size > end:
        raise ValueError("it is not whole: download or build it again")
    cache = cache_directory()
    place = cache / f"binary-{digest.hex()[:32]}"
    if place.is_dir():
        check_ours(place)
        return place
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.seek(start)
    draft = Path(tempfile.mkdtemp(prefix=".binary-", dir=cache))
    try:
        payload = Payload(file, size)
        with tarfile.open(fileobj=payload, mode="r|gz") as tar:  # type: ignore[call-overload]
            tar.extractall(draft, filter="data")
        payload.drain()
        if payload.digest.digest() != digest:
            raise ValueError("it is damaged: download or build it again")
        try:
            draft.rename(place)
        except OSError:  # another start was faster
            check_ours(place)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return place


def check_ours(place: Path) -> None:
    """Raise PermissionError if somebody else can write there: it would be executed."""
    about = place.stat()
    if about.st_uid != os.geteuid() or about.st_mode & 0o022:
        raise PermissionError(f"{place} belongs to somebody else, or others may write there")


def cache_directory() -> Path:
    """Return where proctor keeps what can be made again."""
    if named := os.environ.get("PROCTOR_CACHE_DIR"):
        return Path(named)
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(home).expanduser() / "proctor"


def environment() -> dict[str, str]:
    """Return the environment as it was before PyInstaller's loader changed it."""
    found = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("_PYI_", "_MEIPASS")) and name != "LD_LIBRARY_PATH"
    }
    before = found.pop("LD_LIBRARY_PATH_ORIG", None)
    return found if before is None else {**found, "LD_LIBRARY_PATH": before}


def end_with_parent() -> None:
    """Have SIGTERM sent when PyInstaller's loader, which is what others know and end, is gone."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


if __name__ == "__main__":
    main()
