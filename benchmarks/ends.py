"""How long a program that has hit its limit takes to be gone, with all that it started."""

import time
from dataclasses import dataclass
from typing import Any, Self

from measure import quantile

from proctor import Limits, Program
from proctor.sandbox.agent_process import AgentProcess
from proctor.sandbox.backend import CellSetup
from proctor.sandbox.choice import policy
from proctor.sandbox.process_cell import ProcessCell

SOON, BOMB = 0.050, 0.300
"""Seconds from the limit to the end of everything: of most programs, and of fork bombs."""
_CPU = Limits(cpu=0.1, memory=512 << 20, processes=100)
_WALL = Limits(cpu=5.0, wall=0.15, memory=512 << 20, processes=100)
_DEAF = (
    "import signal\n"
    "for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:\n"
    "    signal.signal(number, signal.SIG_IGN)\n"
)
_SLEEP = "import time\nwhile True: time.sleep(100)\n"
_STOP = "import os, signal\nwhile True: os.kill(0, signal.SIGSTOP)\n"
_HONEST = Program("print(sum(map(int, input().split())))\n")


@dataclass(frozen=True)
class Hostile:
    """A program that runs into a limit."""

    what: str
    limits: Limits
    source: str
    within: float = SOON


HOSTILE = (
    Hostile("sleeps", _WALL, _SLEEP),
    Hostile("spins", _CPU, "while True: pass\n"),
    Hostile("stops itself", _WALL, _STOP),
    Hostile("stops itself and 20 children", _WALL,
            "import os\nfor _ in range(20):\n    if os.fork() == 0: break\n" + _STOP),
    Hostile("ignores all signals and sleeps", _WALL, _DEAF + _SLEEP),
    Hostile("ignores all signals and spins", _CPU, _DEAF + "while True: pass\n"),
    Hostile("spins in 50 threads", _CPU,
            "import threading\ndef spin():\n    while True: pass\n"
            "for _ in range(49): threading.Thread(target=spin, daemon=True).start()\nspin()\n"),
    Hostile("leaves 30 daemons in sessions of their own", _WALL,
            "import os\nfor _ in range(30):\n"
            "    if os.fork() == 0:\n        os.setsid()\n"
            "        if os.fork() == 0: break\n        os._exit(0)\n    os.wait()\n" + _SLEEP),
    Hostile("fork bomb", _CPU,
            "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n", BOMB),
    Hostile("fork bomb, each in a session of its own", _CPU,
            "import os\nwhile True:\n    try:\n        if os.fork() == 0: os.setsid()\n"
            "    except OSError: pass\n", BOMB),
)  # fmt: skip


def measure(levels: list[str], rounds: int) -> list[dict[str, Any]]:
    """Return a row per hostile program and level: seconds from limit to end."""
    rows = []
    for level in levels:
        choice = policy.choose(level)
        setup = CellSetup(choice.interpreter)
        for hostile in HOSTILE:
            cell = choice.backend.open_cell(setup, 0)
            assert isinstance(cell, ProcessCell)
            try:
                rows.append({"level": level, **_one(cell, hostile, rounds)})
            finally:
                cell.close()
    return rows


def _one(cell: ProcessCell, hostile: Hostile, rounds: int) -> dict[str, Any]:
    program, took, wrong = Program(hostile.source), [], 0
    for _ in range(rounds):
        with _Watch(cell) as watch:
            done = cell.run(program, b"1 2\n", hostile.limits)
            while cell.job_pids():  # the result is here; is everything gone?
                pass
            took.append(time.perf_counter() - watch.decided)
        assert done.limit is not None, (hostile.what, done)
        after = cell.run(_HONEST, b"1 2\n", _CPU)
        wrong += cell.odd or after.stdout != b"3\n"
    return {
        "what": hostile.what,
        "within_s": hostile.within,
        "p50_s": quantile(took, 0.5),
        "p90_s": quantile(took, 0.9),
        "max_s": max(took),
        "rounds": rounds,
        "next_job_wrong": wrong,
    }


class _Watch:
    """Notes when a job's limit was decided: then the cell is told to end it."""

    def __init__(self, cell: AgentProcess) -> None:
        self.decided = 0.0
        self._cell, self._end_job = cell, cell.end_job

    def __enter__(self) -> Self:
        def end_job() -> Any:
            self.decided = time.perf_counter()
            return self._end_job()

        self._cell.end_job = end_job  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        self._cell.end_job = self._end_job  # type: ignore[method-assign]
