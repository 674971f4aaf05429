"""The harness around model and judge: CPU for each sample, and memory at 1,000 and 100,000.

The model is scripted, so that what is measured is the rest: prompts, extraction, the store, and
what reads a store afterwards. Every phase is a process of its own.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import report
from budgets import Line, at_most, milliseconds, times
from measure import WORK

SMALL = 1_000
READING = (
    "resume", "figures", "report", "export jsonl", "export csv", "export parquet", "export inspect",
    "export records", "export lcb",
)  # fmt: skip
BUDGET_MS = 2.0
GROWTH = 2.0
"""How much more memory a hundred times the samples may take: not a hundred times as much."""


def measure(quick: bool) -> dict[str, Any]:
    """Run all phases at both sizes."""
    sizes = (SMALL, 10_000 if quick else 100_000)
    found: dict[str, Any] = {"sizes": list(sizes), "phases": {}}
    with tempfile.TemporaryDirectory() as name:
        for size in sizes:
            directory = Path(name) / f"run-{size}"
            for phase in ("generate", "fill", *READING):
                found["phases"].setdefault(phase, []).append(_phase(directory, size, phase))
        for phase in ("judged", "judge only"):
            found["phases"][phase] = [_phase(Path(name) / "run", SMALL, phase)]
    return found


def _phase(directory: Path, size: int, phase: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(WORK / "harness_phase.py"), str(directory), str(size), phase],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def lines(found: dict[str, Any]) -> list[Line]:
    phases, (small, large) = found["phases"], found["sizes"]
    judged = phases["judged"][0]["cpu"] - phases["judge only"][0]["cpu"]
    generate = phases["generate"]
    made = [
        at_most(f"CPU a sample at {small:,}, nothing judged", generate[0]["cpu"] / small * 1e3,
                BUDGET_MS, milliseconds),
        at_most(f"CPU a sample at {large:,}, nothing judged", generate[1]["cpu"] / large * 1e3,
                BUDGET_MS, milliseconds),
        at_most(f"CPU a sample at {small:,}, besides judging", judged / small * 1e3, BUDGET_MS,
                milliseconds),
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
        filled = ["–"] * (2 - len(answers))
        rows.append([phase, *cpus, *filled, *peaks, *filled])
    return rows


if __name__ == "__main__":
    report.alone(sys.modules[__name__])
