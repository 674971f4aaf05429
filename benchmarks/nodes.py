"""Two Ray nodes beside one, and both beside pools without Ray, on LiveCodeBench rows.

Each is a process of its own with its cluster in a control group; they take turns. A node has one
CPU, and this machine must have two that are free, or the second node has nothing to run on. Two
pools in a process each say how much more than one its two CPUs can do at best.
"""

import json
import statistics
import sys
from importlib.util import find_spec
from typing import Any

from budgets import Line, MissingError, at_least, at_most, milliseconds, spread_times, times
from livecodebench import LATE, LONG
from measure import WORK, Worker, data_directory, spread

from proctor.sandbox.pool import available_cpus

PROGRAMS = 600
POOL, POOLS, ONE, TWO = "a pool of one cell", "two such pools", "one node", "two nodes"
JUDGES = {POOL: "pool", POOLS: "pools", ONE: "1", TWO: "2"}
"""What benchmarks/work/nodes_proctor.py calls them."""


def measure(quick: bool) -> dict[str, Any]:
    """Let all judge the same programs in turn. Raises MissingError without Ray, data or CPUs."""
    data = data_directory()
    if data is None or not (home := data / "livecodebench").is_dir():
        raise MissingError("PROCTOR_TEST_DATA names no folder with livecodebench")
    if find_spec("ray") is None:
        raise MissingError("Ray is not installed")
    if available_cpus() < 2:
        raise MissingError("two nodes take two CPUs")
    golden = [json.loads(line) for line in (home / "lcb_runner_verdicts.jsonl").open("rb")]
    short = [
        number for number, row in enumerate(golden)
        if row["error_code"] not in LATE and f"{row['question_id']} {row['model']}" not in LONG
    ]  # fmt: skip
    wanted = min(100 if quick else PROGRAMS, len(short))
    numbers = [short[n * len(short) // wanted] for n in range(wanted)]
    files = [str(home / "problems.jsonl"), str(home / "programs.jsonl")]
    walls: dict[str, list[float]] = {name: [] for name in JUDGES}
    cpus: dict[str, list[float]] = {name: [] for name in JUDGES}
    verdicts: dict[str, Any] = {}
    script = str(WORK / "nodes_proctor.py")
    for number in range(1 if quick else 5):
        for name, judges in list(JUDGES.items())[:: 1 if number % 2 == 0 else -1]:
            with Worker([sys.executable, script, *files, judges]) as worker:
                # Problems go to nodes, agents become lean, and Ray has started its processes.
                worker.ask(2, argument=numbers)
                answer = worker.ask(1, argument=numbers)
            walls[name] += answer.walls
            cpus[name].append(answer.cpu)
            verdicts[name] = answer.result
    return {
        "programs": wanted, "wall_s": walls, "cpu_s": cpus,
        "differing": sum(len(set(each)) > 1 for each in zip(*verdicts.values(), strict=True)),
    }  # fmt: skip


def _ratios(found: dict[str, Any], key: str, name: str, other: str) -> list[float]:
    both = zip(found[key][name], found[key][other], strict=True)
    return spread([one / two for one, two in both])


def lines(found: dict[str, Any]) -> list[Line]:
    """The figures that have budgets."""
    scaling = _ratios(found, "wall_s", ONE, TWO)[1]
    best = _ratios(found, "wall_s", POOL, POOLS)[1]
    overhead = _ratios(found, "cpu_s", ONE, POOL)[1] - 1
    return [
        at_least("two Ray nodes, judgements a second in times one's", scaling, 0.95 * best, times),
        at_most("Ray's own CPU, as a share of a judgement", 100 * overhead, 10, "{:.1f} %".format),
        Line("verdicts that differ", str(found["differing"]), "0", not found["differing"]),
    ]  # fmt: skip


def table(found: dict[str, Any]) -> list[list[str]]:
    """All of them, a header first."""
    head = ["judges", "judgements/s", "CPU ms each", "CPU in times the pool's"]
    rows = []
    for name in JUDGES:
        wall, cpu = (statistics.median(found[key][name]) for key in ("wall_s", "cpu_s"))
        ratio = spread_times(_ratios(found, "cpu_s", name, POOL))
        each = milliseconds(1e3 * cpu / found["programs"])
        rows.append([name, f"{found['programs'] / wall:.1f}", each, ratio])
    return [head, *rows]


def notes(found: dict[str, Any]) -> list[str]:
    """How it was measured."""
    return [f"{found['programs']} programs, {len(found['wall_s'][POOL])} rounds, medians."]


if __name__ == "__main__":
    import report

    report.alone(sys.modules[__name__])
