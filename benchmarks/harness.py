"""The harness around model and judge: CPU for each sample, and memory at 1,000 and 100,000.

The model is scripted, so that what is measured is the rest: prompts, extraction, the store, and
what reads a store afterwards. Every phase is a process of its own.
"""

import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import report
from budgets import Line, at_most, milliseconds, times
from measure import WORK, Worker, spread

SMALL = 1_000
BOTH = ("judged", "judge only")
"""A run with its judge, and the judge alone: in turn, many times, for their difference."""
READING = (
    "resume", "figures", "report", "export jsonl", "export csv", "export parquet", "export inspect",
    "export records", "export lcb",
)  # fmt: skip
BUDGET_MS = 2.0
PARQUET_MB = 120
GROWTH = 2.0
"""How much more memory a hundred times the samples may take: not a hundred times as much."""


def measure(quick: bool) -> dict[str, Any]:
    """Run all phases at both sizes."""
    sizes = (SMALL, 3_000 if quick else 100_000)
    found: dict[str, Any] = {"sizes": list(sizes), "phases": {}}
    with tempfile.TemporaryDirectory() as name:
        for size in sizes:
            directory = Path(name) / f"run-{size}"
            for phase in ("generate", "fill", *READING):
                found["phases"].setdefault(phase, []).append(_phase(directory, size, phase))
        judged, turns = (200, 1) if quick else (SMALL, 5)  # a multiple of the problems
        found["judged"] = judged
        found["both"] = [
            [_phase(Path(name) / f"run-{turn}", judged, phase)["cpu"] for phase in BOTH]
            for turn in range(turns)
        ]
    return found


def _phase(directory: Path, size: int, phase: str) -> dict[str, Any]:
    """CPU seconds of the whole tree, cells included, and the peak memory of the process itself."""
    argv = [sys.executable, str(WORK / "harness_phase.py"), str(directory), str(size), phase]
    with Worker(argv) as worker:
        done = worker.ask(1)
    return {"cpu": done.cpu, "peak": done.result}


def lines(found: dict[str, Any]) -> list[Line]:
    phases, (small, large) = found["phases"], found["sizes"]
    judged = statistics.median(judged - alone for judged, alone in found["both"])
    generate = phases["generate"]
    made = [
        at_most(f"CPU a sample at {small:,}, nothing judged", generate[0]["cpu"] / small * 1e3,
                BUDGET_MS, milliseconds),
        at_most(f"CPU a sample at {large:,}, nothing judged", generate[1]["cpu"] / large * 1e3,
                BUDGET_MS, milliseconds),
        at_most("CPU a sample, besides judging", judged / found["judged"] * 1e3, BUDGET_MS,
                milliseconds),
        at_most(f"peak memory, export parquet of {large:,}",
                phases["export parquet"][1]["peak"] / 1e6, PARQUET_MB, "{:.0f} MB".format),
    ]  # fmt: skip
    for phase in ("generate", *READING):
        ratio = phases[phase][1]["peak"] / phases[phase][0]["peak"]
        what = f"peak memory, {phase}: {large:,} samples against {small:,}"
        made.append(at_most(what, ratio, GROWTH, times))
    return made


def table(found: dict[str, Any]) -> list[list[str]]:
    small, large = found["sizes"]
    rows = [["phase", f"CPU at {small:,}", f"at {large:,}", f"peak at {small:,}", f"at {large:,}"]]
    for phase, answers in found["phases"].items():
        cpus = [f"{answer['cpu']:.2f} s" for answer in answers]
        peaks = [f"{answer['peak'] / 1e6:.0f} MB" for answer in answers]
        rows.append([phase, *cpus, *peaks])
    for phase, values in zip(BOTH, zip(*found["both"], strict=True), strict=True):
        low, middle, high = spread(values)
        rows.append([phase, f"{middle:.2f} s ({low:.2f}–{high:.2f})", "–", "–", "–"])
    return rows


def notes(found: dict[str, Any]) -> list[str]:
    return [
        "CPU is the whole control group's, cells included; memory the process's own.",
        f"Judged and judge only: {found['judged']:,} samples in turn, the median (p10–p90).",
    ]


if __name__ == "__main__":
    report.alone(sys.modules[__name__])
