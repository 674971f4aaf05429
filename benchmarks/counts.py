"""Page faults, system calls and context switches of a job, by role.

    .venv/bin/python benchmarks/counts.py [--detail NAME]

A busy machine does not change how many faults and calls there are, so tests/test_counts.py gates
them. `--detail` names a kind of job, whose faults by place and calls by name are shown.
"""

import argparse
import contextlib
import http.client
import json
import statistics
import sys
from collections.abc import Callable, Iterator
from typing import Any

import serve
import tracing
from budgets import COUNTS, MARGINS, Line, at_most
from measure import INTERPRETER, WORK, Worker
from tracing import KINDS, ROLES, Counts

_BODY = json.dumps({"code": "print(1)", "language": "python"})
_FLOORS = {"fork from C": "c", "os.fork": "bare"}
_KINDS = {
    "isolated run": ("run", 1), "forked test": ("fork", 100), "official test": ("official", 100),
    "fast test": ("fast", 100),
}  # fmt: skip
"""Jobs of work/proctor_runs.py, and how many a call does."""
REQUEST = "/run_code request"
NAMES = (*_FLOORS, *_KINDS, REQUEST)
ALL = "in all"
_PARTS: dict[str, tuple[str, ...]] = {ALL: ROLES, **{role: (role,) for role in ROLES}}


def count(name: str, jobs: int = 50) -> Counts:
    """Count so many jobs of a kind, in a new process. Raises MissingError where nothing counts."""
    with _ready(name) as (pid, do, jobs_a_call):
        calls = max(jobs // jobs_a_call, 1)
        do(max(5 // jobs_a_call, 1))
        with tracing.counting(pid, calls * jobs_a_call) as counts:
            do(calls)
    return counts


def spreads(name: str, processes: int) -> dict[str, dict[str, list[float]]]:
    """Return least, median and most a job, by kind and role, of so many processes.

    Where things lie differs from process to process: a round in the same one would say nothing new.
    """
    found = [count(name) for _ in range(processes)]
    return {
        kind: {
            role: _spread([each.a_job(kind, *roles) for each in found])
            for role, roles in _PARTS.items()
        }
        for kind in KINDS
    }


def _spread(values: list[float]) -> list[float]:
    return [min(values), statistics.median(values), max(values)]


@contextlib.contextmanager
def _ready(name: str) -> Iterator[tuple[int, Callable[[int], object], int]]:
    """Start what does the jobs; yields its process, a function that calls it, jobs a call."""
    if name == REQUEST:
        with serve.started(serve.OURS, "--cells", "1") as server:
            yield server.pid, lambda calls: _ask(server.port, calls), 1
        return
    if name in _FLOORS:
        argv, jobs = [INTERPRETER, str(WORK / "forks.py"), _FLOORS[name]], 1
    else:
        kind, jobs = _KINDS[name]
        argv = [sys.executable, str(WORK / "proctor_runs.py"), kind]
    with Worker(argv) as worker:
        yield worker.pid, worker.ask, jobs


def _ask(port: int, requests: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for _ in range(requests):
        connection.request("POST", "/run_code", _BODY, {"Content-Type": "application/json"})
        answer = connection.getresponse().read()
        assert b'"stdout":"1\\n"' in answer, answer
    connection.close()


def measure(quick: bool) -> dict[str, Any]:
    """Return the spreads of all kinds of jobs by name."""
    return {name: spreads(name, processes=1 if quick else 5) for name in NAMES}


def lines(found: dict[str, Any]) -> list[Line]:
    """All that have budgets."""
    return [
        at_most(f"{name}: {kind}", found[name][kind][ALL][1], figure * margin, "{:.1f}".format)
        for name, figures in COUNTS.items()
        for kind, figure, margin in zip(KINDS, figures, MARGINS, strict=True)
    ]


def table(found: dict[str, Any]) -> list[list[str]]:
    """Every count by role, a header first."""
    rows = [["job", "count", *_PARTS, "least–most"]]
    for name, kinds in found.items():
        for kind, parts in kinds.items():
            medians = [f"{parts[part][1]:.1f}" for part in _PARTS]
            low, _, high = parts[ALL]
            rows.append([name, kind, *medians, f"{low:.1f}–{high:.1f}"])
    return rows


def notes(_found: dict[str, Any]) -> list[str]:
    return [
        "Host: the process that asks; cell: what it had started before; job: what began meanwhile.",
        "Medians of some processes, 50 jobs or more of each.",
        "A context switch is a task that waits; having to make room is not counted.",
    ]


def detail(name: str) -> None:
    """Show page faults by place and system calls by name."""
    counts = count(name)
    for what, figures in (("page faults", counts.faults), ("system calls", counts.calls)):
        print(f"{what} a job of {name}")
        for (role, which), number in figures.most_common(40):
            print(f"{number / counts.jobs:8.2f}  {role:5} {which}")


def main() -> None:
    import report

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--detail", choices=NAMES)
    if (name := parser.parse_args().detail) is not None:
        return detail(name)
    found = measure(quick=False)
    report.show(report.console(), __doc__ or "", sys.modules[__name__], found)
    for name in COUNTS:
        figures = ", ".join(f"{found[name][kind][ALL][1]:.1f}" for kind in KINDS)
        print(f'    "{name}": ({figures}),')
    return None


if __name__ == "__main__":
    main()
