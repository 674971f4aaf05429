"""Writes the docs' page of figures, and the chart of their history, from stored results."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import history
import history_chart
import report

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "explanation" / "figures.md"
CHART = DOCS / "images" / "history.svg"

TEMPLATE = """# How fast, how safe, how right

Made by `make bench` from [the newest results](../../benchmarks/RESULTS.md), measured {date} at
commit `{commit}` on {machine}, Linux {kernel}, Python {python}.
Milliseconds belong to that machine.{speed}
Ratios are of the CPU time of whole control groups, taken in turn with the peer within the same
minutes; they mean something elsewhere too.
[How it is measured](../../benchmarks/README.md).

## How fast

{fast}
The same three-line program, or its sum as a function, run by others:

{peers}
## How safe

Attacks that come with proctor (`proctor selftest` makes them on your machine), and how soon nothing
is left of hostile programs:

{safe}
## How right

Verdicts beside those that lcb_runner recorded and those that a program's author gave as its label.
A flip is a wrong verdict of a program near its time limit, with up to 16 jobs for each CPU.

{right}
## What is not known

- Nobody outside the project has audited it. A bug of the kernel is not contained. The
  [threat model](threat-model.md) lists every known gap.
- All machines measured had two CPUs. Larger ones and clusters are
  [simulated](../../benchmarks/SIMULATION.md).
- aarch64 has not been measured.
- Most packages of public archives of contest problems were loaded, few of their labels judged:
  [what was tried](../reference/packages.md).
- Time-outs that lcb_runner recorded are not compared: the machine that recorded them decided them.

## Over time

CPU of proctor as a multiple of the other's; smaller is better.

![CPU of proctor as a multiple of the other's, over time](../images/history.svg)

| measured | commit | machine |
| --- | --- | --- |
{results}
"""
NOT_MEASURED = "Not measured in that run.\n"


def write() -> list[Path]:
    """Write the page and the chart, and return their paths."""
    documents = list(history.stored())
    CHART.parent.mkdir(exist_ok=True)
    for path, text in ((PAGE, page(documents)), (CHART, history_chart.chart(documents))):
        path.write_text(text, "utf-8")
    return [PAGE, CHART]


def page(documents: Sequence[history.Document]) -> str:
    """Write the page of whole results, oldest first: of the newest, but for the list of all."""
    newest = documents[-1]
    told = newest["machine"]
    return TEMPLATE.format(
        date=newest["date"][:10], commit=newest["commit"], machine=history.machine(newest),
        kernel=told["kernel"], python=told["python"],
        speed=f" {said}" if (said := history.speed(newest)) else "",
        fast=lines(newest, {"run_latency": "", "livecodebench": "CPU", "contest": "", "serve": ""}),
        peers=peers(newest),
        safe=lines(newest, {"verdicts": "attacks", "run_isolation": "slowest"}),
        right=lines(newest, {"verdicts": "verdicts", "run_isolation": "flipped"}),
        results="\n".join(
            f"| {one['date'][:10]} | `{one['commit']}` | {history.machine(one)} |"
            for one in documents
        ),
    )  # fmt: skip


def lines(document: history.Document, chosen: dict[str, str]) -> str:
    """Form a table of the lines, of benchmarks by name, that hold a word."""
    rows = [
        report.cells(line)
        for name, word in chosen.items()
        if name in document
        for line in import_module(name).lines(document[name])
        if word in line.what
    ]
    missing = [f"`{name}`" for name in chosen if name not in document]
    table = report.pipes([report.LINES_HEAD, *rows]) if rows else ""
    return table + (f"\nNot measured in that run: {', '.join(missing)}.\n" if missing else "")


def peers(document: history.Document) -> str:
    """Form a table of contestants with their CPU a job, and that in forks'."""
    if "run_latency" not in document:
        return NOT_MEASURED
    rows = import_module("run_latency").table(document["run_latency"])
    return report.pipes([row[:4] for row in rows])


if __name__ == "__main__":
    for made in write():
        print(f"wrote {made}")
