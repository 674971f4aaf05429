"""Payload in memory files: how source, input and output cross into a cell without a path."""

import os

try:
    import fcntl
except ImportError:  # Windows
    _SEALS = 0
else:
    _SEALS = (
        fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
        if hasattr(fcntl, "F_SEAL_SEAL")
        else 0
    )

_MOSTLY = 4096
"""Size in bytes that most outputs stay below: those are read by one system call."""


def sealed(content: bytes) -> int:
    """Return a descriptor, at its start, of an immutable file with this content.

    The caller closes it. Sealed, because one input may be read by many programs, none of which may
    change it.
    """
    fd = os.memfd_create("input", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    done = 0
    while done < len(content):
        done += os.pwrite(fd, memoryview(content)[done:], done)  # the position stays at the start
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, _SEALS)
    return fd


def reopened(fd: int) -> int:
    """Open the same file again, read-only and at its start: descriptors share their position."""
    return os.open(f"/proc/self/fd/{fd}", os.O_RDONLY | os.O_CLOEXEC)


def sealed_reader(data: bytes) -> int:
    """Return a read-only descriptor of an immutable file with this content.

    A file that somebody may still write to, though its seals forbid it, cannot be executed.
    """
    writer = sealed(data)
    try:
        reader = reopened(writer)
    except PermissionError:
        # A process that hides its memory may not reopen its own descriptors. The seals hold for a
        # writable descriptor too, and this one's position is not shared.
        return writer
    except BaseException:
        os.close(writer)
        raise
    os.close(writer)
    return reader


def empty() -> int:
    """Return a descriptor of a new, empty, writable file; the caller closes it."""
    return os.memfd_create("output", os.MFD_CLOEXEC)


def to_end(fd: int) -> bytes:
    """Return all that can be read from a pipe, until its other end is closed."""
    parts = []
    while part := os.read(fd, 1 << 16):
        parts.append(part)
    return b"".join(parts)


def content(fd: int, most: int, start: int = 0) -> bytes:
    """Return up to `most` bytes of the file from `start` on, whatever its position is."""
    data = os.pread(fd, min(most, _MOSTLY), start)
    if len(data) < _MOSTLY:
        return data
    parts = [data]
    done = start + len(data)
    size = min(os.fstat(fd).st_size, start + most)
    while done < size and (part := os.pread(fd, size - done, done)):  # 2 GiB a read at most
        parts.append(part)
        done += len(part)
    return b"".join(parts)
