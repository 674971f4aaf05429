"""Recorded replies judged: CPU of each, against judging their programs and nothing else.

    .venv/bin/python benchmarks/replays.py [--sizes 1000 10000 30000 100000]

Every phase is a process of its own, warmed up by a few replies. Before and after it so many
programs are judged alone: what the machine is doing falls on both.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import report
from budgets import Line, at_most, times
from measure import WORK, Worker

SIZES = (1_000, 10_000, 30_000)
PHASES = ("replay", "rejudge")
OVER_JUDGING = 1.2
PEAK_MB = 200
_ALONE = 2_000
_WARM = 200


def measure(quick: bool, sizes: Sequence[int] = SIZES) -> dict[str, Any]:
    """Run all phases at each size, the sizes in turn."""
    sizes, alone = ([400, 1_000], 400) if quick else (list(sizes), _ALONE)
    found: dict[str, Any] = {"sizes": sizes, "phases": {phase: [] for phase in PHASES}}
    with tempfile.TemporaryDirectory() as name, _started() as bare:
        for size in {alone, *sizes}:
            bare.ask(1, argument=["record", size, name])

        def judged() -> float:
            return bare.ask(1, argument=["judge only", alone, name]).cpu / alone

        judged()
        for size in sizes:
            for phase in PHASES:
                before = judged()
                made = _phase(Path(name), phase, size)
                made["alone"] = (before + judged()) / 2
                found["phases"][phase].append(made)
    return found


def _started() -> Worker:
    return Worker([sys.executable, str(WORK / "replay_phase.py")])


def _phase(directory: Path, phase: str, size: int) -> dict[str, float]:
    """CPU of the whole tree, cells included, and wall time of one sample; peak of memory."""
    with tempfile.TemporaryDirectory() as warm, _started() as worker:
        for each in ("record", *PHASES):
            worker.ask(1, argument=[each, _WARM, warm])
        done = worker.ask(1, argument=[phase, size, str(directory)])
    return {"cpu": done.cpu / size, "wall": done.walls[0] / size, "peak": done.result}


def lines(found: dict[str, Any]) -> list[Line]:
    made = []
    for phase, rows in found["phases"].items():
        ratios = [row["cpu"] / row["alone"] for row in rows]
        first, last = found["sizes"][0], found["sizes"][-1]
        made += [
            at_most(f"{phase}, CPU against judging alone, {size:,} samples", ratio, OVER_JUDGING,
                    times)
            for size, ratio in zip(found["sizes"], ratios, strict=True)
        ]  # fmt: skip
        made.append(at_most(f"{phase}, the same, {last:,} samples against {first:,}",
                            ratios[-1] / ratios[0], 1.1, times))  # fmt: skip
        most = max(row["peak"] for row in rows) / 1e6
        made.append(at_most(f"{phase}, peak memory of the process", most, PEAK_MB,
                            "{:.0f} MB".format))  # fmt: skip
    return made


def table(found: dict[str, Any]) -> list[list[str]]:
    head = ["phase", "samples", "CPU ms a sample", "judged alone", "ratio", "a second", "peak"]
    return [head] + [
        [
            phase, f"{size:,}", f"{row['cpu'] * 1e3:.2f}", f"{row['alone'] * 1e3:.2f}",
            f"{row['cpu'] / row['alone']:.2f}", f"{1 / row['wall']:,.0f}",
            f"{row['peak'] / 1e6:.0f} MB",
        ]
        for phase, rows in found["phases"].items()
        for size, row in zip(found["sizes"], rows, strict=True)
    ]  # fmt: skip


def notes(_found: dict[str, Any]) -> list[str]:
    return [
        "CPU is the whole control group's, cells included; memory the process's own.",
        "Judged alone: `judge_many` of the same programs, nothing kept. Standard mode, one test.",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    found = measure(quick=False, sizes=parser.parse_args().sizes)
    report.show(report.console(), __doc__ or "", sys.modules[__name__], found)


if __name__ == "__main__":
    main()
