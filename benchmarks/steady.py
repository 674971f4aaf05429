"""Idle cells in memory, and what a run costs as one agent grows old.

.venv/bin/python benchmarks/steady.py [--jobs 1000000]
"""

import argparse
import statistics
import sys
from pathlib import Path
from typing import Any

from budgets import CELL_MB, Line, at_most, times
from measure import INTERPRETER, WORK, Worker, processes

CELLS = 64
BLOCKS = 10
JOBS = 10_000
_FORKS = 200
"""Forks from C before and after each block: what the machine is doing falls on both."""


def measure(quick: bool) -> dict[str, Any]:
    return {"memory": _memory(8 if quick else CELLS), "blocks": _age(1000 if quick else JOBS)}


def _memory(cells: int) -> dict[str, Any]:
    with Worker([sys.executable, str(WORK / "many_cells.py")]) as worker:
        worker.ask(1, argument=1)
        one = worker.group.memory() if worker.group is not None else 0
        worker.ask(1, argument=cells)
        private = sum(_private(pid) for pid in processes(worker.pid)[1:])
        grown = worker.group.memory() - one if worker.group is not None else 0
    return {
        "cells": cells,
        "private_mb": private / cells / 1e6,
        "charged_mb": grown / (cells - 1) / 1e6,
        "host_and_one_mb": one / 1e6,
    }


def _private(pid: int) -> int:
    """Bytes that would be free if the process ended."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Private_"))


def _age(jobs: int) -> list[dict[str, float]]:
    """Run so many jobs of one agent in blocks, each beside forks from C."""
    ours = [sys.executable, str(WORK / "proctor_runs.py"), "cell"]
    theirs = [INTERPRETER, str(WORK / "forks.py"), "c"]
    block, rows = jobs // BLOCKS, []
    with Worker(ours) as runs, Worker(theirs) as forks:
        runs.ask(10)
        forks.ask(10)
        agents = processes(runs.pid)[1:]
        for number in range(1, BLOCKS + 1):
            floor = forks.ask(_FORKS).cpu
            before = sum(map(_faults, agents))
            cpu = runs.ask(block).cpu / block
            faults = sum(map(_faults, agents)) - before
            floor += forks.ask(_FORKS).cpu
            rows.append({
                "jobs": number * block,
                "cpu_ms": cpu * 1e3,
                "against_c": cpu / (floor / _FORKS / 2),
                "faults": faults / block,
                "private_mb": sum(map(_private, agents)) / 1e6,
            })  # fmt: skip
    return rows


def _faults(pid: int) -> int:
    """Page faults of a process and of the children that it waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[7]) + int(fields[8])


def _growth(blocks: list[dict[str, float]], figure: str) -> float:
    """Ratio of the last third's median to the first third's."""
    third = max(len(blocks) // 3, 1)
    first, last = (
        statistics.median(block[figure] for block in part)
        for part in (blocks[:third], blocks[-third:])
    )
    return last / first


def lines(found: dict[str, Any]) -> list[Line]:
    """The figures that have budgets."""
    memory, blocks = found["memory"], found["blocks"]
    many = memory["host_and_one_mb"] + (CELLS - 1) * memory["charged_mb"]
    jobs = f"{blocks[-1]['jobs']:,} jobs"
    return [
        at_most("idle cell, private memory", memory["private_mb"], CELL_MB, _mb),
        at_most(f"{CELLS} cells and their host, all that is charged", many, 2048, _mb),
        at_most(f"CPU against a fork from C, end to begin of {jobs}",
                _growth(blocks, "against_c"), 1.1, times),
        at_most(f"page faults, end to begin of {jobs}", _growth(blocks, "faults"), 1.05, times),
        at_most(f"agent's private memory, end to begin of {jobs}",
                _growth(blocks, "private_mb"), 1.05, times),
    ]  # fmt: skip


def _mb(value: float) -> str:
    return f"{value:,.1f} MB"


def table(found: dict[str, Any]) -> list[list[str]]:
    """The blocks of jobs, a header first."""
    head = ["jobs of one agent", "CPU ms a job", "× fork from C", "faults a job", "private MB"]
    return [head] + [
        [
            f"{block['jobs']:,}", f"{block['cpu_ms']:.3f}", f"{block['against_c']:.2f}",
            f"{block['faults']:.1f}", f"{block['private_mb']:.1f}",
        ]
        for block in found["blocks"]
    ]  # fmt: skip


def notes(found: dict[str, Any]) -> list[str]:
    memory = found["memory"]
    charged, host = memory["charged_mb"], memory["host_and_one_mb"]
    return [
        f"{memory['cells']} cells, each idle after one run.",
        f"Charged to control groups: {charged:.1f} MB a cell, {host:.1f} MB host and first cell.",
    ]


def main() -> None:
    import report

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=JOBS, help="of one agent")
    found = {"memory": _memory(CELLS), "blocks": _age(parser.parse_args().jobs)}
    report.show(report.console(), __doc__ or "", sys.modules[__name__], found)


if __name__ == "__main__":
    main()
