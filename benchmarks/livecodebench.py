"""LiveCodeBench programs a CPU-second, start-up included, beside upstream's evaluator and its port.

400 recorded programs, judged by whole processes in turn: interpreter, imports, cells and problems
count, of the whole control group. Upstream's evaluator is used where PROCTOR_BENCH_LCB_RUNNER names
a checkout of its repository; the port is nvidia-livecodebench from PyPI.
"""

import json
import os
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import peers
from budgets import Line, MissingError, at_least, at_most, milliseconds, spread_times, times
from measure import WORK, Worker, data_directory, spread

from proctor import load_problems

PORT, UPSTREAM = "nvidia-livecodebench", "lcb_runner"
OFFICIAL, STANDARD = "proctor, official mode", "proctor, standard mode"
FLOOR, FLOOR_OF_TESTS = "floor of official mode", "floor of standard mode"
PROGRAMS = 400
WHAT_FLOORS_DO = """The floors fork in C a process for each program, which loads it and runs the
same tests, and that of standard mode another for each test: no isolation, no limits, no comparing,
one after the other."""
LATE = (-3, -5)
"""lcb_runner's codes for time-outs: seconds of waiting that say nothing of a grader."""
LONG = {
    "abc301_e O1-Mini", "abc301_e O1-Preview", "abc361_d O1-Preview", "abc363_c O1-Mini",
    "abc363_c O1-Preview",
}  # fmt: skip
"""Programs that compute for more than a second, and drown all that a grader does."""
RACY = ("abc338_c O1-Preview", "abc349_e O1-Preview")
"""Programs that start a thread and do not wait for it: under any grader, who wins is luck."""
EXPECTED_TO_DIFFER = """The port reads stdin from a plain StringIO: it accepts programs that
iterate over, next() or with-block sys.stdin, mix input() with read(), or call readlines() twice,
which lcb_runner and official mode reject; and it rejects sys.stdin.buffer, which they accept."""


@dataclass
class Grader:
    """A contestant and its figures so far."""

    argv: list[str]
    environment: dict[str, str]
    cpus: list[float] = field(default_factory=list)
    """CPU seconds of each round."""
    walls: list[float] = field(default_factory=list)
    verdicts: list[list[Any]] = field(default_factory=list)
    """Results, error code and message of each program, and its CPU seconds where known."""

    def round(self, numbers: list[int]) -> None:
        with Worker(self.argv, self.environment) as worker:
            loading = worker.ask(1, argument=None)
            judging = worker.ask(1, argument=numbers)
            if worker.group is None:
                raise MissingError("no control groups: the CPU of all processes cannot be told")
            self.cpus.append(worker.group.cpu())
        self.walls.append(loading.walls[0] + judging.walls[0])
        self.verdicts = judging.result


