"""Tables on the terminal, JSON and Markdown on disk."""

import argparse
import datetime as dt
import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import history
from budgets import Line, MissingError
from rich.console import Console
from rich.table import Table

from proctor import open_pool
from proctor.judging.speed import Speed

HOME = Path(__file__).parent
LINES_HEAD = ["what", "measured", "budget", "kept"]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--quick", action="store_true", help="less than a minute, rough figures")
    return parser.parse_args()


def alone(benchmark: ModuleType) -> None:
    """Run one benchmark and show what it found; nothing is written."""
    try:
        found = benchmark.measure(arguments().quick)
    except MissingError as error:
        sys.exit(f"MISSING: {error}")
    show(console(), benchmark.__doc__ or "", benchmark, found)


def console() -> Console:
    """Make one; where it is no terminal, as in CI's log, wide enough for our tables."""
    made = Console()
    return made if made.is_terminal else Console(width=150)


def missing_of(found: Any) -> list[str]:
    """Return the parts that could not be measured, and why."""
    return found.get("missing", []) if isinstance(found, dict) else []


def show(console: Console, title: str, benchmark: ModuleType, found: Any) -> None:
    console.rule(title.splitlines()[0])
    for part in missing_of(found):
        console.print(f"MISSING: {part}", style="bold red", markup=False, highlight=False)
    console.print(_rich([LINES_HEAD, *map(cells, benchmark.lines(found))]))
    if rows := benchmark.table(found):
        console.print(_rich(rows))
    for note in _notes(benchmark, found):
        console.print(note, markup=False, highlight=False)


def state() -> dict[str, Any]:
    """Measure how busy the machine is, and how fast: neighbours on its host show only there."""
    with open_pool() as pool:
        return {"load": os.getloadavg()[0], "speed": str(Speed.of(pool))}


def write(
    found: dict[ModuleType, Any], missing: list[str], quick: bool, before: dict[str, Any]
) -> list[Path]:
    """Write results/<date>-<commit>.json and, unless the figures are rough, RESULTS.md.

    `missing`: parts that were not measured at all, and why. `before`: the state at the start.
    """
    now = dt.datetime.now(dt.UTC)
    document = {
        "date": now.isoformat(timespec="seconds"),
        "quick": quick,
        "commit": commit(),
        "machine": _machine() | state() | {"before": before},
        "missing": missing + [part for result in found.values() for part in missing_of(result)],
        **{benchmark.__name__: result for benchmark, result in found.items()},
    }
    document["ratios"] = history.ratios(document)
    history.RESULTS.mkdir(exist_ok=True)
    rough = "-quick" if quick else ""
    written = [history.RESULTS / f"{now:%Y-%m-%d}-{document['commit']}{rough}.json"]
    written[0].write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", "utf-8")
    if not quick:
        written.append(HOME / "RESULTS.md")
        written[1].write_text(_markdown(found, document), "utf-8")
    return written


def commit() -> str:
    """Return the short name of the checkout's commit, with `-changed` if files differ from it."""
    head = _git("rev-parse", "--short", "HEAD")
    if head is None:
        return "unknown"
    return head + ("-changed" if _git("status", "--porcelain", "src", "benchmarks") else "")


def _git(*arguments: str) -> str | None:
    command = ["git", "-C", str(HOME), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):  # no git, or no checkout
        return None


def _markdown(found: dict[ModuleType, Any], document: dict[str, Any]) -> str:
    machine = document["machine"]
    where = (
        f"Measured {document['date'][:10]} on {machine['cpus']} CPUs ({machine['model']}), Linux"
        f" {machine['kernel']}, Python {machine['python']}, commit {document['commit']}; load"
        f" {machine['before']['load']:.1f} at the start, {machine['load']:.1f} at the end."
        f" {history.speed(document)}"
    )
    why = (
        "Absolute figures belong to that machine; ratios were taken side by side, and hold on a"
        " busy one too. Made by `make bench`; see README.md.\n"
    )
    parts = ["# Results\n", where, why]
    if document["missing"]:
        parts.append("**MISSING: these figures are incomplete.**\n")
        parts += [f"- **{part}**" for part in document["missing"]] + [""]
    for benchmark, result in found.items():
        parts.append(f"## {(benchmark.__doc__ or '').splitlines()[0]}\n")
        parts.append(pipes([LINES_HEAD, *map(cells, benchmark.lines(result))]))
        if rows := benchmark.table(result):
            parts.append(pipes(rows))
        parts += [f"- {note}" for note in _notes(benchmark, result)]
        parts.append("")
    return "\n".join(parts)


def _machine() -> dict[str, Any]:
    model = platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    return {
        "cpus": os.cpu_count(), "model": model, "kernel": platform.release(),
        "python": platform.python_version(),
    }  # fmt: skip


def _notes(benchmark: ModuleType, found: Any) -> list[str]:
    notes = list(benchmark.notes(found)) if hasattr(benchmark, "notes") else []
    if isinstance(found, dict) and found.get("whole_tree") is False:
        notes.append("No control groups here: CPU of live cells is missing from these figures.")
    return notes


def cells(line: Line) -> list[str]:
    kept = {True: "yes", False: "NO", None: ""}[line.kept]
    return [line.what, line.measured, line.budget, kept]


def _rich(rows: Sequence[Sequence[str]]) -> Table:
    table = Table(*(rows[0]))
    for column in table.columns[1:]:
        column.justify = "right"
    for row in rows[1:]:
        table.add_row(*row)
    return table


def pipes(rows: Sequence[Sequence[str]]) -> str:
    rule = " | ".join(["---", *["---:"] * (len(rows[0]) - 1)])
    lines = [" | ".join(cell.replace("|", "\\|") for cell in row) for row in rows]
    lines.insert(1, rule)
    return "\n".join(f"| {line} |" for line in lines) + "\n"
