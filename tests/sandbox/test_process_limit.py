"""A program that could start no more processes: how it is known, and what is said of it."""

import pytest

from proctor import JudgeSettings, Limits, Pool, Problem, Test, judge, run
from proctor.sandbox import process_limit

pytestmark = pytest.mark.user

THREADS = """
import threading
over = threading.Event()
for _ in range(40): threading.Thread(target=over.wait, daemon=True).start()
print("started")
"""
FORKS = "import os\nfor _ in range(40):\n    if os.fork() == 0: os.read(os.pipe()[0], 1)"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("RuntimeError: can't start new thread", True),
        ("    pid = os.fork()\nBlockingIOError: [Errno 11] Resource temporarily unavailable", True),
        ("'std::system_error'\n  what():  Resource temporarily unavailable", True),
        ("pthread_create failed for thread 7 of 64: Resource temporarily unavailable", True),
        ("sh: 1: Cannot fork", True),
        ("java.lang.OutOfMemoryError: unable to create native thread", True),
        ("read: Resource temporarily unavailable", False),
        ("ValueError: a thread of 3", False),
        ("", False),
    ],
)
def test_its_last_words_tell(said: str, expected: bool) -> None:
    assert process_limit.reached(said.encode()) == expected


@pytest.mark.parametrize("source", [THREADS, FORKS])
def test_a_message_on_a_judged_program_names_the_limit(source: str, pool: Pool) -> None:
    settings = JudgeSettings(limits=Limits(processes=16, cpu=2.0))
    made = judge(Problem("p", (Test("", "started"),)), source, settings=settings, pool=pool)
    assert made.verdict == "RE"
    assert made.message.endswith("(process limit: 16 processes and threads at once)")
    assert run(THREADS, pool=pool).stdout == b"started\n"