def measure(quick: bool) -> dict[str, Any]:
    """Let all judge the same programs in turn. Raises MissingError without the data."""
    data = data_directory()
    if data is None or not (home := data / "livecodebench").is_dir():
        raise MissingError("PROCTOR_TEST_DATA names no folder with livecodebench")
    golden = [json.loads(line) for line in (home / "lcb_runner_verdicts.jsonl").open("rb")]
    short = [
        number for number, row in enumerate(golden)
        if row["error_code"] not in LATE and f"{row['question_id']} {row['model']}" not in LONG
    ]  # fmt: skip
    wanted = 60 if quick else PROGRAMS
    numbers = [short[n * len(short) // wanted] for n in range(wanted)]  # of all platforms
    rounds = 1 if quick else 5
    with tempfile.TemporaryDirectory() as place:
        _write_jobs(home, golden, numbers, place)
        graders, missing = _graders(home, place)
        for number in range(rounds):
            for grader in list(graders.values())[:: 1 if number % 2 == 0 else -1]:
                grader.round(numbers)
    ours = graders[OFFICIAL]
    own = sum(verdict[3] for verdict in ours.verdicts)
    rows = [golden[n] for n in numbers]
    recorded = [[row["results"], row["error_code"], row["error_message"], 0] for row in rows]
    return {
        "missing": missing,
        "programs": len(numbers),
        "programs_own_s": own,
        "graders": {
            name: {"cpu_s": grader.cpus, "wall_s": grader.walls} for name, grader in graders.items()
        },
        "differs_from_lcb_runner": _differences(rows, ours.verdicts, recorded),
        "differs_from_port": _differences(rows, ours.verdicts, graders[PORT].verdicts),
    }


def _write_jobs(home: Path, golden: list[dict[str, Any]], numbers: list[int], place: str) -> None:
    """Write a file for each program: a line of JSON, and the code and inputs that it tells of."""
    problems = load_problems(home / "problems.jsonl")
    rows = (home / "programs.jsonl").read_bytes().splitlines()
    for number in numbers:
        row = json.loads(rows[number])
        problem = problems[row["question_id"]]
        ran = problem.tests[: len(golden[number]["results"])]
        parts = [text.encode() for text in (row["code"], *(test.input_text() for test in ran))]
        head = {"function": problem.function, "sizes": [len(part) for part in parts]}
        Path(place, str(number)).write_bytes(
            b"\n".join((json.dumps(head).encode(), b"".join(parts)))
        )


def _graders(home: Path, place: str) -> tuple[dict[str, Grader], list[str]]:
    """Return the contestants by name, and what is missing."""
    files = [str(home / "problems.jsonl"), str(home / "programs.jsonl")]
    python, packages = peers.interpreter_of(PORT), peers.packages_of(PORT)
    ours = [sys.executable, str(WORK / "livecodebench_proctor.py"), *files]
    theirs = [python, str(WORK / "livecodebench_peer.py"), *files]
    environment = dict(os.environ)
    floor = [sys.executable, str(WORK / "livecodebench_floor.py"), place, packages]
    graders = {  # nine programs want numpy, which lcb_runner had
        OFFICIAL: Grader([*ours, "official", packages], environment),
        STANDARD: Grader([*ours, "standard", packages], environment),
        PORT: Grader([*theirs, "livecodebench"], environment),
        FLOOR: Grader([*floor, "program"], environment),
        FLOOR_OF_TESTS: Grader([*floor, "test"], environment),
    }
    checkout = environment.get("PROCTOR_BENCH_LCB_RUNNER", "")
    if not Path(checkout, "lcb_runner/evaluation").is_dir() or not checkout:
        named = "PROCTOR_BENCH_LCB_RUNNER names no checkout of LiveCodeBench"
        return graders, [f"upstream's own evaluator: {named}"]
    upstream = environment | {"PYTHONPATH": checkout}
    return graders | {UPSTREAM: Grader([*theirs, "lcb_runner"], upstream)}, []


def _differences(
    rows: list[dict[str, Any]], ours: list[list[Any]], theirs: list[list[Any]]
) -> list[dict[str, Any]]:
    """Programs whose results or error codes are not the same."""
    return [
        {
            "question_id": row["question_id"], "model": row["model"],
            "proctor": _short(mine), "other": _short(other),
        }
        for row, mine, other in zip(rows, ours, theirs, strict=True)
        if mine[:2] != other[:2]
    ]  # fmt: skip


def _short(verdict: list[Any]) -> str:
    results, code, message, _ = verdict
    passed = sum(result is True for result in results)
    return f"{passed} passed, code {code}" + (f": {str(message)[:90]}" if message else "")


def _ratio(found: dict[str, Any], name: str, other: str) -> list[float]:
    """Spread, over the rounds, of how many times our CPU another grader takes."""
    graders = found["graders"]
    both = zip(graders[name]["cpu_s"], graders[other]["cpu_s"], strict=True)
    return spread([theirs / ours for ours, theirs in both])


def lines(found: dict[str, Any]) -> list[Line]:
    """The figures that have budgets."""
    made = []
    for other in (UPSTREAM, PORT):
        if other not in found["graders"]:
            made.append(Line(f"LiveCodeBench against {other}", "MISSING"))
            continue
        for name, least in ((OFFICIAL, 8), (STANDARD, 5)):
            what = f"{name}, CPU of {other} in times ours"
            made.append(at_least(what, _ratio(found, name, other)[1], least, times))
    for name, floor in ((OFFICIAL, FLOOR), (STANDARD, FLOOR_OF_TESTS)):
        above = 1 / _ratio(found, name, floor)[1]
        made.append(at_most(f"{name}, CPU in times its floor's", above, 1.6, times))
    cpu = statistics.median(found["graders"][OFFICIAL]["cpu_s"]) / found["programs"] * 1e3
    made.append(at_most("official mode, CPU a program", cpu, 4, milliseconds))
    differing = [f"{d['question_id']} {d['model']}" for d in found["differs_from_lcb_runner"]]
    unlike = len([name for name in differing if name not in RACY])
    made.append(Line("verdicts unlike lcb_runner's, races apart", str(unlike), "0", unlike == 0))
    return made


def table(found: dict[str, Any]) -> list[list[str]]:
    """All graders, a header first."""
    head = ["grader", "CPU s", "CPU ms a program", "wall s", "× ours, official", "× ours, standard"]
    rows = []
    for name, figures in found["graders"].items():
        cpu, wall = (statistics.median(figures[key]) for key in ("cpu_s", "wall_s"))
        ratios = [spread_times(_ratio(found, ours, name)) for ours in (OFFICIAL, STANDARD)]
        a_program = 1e3 * cpu / found["programs"]
        rows.append([name, f"{cpu:.2f}", f"{a_program:.2f}", f"{wall:.2f}", *ratios])
    return [head, *rows]


def notes(found: dict[str, Any]) -> list[str]:
    rounds = len(found["graders"][OFFICIAL]["cpu_s"])
    out = [
        f"{found['programs']} programs, {rounds} rounds, medians (p10–p90).",
        f"Left out: time-outs and programs of more than a second, {', '.join(sorted(LONG))}.",
        " ".join(WHAT_FLOORS_DO.split()),
        f"CPU of the programs themselves, part of every figure: {found['programs_own_s']:.2f} s.",
        " ".join(EXPECTED_TO_DIFFER.split()),
        f"A race in the program itself, not counted: {', '.join(RACY)}.",
    ]
    for name, key in (("lcb_runner", "differs_from_lcb_runner"), ("the port", "differs_from_port")):
        out.append(f"Verdicts that differ from {name}'s: {len(found[key])}.")
        out += [
            f"{one['question_id']} {one['model']}: proctor {one['proctor']}; {name} {one['other']}"
            for one in found[key][:12]
        ]
    return out


if __name__ == "__main__":
    import report

    report.alone(sys.modules[__name__])
