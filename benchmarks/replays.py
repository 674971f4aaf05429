"""Recorded replies judged: CPU of each, against judging their programs and nothing else.

    .venv/bin/python benchmarks/replays.py [--sizes 1000 10000 30000 100000]

Every phase is a process of its own, warmed up by a few replies.
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
BARE = "judge only"
PHASES = (BARE, "proctor judge", "replay", "rejudge")
OVER_JUDGING = 1.2
PEAK_MB = 200
_WARM = 200


def measure(quick: bool, sizes: Sequence[int] = SIZES) -> dict[str, Any]:
    """Run all phases at each size, the sizes in turn."""
    sizes = [400, 1_000] if quick else list(sizes)
    found: dict[str, Any] = {"sizes": sizes, "phases": {phase: [] for phase in PHASES}}
    with tempfile.TemporaryDirectory() as name:
        for size in sizes:
            for phase in PHASES:
                found["phases"][phase].append(_phase(Path(name), phase, size))
    return found


def _phase(directory: Path, phase: str, size: int) -> dict[str, float]:
    """CPU of the whole tree, cells included, wall time, and the process's own peak of memory."""
    argv = [sys.executable, str(WORK / "replay_phase.py")]
    with tempfile.TemporaryDirectory() as warm, Worker(argv) as worker:
        for each in ("record", "replay", phase) if phase == "rejudge" else ("record", phase):
            worker.ask(1, argument=[each, _WARM, warm])
        if not (directory / f"replies-{size}.jsonl").exists():
            worker.ask(1, argument=["record", size, str(directory)])
        done = worker.ask(1, argument=[phase, size, str(directory)])
    return {"cpu": done.cpu, "wall": done.walls[0], "peak": done.result}


def lines(found: dict[str, Any]) -> list[Line]:
    phases, sizes = found["phases"], found["sizes"]
    made = []
    for phase in ("replay", "rejudge"):
        each = [row["cpu"] / size for row, size in zip(phases[phase], sizes, strict=True)]
        made += [
            at_most(f"{phase}, CPU against judging alone, {size:,} samples",
                    row["cpu"] / bare["cpu"], OVER_JUDGING, times)
            for size, row, bare in zip(sizes, phases[phase], phases[BARE], strict=True)
        ]  # fmt: skip
        made.append(at_most(f"{phase}, CPU a sample, {sizes[-1]:,} against {sizes[0]:,}",
                            each[-1] / each[0], 1.1, times))  # fmt: skip
        most = max(row["peak"] for row in phases[phase]) / 1e6
        made.append(at_most(f"{phase}, peak memory of the process", most, PEAK_MB,
                            "{:.0f} MB".format))  # fmt: skip
    return made


def table(found: dict[str, Any]) -> list[list[str]]:
    rows = [["phase", "samples", "CPU ms a sample", "× judging alone", "samples a second", "peak"]]
    for phase, answers in found["phases"].items():
        for size, row, bare in zip(found["sizes"], answers, found["phases"][BARE], strict=True):
            rows.append([
                phase, f"{size:,}", f"{row['cpu'] / size * 1e3:.2f}",
                f"{row['cpu'] / bare['cpu']:.2f}", f"{size / row['wall']:,.0f}",
                f"{row['peak'] / 1e6:.0f} MB",
            ])  # fmt: skip
    return rows


def notes(_found: dict[str, Any]) -> list[str]:
    return [
        "CPU is the whole control group's, cells included; memory the process's own.",
        "Judging alone: `judge_many` of the same programs, nothing kept. Standard mode, one test.",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    found = measure(quick=False, sizes=parser.parse_args().sizes)
    report.show(report.console(), __doc__ or "", sys.modules[__name__], found)


if __name__ == "__main__":
    main()
