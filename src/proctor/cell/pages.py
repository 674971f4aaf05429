"""Finds the pages that every job writes to, so that they can be pinned (pin.h says why)."""

import os
import struct
from collections.abc import Callable

_PAGE = os.sysconf("SC_PAGE_SIZE")
_ENTRY = struct.Struct("<Q")
# Bits of a /proc/PID/pagemap entry (kernel: admin-guide/mm/pagemap).
_PRESENT, _EXCLUSIVE = 1 << 63, 1 << 56


def written_by(play: Callable[[], object]) -> list[tuple[int, int]]:
    """Runs (address, length) of this process's pages that a fork of it makes its own by `play`.

    Empty if the kernel does not show page maps.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            play()
            os.write(writer, b"".join(map(_ENTRY.pack, _pages(_PRESENT | _EXCLUSIVE))))
        finally:
            os._exit(0)
    os.close(writer)
    data = b""
    while part := os.read(reader, 1 << 16):
        data += part
    os.close(reader)
    os.waitpid(child, 0)
    ours = set(_pages(_PRESENT))
    return _runs([page for (page,) in _ENTRY.iter_unpack(data) if page in ours])


def _pages(wanted: int) -> list[int]:
    """Addresses of this process's private writable pages with all bits of `wanted` set."""
    found = []
    try:
        pagemap = os.open("/proc/self/pagemap", os.O_RDONLY | os.O_CLOEXEC)
        maps = open("/proc/self/maps", encoding="ascii", errors="replace")  # noqa: SIM115 - below
    except OSError:
        return []
    with maps:
        for line in maps:
            span, mode = line.split()[:2]
            if mode != "rw-p":
                continue
            low, high = (int(part, 16) for part in span.split("-"))
            count = (high - low) // _PAGE
            entries = os.pread(pagemap, count * _ENTRY.size, low // _PAGE * _ENTRY.size)
            for number, (entry,) in enumerate(_ENTRY.iter_unpack(entries)):
                if entry & wanted == wanted:
                    found.append(low + number * _PAGE)
    os.close(pagemap)
    return found


def _runs(pages: list[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for page in pages:
        if runs and sum(runs[-1]) == page:
            runs[-1] = (runs[-1][0], runs[-1][1] + _PAGE)
        else:
            runs.append((page, _PAGE))
    return runs
