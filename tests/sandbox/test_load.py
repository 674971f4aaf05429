"""Verdicts do not depend on load: the same on an idle machine and with every CPU taken four times.

Nothing here is timed: the spinners make the machine slow, the programs measure CPU time.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from proctor import JudgeSettings, Limits, Pool, Problem, Test, run
from proctor.judging.judge import judge_many
from proctor.judging.settings import default_limits
from proctor.sandbox.pool import available_cpus

LIMIT = 2.0
MODES = ("official", "standard")


def busy(share: float) -> str:
    """A program that uses that share of the limit, by its own CPU clock, then answers."""
    return (
        "import time\n"
        f"end = time.process_time() + {share * LIMIT}\n"
        "while time.process_time() < end:\n"
        "    for _ in range(1000): pass\n"
        "print(input())\n"
    )


def spent(share: float, how: str) -> str:
    """The same, as threads and children that end meanwhile."""
    return (
        "import os, time\n"
        "from threading import Thread\n"
        "def spin(seconds):\n"
        "    end = time.thread_time() + seconds\n"
        "    while time.thread_time() < end:\n"
        "        for _ in range(1000): pass\n"
        f"{how.format(share * LIMIT)}\n"
        "print(input())\n"
    )


THREAD = "t = Thread(target=spin, args=({0},)); t.start(); t.join()"
THREADS = """begin = time.process_time()
while time.process_time() < begin + {0}:
    t = Thread(target=spin, args=(0.005,)); t.start(); t.join()"""
CHILDREN = """gone = 0
while gone < {0}:
    pid = os.fork()
    if pid == 0: spin(0.1); os._exit(0)
    used = os.wait4(pid, 0)[2]
    gone += used.ru_utime + used.ru_stime"""
PROGRAMS = {
    "well within": busy(0.45),
    "well within, in a thread": spent(0.45, THREAD),
    "well within, in many threads": spent(0.45, THREADS),
    "well within, in children": spent(0.45, CHILDREN),
    "well over, in many threads": spent(1.6, THREADS),
    "well over": busy(1.6),
    "asleep": f"import time\ntime.sleep({2 * LIMIT})\nprint(input())\n",
    "asleep for a moment": f"import time\ntime.sleep({0.3 * LIMIT})\nprint(input())\n",
}
EXPECTED = {
    ("official", "well within, in a thread"): "AC",
    ("official", "well within, in many threads"): "AC",
    ("official", "well within, in children"): "RE",  # upstream lets nobody fork
    ("official", "well over, in many threads"): "TLE",
    ("standard", "well within, in a thread"): "AC",
    ("standard", "well within, in many threads"): "AC",
    ("standard", "well within, in children"): "AC",
    ("standard", "well over, in many threads"): "TLE",
    ("official", "well within"): "AC",
    ("official", "well over"): "TLE",
    ("official", "asleep"): "TLE",
    ("official", "asleep for a moment"): "AC",
    ("standard", "well within"): "AC",
    ("standard", "well over"): "TLE",
    # Standard mode counts CPU time; the safety net for idlers begins at max(2 x 2 s, 5 s).
    ("standard", "asleep"): "AC",
    ("standard", "asleep for a moment"): "AC",
}


def verdicts(pool: Pool) -> dict[tuple[str, str], str]:
    problem = Problem("echo", (Test("ok\n", "ok\n"),))
    made = {}
    for mode in MODES:
        limits = Limits(cpu=LIMIT, memory=default_limits(mode).memory)
        settings = JudgeSettings(mode, limits)  # type: ignore[arg-type]
        names = list(PROGRAMS)
        pairs = [(problem, PROGRAMS[name]) for name in names]
        for judged in judge_many(pairs, settings=settings, pool=pool):
            made[mode, names[judged.index]] = str(judged.judgement.verdict)
    return made


@pytest.fixture
def load() -> Iterator[None]:
    """Four spinners per CPU, each in a session of its own as strangers' programs would be."""
    with ExitStack() as stack:
        for _ in range(4 * (os.cpu_count() or 1)):
            spinner = stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", "print(flush=True)\nwhile True: pass"],
                    stdout=subprocess.PIPE, start_new_session=True,
                )
            )  # fmt: skip
            stack.callback(spinner.kill)
            assert spinner.stdout is not None
            spinner.stdout.readline()
        yield


@pytest.mark.slow
def test_idle(pool: Pool) -> None:
    assert verdicts(pool) == EXPECTED


@pytest.mark.slow
def test_under_load(load: None, pool: Pool) -> None:
    assert pool.cells == available_cpus()
    assert verdicts(pool) == EXPECTED


@pytest.mark.root  # others may set few at once
@pytest.mark.skipif(
    not os.path.exists("/proc/self/autogroup"),
    reason="this kernel does not share the CPU by sessions",
)
def test_a_job_has_no_share_of_the_cpu_for_itself(cell_pool: Pool) -> None:
    """The host comes in time to look at many programs because each has less of the CPU than it."""
    seen = {
        run("print(open('/proc/self/autogroup').read())", pool=cell_pool).stdout for _ in range(2)
    }
    assert len(seen) == 1
    assert seen.pop().split()[1:] == [b"nice", b"5"]
