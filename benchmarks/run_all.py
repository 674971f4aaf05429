"""Run every benchmark, show the tables, write results/<date>.json and RESULTS.md."""

import contest
import counts
import harness
import large_problems
import livecodebench
import nodes
import report
import run_isolation
import run_latency
import serve
import steady
from budgets import MissingError

BENCHMARKS = (
    run_latency, counts, steady, run_isolation, livecodebench, large_problems, contest, harness,
    serve, nodes,
)  # fmt: skip


def main() -> None:
    quick = report.arguments().quick
    serve.require()  # now, not after the minutes that the others take
    console = report.console()
    found, missing = {}, []
    for benchmark in BENCHMARKS:
        try:
            found[benchmark] = benchmark.measure(quick)
        except MissingError as error:
            missing.append(f"{benchmark.__name__}: {error}")
            console.print(f"MISSING: {missing[-1]}", style="bold red", markup=False)
            continue
        report.show(console, benchmark.__doc__ or "", benchmark, found[benchmark])
    for path in report.write(found, missing, quick):
        console.print(f"wrote {path}")


if __name__ == "__main__":
    main()
