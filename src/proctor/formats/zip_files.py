"""Untrusted zip archives: opened within bounds; each of their faults is an InputError."""

import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from proctor.errors import InputError


def open_zip(data: bytes, directory: int) -> zipfile.ZipFile:
    """Open an archive whose list of files takes at most `directory` bytes. Raises InputError.

    The sizes that it states are not trusted. A list is held in memory whole, and takes some ten
    times its size, and a second for each three megabytes.
    """
    with zip_faults():
        file = _Bounded(data)
        file.most = directory
        archive = zipfile.ZipFile(file)
        file.most = len(data)
        # Otherwise a small archive could have the same bytes unpacked a thousand times.
        if sum(each.compress_size for each in archive.infolist()) > len(data):
            raise zipfile.BadZipFile("its files overlap")
        return archive


@contextmanager
def zip_faults() -> Iterator[None]:
    """Raise InputError for every error of zipfile on a broken, encrypted or unusual archive."""
    try:
        yield
    except (
        zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError,
        NotImplementedError, RuntimeError, ValueError, LookupError, OverflowError,
    ) as error:  # fmt: skip
        raise InputError(f"no zip archive that could be read: {error}") from error


class _Bounded(io.BytesIO):
    """Refuses to be read beyond `most` bytes at a time.

    Reading a list of files shows its length, whatever the archive's end says of it.
    """

    most = 0

    def read(self, size: int | None = -1, /) -> bytes:
        # zipfile looks for the end of an archive, with its comment, in the last 64 KiB.
        if (size is None or size < 0 or size > self.most) and len(self.getbuffer()) > self.most:
            raise zipfile.BadZipFile(f"it lists its files in more than {self.most} bytes")
        return super().read(size)
