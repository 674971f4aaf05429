"""Verdicts of programs well within and well over their limit, with more and more jobs per CPU."""

import itertools
import queue
import time
from concurrent.futures import Future
from typing import Any

from proctor import Judgement, JudgeSettings, Limits, Pool, Problem, Test, open_pool
from proctor.judging.judge import start
from proctor.judging.settings import default_limits
from proctor.sandbox.pool import available_cpus

LIMIT = 0.2
"""CPU seconds: short, so that thousands of judgements end."""
FACTORS = (1, 2, 4, 8, 16)
_ECHO = Problem("echo", (Test("ok\n", "ok\n"),))
_ANSWER = "print(input())\n"


def _busy(share: float) -> str:
    """A program that uses that share of the limit, by its own CPU clock, then answers."""
    return (
        f"import time\nend = time.process_time() + {share * LIMIT}\n"
        "while time.process_time() < end:\n    for _ in range(300): pass\n" + _ANSWER
    )


def _asleep(share: float) -> str:
    return f"import time\ntime.sleep({share * LIMIT})\n" + _ANSWER


# Of the half, a tenth is for the interpreter itself.
_WITHIN, _OVER, _NAP, _SLEEP = _busy(0.45), _busy(1.5), _asleep(0.45), _asleep(1.5)
_MODES = ("standard", "fast", "official")
_PROGRAMS = [
    *((mode, _WITHIN, "AC") for mode in _MODES),
    *((mode, _OVER, "TLE") for mode in _MODES),
    ("official", _NAP, "AC"),  # its limit is on wall time less what was spent waiting for a CPU
    ("official", _SLEEP, "TLE"),
]


def measure(judgements: int, factors: tuple[int, ...], level: str | None = None) -> dict[str, Any]:
    """Judge that many programs per factor; return how many and which verdicts flipped."""
    rows = []
    for factor in factors:
        with open_pool(isolation=level, cells=factor * available_cpus()) as pool:
            began = time.monotonic()
            flipped = _judge(pool, judgements)
        rows.append(
            {
                "factor": factor,
                "judgements": judgements,
                "flips": len(flipped),
                "which": flipped[:20],
                "seconds": time.monotonic() - began,
            }
        )
    return {"limit_s": LIMIT, "rows": rows}


def _judge(pool: Pool, judgements: int) -> list[str]:
    ended: queue.SimpleQueue[tuple[str, str, Future[Judgement]]] = queue.SimpleQueue()
    pending = itertools.islice(itertools.cycle(_PROGRAMS), judgements)
    flipped, under_way = [], 0
    while True:
        for mode, source, expected in itertools.islice(pending, 2 * pool.cells - under_way):
            future = start(_ECHO, source, _settings(mode), pool)
            future.add_done_callback(
                lambda done, mode=mode, expected=expected: ended.put((mode, expected, done))
            )
            under_way += 1
        if not under_way:
            return flipped
        mode, expected, future = ended.get()
        under_way -= 1
        judged = future.result()
        if judged.verdict != expected:
            facts = [(round(test.cpu, 3), round(test.wall, 3)) for test in judged.tests]
            flipped.append(f"{mode}: {judged.verdict} not {expected}, (cpu, wall) {facts}")


def _settings(mode: str) -> JudgeSettings:
    if mode == "official":
        memory = default_limits(mode).memory
        return JudgeSettings("official", Limits(cpu=LIMIT, memory=memory))
    return JudgeSettings(limits=Limits(cpu=LIMIT), fast=mode == "fast")
