"""Finding the pages of an agent that a job makes its own.

Each in a process alone, as an agent is: the job that is played is a fork, and what another thread
holds at that moment nobody would let go of in it.
"""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.user

PAGES = """
import mmap
from ctypes import addressof, c_char

from proctor.cell import _lockdown

PAGE = mmap.PAGESIZE
pages = mmap.mmap(-1, 8 * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
start = addressof(c_char.from_buffer(pages))
for page in range(7):  # the last has no memory yet
    pages[page * PAGE] = 1


def written(play):
    found = _lockdown.pages_written(play, [(start, 8 * PAGE)])
    return [(address - start) // PAGE for address in found]

"""


def printed(source: str) -> str:
    command = [sys.executable, "-c", PAGES + source]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_pages_that_a_job_writes_are_found() -> None:
    source = """
def play():
    pages[2 * PAGE] = 2
    pages[5 * PAGE + 7] = 2
    pages[7 * PAGE] = 2  # of no use to the agent: it has none there

print(written(play), pages[2 * PAGE])
"""
    assert printed(source) == "[2, 5] 1\n"  # it was done in a fork


def test_reading_is_no_writing() -> None:
    assert printed("print(written(lambda: pages[:]))") == "[]\n"


def test_the_counting_is_not_counted() -> None:
    """Looking at page maps in Python writes to hundreds of pages, which no job does."""
    source = """
from proctor.cell import memory
spans = [(one.low, one.high - one.low) for one in memory._mappings() if one.mode == "rw-p"]
print(len(_lockdown.pages_written(lambda: None, spans)))
"""
    assert int(printed(source)) < 40


REFUSED = """
try:
    {0}
except OSError as error:
    print(error.strerror)
"""


def test_a_job_that_cannot_be_played_is_an_error() -> None:
    assert "anceled" in printed(REFUSED.format("written(lambda: 1 / 0)"))


def test_too_much_memory_is_not_looked_at() -> None:
    look = "_lockdown.pages_written(lambda: None, [(0, 1 << 40)])"
    assert "too long" in printed(REFUSED.format(look))
