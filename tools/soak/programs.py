"""What the soak runs: small programs with known verdicts, honest and hostile, and the corpus.

Limits are short, because most of the time goes into reaching them. The programs' verdicts rest on
facts that no load, no fault and no order of events may change.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from proctor import JudgeSettings, Limits, Problem, Test
from proctor.judging.settings import default_limits

WAYS = ("run", "standard", "fast", "official")
CORPUS = Path(__file__).parents[2] / "tests" / "corpus"
MIB = 1 << 20
LIMITS = Limits(cpu=1.0, memory=128 * MIB, output=MIB, processes=16)
SPINNERS = replace(LIMITS, cpu=0.25)
IDLERS = replace(SPINNERS, wall=0.4)  # the safety net's five seconds would be most of the soak
WITH_DISK = replace(LIMITS, disk=MIB)
NOT_AC = "notac"
"""Any verdict on the program but AC; a fault would be a way out of a verdict."""


@dataclass(frozen=True, slots=True)
class Case:
    """One program and the verdict it must get, for each way to run it."""

    name: str
    problem: Problem
    source: str
    limits: Limits
    expected: Mapping[str, str]
    tolerance: float | None = None
    weight: float = 1.0

    def settings(self, way: str) -> JudgeSettings:
        """How to judge it that way."""
        return _settings(way, self.limits, self.tolerance)


@cache
def _settings(way: str, limits: Limits, tolerance: float | None) -> JudgeSettings:
    if way == "official":
        return JudgeSettings("official", replace(limits, stack=default_limits(way).stack))
    return JudgeSettings(limits=limits, fast=way == "fast", tolerance=tolerance)


SUM = Problem("sum", (Test("1 2\n", "3\n"), Test("12 34\n", "46\n"), Test("500 500\n", "1000\n")))
ADD = Problem("add", (Test("1\n2", "3"), Test("12\n34", "46")), "add")
ANSWER = "print(sum(map(int, input().split())))\n"

_STDIO = {  # name: weight, verdict in standard mode, in official mode, limits, source
    "right": (20.0, "AC", "AC", LIMITS, ANSWER),
    "wrong": (6.0, "WA", "WA", LIMITS, "print(7)\n"),
    "crash": (3.0, "RE", "RE", LIMITS, "a, b = map(int, input().split())\nprint(a // (b - b))\n"),
    "no program": (2.0, "CE", "RE", LIMITS, "print(\n"),
    "spins": (1.0, "TLE", "TLE", SPINNERS, "while True: pass\n"),
    "sleeps": (1.5, "ILE", "TLE", IDLERS, "import time\nwhile True: time.sleep(100)\n"),
    "stops itself": (
        1.5, "ILE", NOT_AC, IDLERS,
        "import os, signal\nwhile True: os.kill(os.getpid(), signal.SIGSTOP)\n",
    ),
    "stops its children and itself": (
        1.0, "ILE", NOT_AC, IDLERS,
        "import os, signal\nfor _ in range(5): os.fork()\nwhile True: os.kill(0, signal.SIGSTOP)\n",
    ),
    "hears no signal": (
        1.0, "TLE", NOT_AC, SPINNERS,
        "import signal\n"
        "for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:\n"
        "    signal.signal(number, signal.SIG_IGN)\n"
        "while True: pass\n",
    ),
    "spins in threads": (
        1.0, "TLE", "TLE", SPINNERS,
        "import threading\ndef spin():\n    while True: pass\n"
        "for _ in range(10): threading.Thread(target=spin, daemon=True).start()\nspin()\n",
    ),
    "fork bomb": (
        1.0, NOT_AC, NOT_AC, SPINNERS,
        "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n",
    ),
    "fork bomb of sessions": (
        0.5, NOT_AC, NOT_AC, SPINNERS,
        "import os\nwhile True:\n    try:\n        if os.fork() == 0: os.setsid()\n"
        "    except OSError: pass\n",
    ),
    "leaves daemons": (
        2.0, "AC", NOT_AC, LIMITS,
        "import os, time\n"
        "for _ in range(5):\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        if os.fork() == 0:\n"
        "            while True: time.sleep(100)\n"
        "        os._exit(0)\n"
        "    os.wait()\n" + ANSWER,
    ),
    "memory": (
        1.0, "MLE", "MLE", LIMITS,
        "kept = []\nwhile True: kept.append(bytearray(b'x') * (1 << 20))\n",
    ),
    "flood": (1.0, "OLE", NOT_AC, LIMITS, "while True: print('x' * 4000)\n"),
    "flood on stderr": (
        0.5, "OLE", NOT_AC, LIMITS,
        "import os\nwhile True: os.write(2, b'x' * 4000)\n",
    ),
    "kills everything": (
        1.5, NOT_AC, NOT_AC, LIMITS,
        "import os\nfor pid in (-1, 0, 1, os.getppid(), os.getpid()):\n"
        "    try: os.kill(pid, 9)\n    except OSError: pass\n",
    ),
    "takes every descriptor": (
        0.5, "AC", "AC", LIMITS,
        "import os\nkept = []\n"
        "try:\n    while True: kept.append(os.dup(0))\n"
        "except OSError: pass\n" + ANSWER,
    ),
}  # fmt: skip
_CALLS = {
    "right function": (8.0, "AC", "AC", LIMITS, "def add(a, b): return a + b\n"),
    "wrong function": (3.0, "WA", "WA", LIMITS, "def add(a, b): return a - b\n"),
    "raising function": (1.5, "RE", "RE", LIMITS, "def add(a, b): return a[b]\n"),
    "endless function": (0.7, "TLE", "TLE", SPINNERS, "def add(a, b):\n    while True: pass\n"),
    "exiting function": (1.0, "RE", "RE", LIMITS, "import os\ndef add(a, b): os._exit(0)\n"),
}
_DISK = (
    "import os\n"
    "data = b'x' * 65536\n"
    "file = os.open('full', os.O_CREAT | os.O_WRONLY)\n"
    "try:\n    while os.write(file, data): pass\n"
    "except OSError: pass\n" + ANSWER
)


def own() -> list[Case]:
    """The soak's own programs."""
    cases = []
    for name, (weight, standard, official, limits, source) in _STDIO.items():
        # When it is only run, a program that does not compile ends with an exception.
        run = "RE" if standard == "CE" else standard
        expected = {"run": run, "standard": standard, "fast": standard, "official": official}
        cases.append(Case(name, SUM, source, limits, expected, weight=weight))
    for name, (weight, standard, official, limits, source) in _CALLS.items():
        expected = {"standard": standard, "fast": standard, "official": official}
        cases.append(Case(name, ADD, source, limits, expected, weight=weight))
    return cases


def with_disk() -> Case:
    """Fill a private disk, where the level has any."""
    return Case("fills its disk", SUM, _DISK, WITH_DISK, {"run": "AC"}, weight=1.5)


def corpus() -> list[Case]:
    """The golden verdicts (format: tests/corpus/README.md), one job in twenty together."""
    found = []
    for path in sorted(CORPUS.glob("*/*.py")):
        if "\n# landlock:" in path.read_text():  # the verdict depends on the level
            continue
        row = json.loads((path.parent / "problem.json").read_text())
        tests = tuple(Test(test["input"], test["output"]) for test in row["tests"])
        limits = Limits(**{"memory": 256 * MIB, **row["limits"]})
        official, standard = (
            word if word == NOT_AC else word.upper() for word in path.stem.split("_")[:2]
        )
        expected = {"standard": standard, "fast": standard, "official": official}
        problem = Problem(row["id"], tests, row["function"], platform=row.get("platform", ""))
        name = f"{path.parent.name}/{path.stem}"
        case = Case(name, problem, path.read_text(), limits, expected, row.get("tolerance"))
        found.append(case)
    share = sum(case.weight for case in own()) / 19 / len(found)
    return [replace(case, weight=share) for case in found]
