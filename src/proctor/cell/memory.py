"""Lays out the agent's memory so that a fork of it, which is most of what a job costs, is cheap.

- A fork and an exit pay for every mapping, so the mappings of each library are merged.
- A fork does not map pages of a file: each job would fault in the interpreter's code again. So most
  of that is put into a huge page, which a fork hands on.
- A fork shares what was written and copies each page on the first write, at the price of a fault.
  Pages that are pinned for I/O the kernel copies during the fork instead, a batch at a time
  (mm/memory.c, copy_present_page), and the parent never faults on them either.

All of it is a matter of speed only; what the kernel refuses is left as it is. What else was tried
is in docs/explanation/the-cell.md.
"""

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

from proctor.cell import _lockdown

_PAGE = os.sysconf("SC_PAGE_SIZE")
_HUGE = 2 << 20
_READ, _WRITE, _EXECUTE = 1, 2, 4


class _Mapping(NamedTuple):
    low: int
    high: int
    mode: str
    file: str


def lay_out(play: Callable[[], object]) -> None:
    """Lay out what this process has allocated; `play` does the least that a job does."""
    with contextlib.suppress(OSError):
        _merge_libraries()
    with contextlib.suppress(OSError):
        _use_huge_page()
    with contextlib.suppress(OSError):
        written = [(one.low, one.high - one.low) for one in _mappings() if one.mode == "rw-p"]
        _lockdown.pin(_runs(_lockdown.pages_written(play, written)))


def _mappings() -> Iterator[_Mapping]:
    with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
        for line in maps.read().splitlines():  # read all at once: the caller changes the mappings
            span, mode, _offset, _device, _inode, *file = line.split(maxsplit=5)
            low, high = (int(part, 16) for part in span.split("-"))
            yield _Mapping(low, high, mode, file[0].strip() if file else "")


def _merge_libraries() -> None:
    """Leave each library two mappings, one to execute and one to write, of its usual five."""
    for file, group in itertools.groupby(_mappings(), lambda mapping: mapping.file):
        parts = list(group)
        if not file.startswith("/") or not any(part.mode == "r-xp" for part in parts):
            continue
        for part, following in itertools.pairwise(parts):
            if part.mode != "r--p":
                continue
            # Before the writable part lies the part that the loader relocated, then made read-only.
            relocated = following.mode == "rw-p" and len(parts) > 3
            wanted = _READ | (_WRITE if relocated else _EXECUTE)
            with contextlib.suppress(OSError):
                _lockdown.protect(part.low, part.high - part.low, wanted)


def _use_huge_page() -> None:
    """Put what fits of the interpreter's code into a huge page. Raises OSError."""
    inside = _lockdown.interpreter_code()
    (code,) = (mapping for mapping in _mappings() if mapping.low <= inside < mapping.high)
    start = -(-code.low // _HUGE) * _HUGE
    if code.mode == "r-xp" and start + _HUGE <= code.high:
        _lockdown.use_huge_page(start)


def _runs(pages: list[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for page in pages:
        if runs and sum(runs[-1]) == page:
            runs[-1] = (runs[-1][0], runs[-1][1] + _PAGE)
        else:
            runs.append((page, _PAGE))
    return runs
