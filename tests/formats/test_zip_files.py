"""Archives made to keep the host busy."""

import io
import struct
import tracemalloc
import zipfile

import pytest

from proctor.errors import InputError
from proctor.formats.zip_files import open_zip
from proctor.service.http.judge0.archive import unpacked

ENTRY = struct.Struct("<4s4B4HL2L5H2L")
END = struct.Struct("<4s4H2LH")


def listing(entries: int, extra: bytes = b"") -> bytes:
    """An archive that is nothing but a list of files."""
    name = b"a"
    entry = ENTRY.pack(
        b"PK\x01\x02", 20, 3, 20, 0, 0, 0, 0, 0, 0, 0, 0, len(name), len(extra), 0, 0, 0, 0, 0
    )
    directory = (entry + name + extra) * entries
    count = min(entries, 0xFFFF)
    return directory + END.pack(b"PK\x05\x06", 0, 0, count, count, len(directory), 0, 0)


@pytest.mark.parametrize(
    ("entries", "extra"), [(300_000, b""), (1_000, struct.pack("<HH", 9, 0) * 5_000)]
)
def test_no_long_list_of_files_is_read(entries: int, extra: bytes) -> None:
    data = listing(entries, extra)
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="lists its files in more than"):
            unpacked(data, 1 << 20)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < len(data) + (1 << 20)


def test_a_list_of_files_may_have_its_length() -> None:
    with open_zip(listing(1000), 1 << 16) as archive:
        assert len(archive.infolist()) == 1000
    with pytest.raises(InputError, match="no zip archive"):
        open_zip(listing(1000), 1 << 15)


def test_files_that_overlap_are_not_unpacked_again_and_again() -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("a", b"a" * 1000)
        first = archive.infolist()[0]
        for name in "bcde":
            other = zipfile.ZipInfo(name)
            other.header_offset = first.header_offset
            other.file_size = other.compress_size = 1000
            other.CRC = first.CRC
            archive.filelist.append(other)
    with pytest.raises(InputError, match="overlap"):
        unpacked(made.getvalue(), 1 << 20)
