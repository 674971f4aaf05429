"""Programs that use a given part of their limit in many ways, and the verdicts they must get."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from proctor import Program

SHARES = (0.5, 0.9, 1.1, 1.5)
_SPIN = """
import os, time
from threading import Thread
begin = time.process_time()
def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        for _ in range(200): pass
def used(): return time.process_time() - begin
"""
_ANSWER = "\nprint(input())\n"
_COMPUTING = {
    "plain": "spin({0})",
    "one thread": "t = Thread(target=spin, args=({0},)); t.start(); t.join()",
    "many short threads": """
while used() < {0}:
    t = Thread(target=spin, args=(0.002,)); t.start(); t.join()""",
    "pool": """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as pool:
    while used() < {0}: list(pool.map(spin, [0.002] * 4))""",
}
_CHILDREN = {
    "forks": """
gone = 0.0
while used() + gone < {0}:
    pid = os.fork()
    if pid == 0: spin(0.01); os._exit(0)
    usage = os.wait4(pid, 0)[2]
    gone += usage.ru_utime + usage.ru_stime""",
    "pipeline": """
ends = os.pipe()
for i in range(2):
    if os.fork() == 0:
        os.close(ends[i])
        while time.process_time() < {0} / 2:
            if i == 0: os.write(ends[1], b'x')
            elif not os.read(ends[0], 1): break
            spin(0.005)
        os._exit(0)
for end in ends: os.close(end)
for i in range(2): os.wait()""",
}
# Their limit in official mode is on the time that passes, unless it is spent waiting for a CPU. At
# 1.1 they are left out: a tenth of so short a limit is less than the host may be late to look, and
# what it did not see is not charged.
_RESTING = {
    "asleep": "time.sleep({0})",
    "a thread asleep": "t = Thread(target=time.sleep, args=({0},)); t.start(); t.join()",
    "threads, then asleep": """
while used() < {0} / 2:
    t = Thread(target=spin, args=(0.002,)); t.start(); t.join()
time.sleep({0} / 2)""",
    "asleep, then plain": "time.sleep({0} / 2)\nspin({0} / 2)",
}
_COMPILED = {
    "C++ plain": "p", "C++ one thread": "t", "C++ many short threads": "m", "C++ forks": "f",
    "C++ pipeline": "c",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Case:
    """A program, how it is judged, and what must come of it."""

    mode: str
    """standard, fast or official."""
    what: str
    share: float
    """Of the limit: what it uses."""
    program: Program
    expected: str


def cases(limit: float) -> Iterator[Case]:
    """Yield all there are. `limit`: CPU seconds of a test."""
    for share in SHARES:
        expected = "AC" if share < 1 else "TLE"
        for mode, ways in (
            ("standard", _COMPUTING | _CHILDREN),
            ("fast", _COMPUTING),
            ("official", _COMPUTING | _RESTING),
        ):
            for what, body in ways.items():
                if what in _RESTING and share == 1.1:
                    continue
                source = _SPIN + body.format(share * limit) + _ANSWER
                yield Case(mode, what, share, Program(source), expected)
        for what, how in _COMPILED.items():
            source = f"#define HOW '{how}'\n#define SECONDS {share * limit}\n" + _busy()
            yield Case("standard", what, share, Program(source, "cpp"), expected)


def _busy() -> str:
    return (Path(__file__).parent / "work" / "busy.cpp").read_text()
