"""Payload files: inputs nobody can change, positions nobody shares."""

import mmap
import os
from pathlib import Path

import pytest

from proctor.sandbox.machine import memfile

CONTENT = bytes(range(256)) * 3 + b"\0end"


@pytest.fixture
def fd() -> int:
    return memfile.sealed(CONTENT)


def test_what_is_put_in_comes_out(fd: int) -> None:
    assert memfile.content(fd, 1 << 20) == CONTENT
    assert memfile.content(fd, 5) == CONTENT[:5]
    assert os.read(fd, 1 << 20) == CONTENT, "a reader starts at the beginning"
    assert memfile.content(fd, 1 << 20) == CONTENT, "wherever its position is"
    os.close(fd)


def test_a_sealed_file_cannot_be_changed_in_any_way(fd: int) -> None:
    again = os.open(f"/proc/self/fd/{fd}", os.O_RDWR)
    for handle in (fd, again):
        with pytest.raises(PermissionError):
            os.write(handle, b"x")
        with pytest.raises(PermissionError):
            os.pwrite(handle, b"x", 0)
        with pytest.raises(PermissionError):
            os.ftruncate(handle, 0)
        with pytest.raises(PermissionError):
            os.ftruncate(handle, 1 << 20)
        with pytest.raises(PermissionError):
            mmap.mmap(handle, 0, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
    with pytest.raises(PermissionError):
        Path(f"/proc/self/fd/{fd}").write_bytes(b"x")
    assert memfile.content(fd, 1 << 20) == CONTENT
    os.close(again)
    os.close(fd)


def test_reopened_files_have_their_own_position_and_are_read_only(fd: int) -> None:
    one, other = memfile.reopened(fd), memfile.reopened(fd)
    assert os.read(one, 10) == CONTENT[:10]
    assert os.read(other, 20) == CONTENT[:20]
    assert os.read(one, 10) == CONTENT[10:20]
    assert os.lseek(fd, 0, os.SEEK_CUR) == 0
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.write(one, b"x")
    for handle in (one, other, fd):
        os.close(handle)


def test_a_sealed_reader_leaves_no_other_descriptor() -> None:
    before = len(os.listdir("/proc/self/fd"))
    fd = memfile.sealed_reader(b"")
    assert len(os.listdir("/proc/self/fd")) == before + 1
    assert os.read(fd, 1) == b""
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.write(fd, b"x")
    os.close(fd)


def test_an_empty_file_takes_output_and_is_read_from_its_start() -> None:
    fd = memfile.empty()
    os.write(fd, b"out")
    os.write(fd, b"put")
    assert memfile.content(fd, 100) == b"output"
    assert memfile.content(fd, 4) == b"outp"
    os.pwrite(fd, b"x", 1 << 30)  # sparse: what is not asked for is not read
    assert memfile.content(fd, 8) == b"output\0\0"
    os.close(fd)


def test_no_payload_descriptor_survives_an_exec(fd: int) -> None:
    other = memfile.empty()
    third = memfile.reopened(fd)
    assert not any(map(os.get_inheritable, (fd, other, third)))
    for handle in (fd, other, third):
        os.close(handle)
