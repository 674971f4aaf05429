"""Finding the pages of an agent that a job makes its own."""

import ctypes
import mmap
import subprocess
import sys

import pytest

from proctor.cell import _lockdown

PAGES = 8


@pytest.fixture
def pages() -> mmap.mmap:
    made = mmap.mmap(-1, PAGES * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for page in range(PAGES - 1):  # the last has no memory yet
        made[page * mmap.PAGESIZE] = 1
    return made


def numbers(pages: mmap.mmap, written: list[int]) -> list[int]:
    start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    return [(address - start) // mmap.PAGESIZE for address in written]


def span(pages: mmap.mmap) -> tuple[int, int]:
    start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    return start, PAGES * mmap.PAGESIZE


def test_pages_that_a_job_writes_are_found(pages: mmap.mmap) -> None:
    def play() -> None:
        pages[2 * mmap.PAGESIZE] = 2
        pages[5 * mmap.PAGESIZE + 7] = 2
        pages[(PAGES - 1) * mmap.PAGESIZE] = 2  # of no use to the agent: it has none there

    written = _lockdown.pages_written(play, [span(pages)])
    assert numbers(pages, written) == [2, 5]
    assert pages[2 * mmap.PAGESIZE] == 1  # it was done in a fork


def test_reading_is_no_writing(pages: mmap.mmap) -> None:
    assert _lockdown.pages_written(lambda: pages[:], [span(pages)]) == []


COUNT_NOTHING = """
from proctor.cell import _lockdown, memory
spans = [(one.low, one.high - one.low) for one in memory._mappings() if one.mode == "rw-p"]
print(len(_lockdown.pages_written(lambda: None, spans)))
"""


def test_the_counting_is_not_counted() -> None:
    """Looking at page maps in Python writes to hundreds of pages, which no job does."""
    command = [sys.executable, "-c", COUNT_NOTHING]  # alone: other threads write, too
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 40


def test_a_job_that_cannot_be_played_is_an_error(pages: mmap.mmap) -> None:
    def play() -> None:
        raise ValueError

    with pytest.raises(OSError, match="anceled"):
        _lockdown.pages_written(play, [span(pages)])


def test_too_much_memory_is_not_looked_at() -> None:
    with pytest.raises(OSError, match="too long"):
        _lockdown.pages_written(lambda: None, [(0, 1 << 40)])
