"""Run every benchmark, show the tables, write results/<date>.json and RESULTS.md."""

import contest
import harness
import large_problems
import livecodebench
import report
import run_isolation
import run_latency
import serve
from rich.console import Console

BENCHMARKS = (
    run_latency, run_isolation, livecodebench, large_problems, contest, harness, serve,
)  # fmt: skip


def main() -> None:
    quick = report.arguments().quick
    serve.require()  # now, not after the minutes that the others take
    console = Console()
    found = {}
    for benchmark in BENCHMARKS:
        found[benchmark] = benchmark.measure(quick)
        report.show(console, benchmark.__doc__ or "", benchmark, found[benchmark])
    for path in report.write(found, quick):
        console.print(f"wrote {path}")


if __name__ == "__main__":
    main()
