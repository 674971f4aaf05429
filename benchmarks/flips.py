"""Verdicts of programs within and over their limit, on a machine that is more and more busy.

Busy by itself, with many jobs for each CPU, or by spinners, which are strangers to it.
"""

import argparse
import itertools
import queue
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from typing import Any

from flip_programs import Case, cases

from proctor import Judgement, JudgeSettings, Limits, Pool, Problem, Test, open_pool
from proctor.judging.judge import start
from proctor.judging.settings import default_limits
from proctor.sandbox.pool import available_cpus

LIMIT = 0.5
"""CPU seconds: short, so that thousands of judgements end."""
JUDGEMENTS = {1: 200, 4: 200, 16: 2000}
"""How many for each number of jobs per CPU."""
_ECHO = Problem("echo", (Test("ok\n", "ok\n"),))


def measure(judgements: Mapping[int, int]) -> dict[str, Any]:
    """Judge that many programs by jobs per CPU; return how many and which verdicts flipped."""
    rows = [row(number, factor, 0) for factor, number in judgements.items()]
    return {"limit_s": LIMIT, "rows": rows}


def row(
    judgements: int,
    factor: int,
    spinners: int,
    *,
    apart: bool = True,
    level: str | None = None,
    limit: float = LIMIT,
    only: str = "",
) -> dict[str, Any]:
    """Judge with `factor` jobs and `spinners` others for each CPU."""
    chosen = [case for case in cases(limit) if only in f"{case.mode}: {case.what}"]
    random.Random(judgements).shuffle(chosen)
    chosen = list(itertools.islice(itertools.cycle(chosen), judgements))
    with (
        open_pool(isolation=level, cells=factor * available_cpus()) as pool,
        spinning(spinners * available_cpus(), apart=apart),
    ):
        began = time.monotonic()
        flipped = _judge(pool, chosen, limit)
        seconds = time.monotonic() - began
    return {
        "factor": factor,
        "spinners": spinners,
        "judgements": judgements,
        "flips": len(flipped),
        "which": flipped[:20],
        "kinds": Counter(each.partition(" not ")[0] for each in flipped),
        "seconds": seconds,
    }


@contextmanager
def spinning(number: int, *, apart: bool) -> Iterator[None]:
    """Have that many processes want a CPU.

    `apart`: each in a session of its own, which the scheduler may treat as one party (autogroup).
    """
    with ExitStack() as stack:
        for _ in range(number):
            spinner = subprocess.Popen(
                [sys.executable, "-c", "while True: pass"], start_new_session=apart
            )
            stack.callback(spinner.wait)
            stack.callback(spinner.kill)
        yield


def _judge(pool: Pool, chosen: list[Case], limit: float) -> list[str]:
    ended: queue.SimpleQueue[tuple[Case, Future[Judgement]]] = queue.SimpleQueue()
    pending = iter(chosen)
    flipped: list[str] = []
    under_way = 0
    while True:
        for case in itertools.islice(pending, 2 * pool.cells - under_way):
            future = start(_ECHO, case.program, _settings(case.mode, limit), pool)
            future.add_done_callback(lambda done, case=case: ended.put((case, done)))
            under_way += 1
        if not under_way:
            return flipped
        case, future = ended.get()
        under_way -= 1
        judged = future.result()
        if judged.verdict != case.expected:
            facts = [(round(test.cpu, 3), round(test.wall, 3)) for test in judged.tests]
            flipped.append(
                f"{case.mode}: {case.what} at {case.share}: {judged.verdict} not {case.expected},"
                f" (cpu, wall) {facts}"
            )


def _settings(mode: str, limit: float) -> JudgeSettings:
    if mode == "official":
        memory = default_limits(mode).memory
        return JudgeSettings("official", Limits(cpu=limit, memory=memory))
    return JudgeSettings(limits=Limits(cpu=limit), fast=mode == "fast")


def main() -> None:
    """Judge under one kind of load, and print what flipped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgements", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=1, help="for each CPU")
    parser.add_argument("--spinners", type=int, default=0, help="for each CPU")
    parser.add_argument("--together", action="store_true", help="all spinners in one session")
    parser.add_argument("--level")
    parser.add_argument("--limit", type=float, default=LIMIT, help="CPU seconds")
    parser.add_argument("--only", default="", help="a part of 'mode: what the program does'")
    given = parser.parse_args()
    found = row(
        given.judgements, given.jobs, given.spinners, apart=not given.together,
        level=given.level, limit=given.limit, only=given.only,
    )  # fmt: skip
    print(f"{found['flips']} of {found['judgements']} in {found['seconds']:.0f} s")
    for kind, times in sorted(found["kinds"].items()):
        print(f"{times:5} {kind}")
    for which in found["which"]:
        print(f"      {which}")


if __name__ == "__main__":
    main()
