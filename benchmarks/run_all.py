"""Run every benchmark, show the tables, write what they found and the pages of it."""

import os

import contest
import counts
import figures
import harness
import large_problems
import livecodebench
import nodes
import report
import run_isolation
import run_latency
import serve
import steady
import verdicts
from budgets import MissingError

BENCHMARKS = (
    run_latency, counts, steady, run_isolation, verdicts, livecodebench, large_problems, contest,
    harness, serve, nodes,
)  # fmt: skip


BUSY = 0.5
"""Load from which on people are told that absolute figures will be too high."""


def main() -> None:
    quick = report.arguments().quick
    serve.require()  # now, not after the minutes that the others take
    console = report.console()
    if (load := os.getloadavg()[0]) > BUSY:
        console.print(f"The machine is busy (load {load:.1f}): trust ratios, not milliseconds.")
    before = report.state()
    found, missing = {}, []
    for benchmark in BENCHMARKS:
        try:
            found[benchmark] = benchmark.measure(quick)
        except MissingError as error:
            missing.append(f"{benchmark.__name__}: {error}")
            console.print(f"MISSING: {missing[-1]}", style="bold red", markup=False)
            continue
        report.show(console, benchmark.__doc__ or "", benchmark, found[benchmark])
    written = report.write(found, missing, quick, before)
    if not quick:
        written += figures.write()
    for path in written:
        console.print(f"wrote {path}")


if __name__ == "__main__":
    main()
