"""Run every benchmark, show the tables, write results/<date>.json and RESULTS.md."""

import large_problems
import livecodebench
import run_latency
from rich.console import Console

import report


def main() -> None:
    quick = report.arguments().quick
    console = Console()
    found = {}
    for benchmark in (run_latency, livecodebench, large_problems):
        found[benchmark] = benchmark.measure(quick)
        report.show(console, benchmark.__doc__ or "", benchmark, found[benchmark])
    for path in report.write(found, quick):
        console.print(f"wrote {path}")


if __name__ == "__main__":
    main()
