"""Verdicts beside lcb_runner's recorded ones and bundled labels; attacks that got through."""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import run_isolation
from budgets import Line, MissingError, at_most
from measure import data_directory

from proctor import JudgeSettings, Limits, Pool, Problem, judge_many, load_problems, open_pool
from proctor.formats.programs import SubmittedProgram, load_programs
from proctor.judging.settings import OFFICIAL_LIMITS

Pair = tuple[dict[str, Any], SubmittedProgram]
"""Row that lcb_runner recorded, and the program that it is about."""

TIME_LIMIT = -3
"""lcb_runner's code for its time limit, which is by the wall clock of its machine."""
MODES = ("standard", "official")


def measure(quick: bool) -> dict[str, Any]:
    """Judge, and attack, at each level that works here."""
    missing = []
    try:
        recorded = _recorded(most=60 if quick else None)
    except MissingError as error:
        recorded = None
        missing.append(f"lcb_runner's recorded verdicts: {error}")
    found = {level: _attacks(level) for level in run_isolation.levels()}
    return {
        "missing": missing,
        "recorded": recorded,
        "bundled": {mode: _bundled(mode) for mode in MODES},
        "attacks": found,
    }


def _recorded(most: int | None) -> dict[str, Any]:
    """Judge recorded programs in official mode; count verdicts unlike the recorded ones."""
    data = data_directory()
    if data is None or not (home := data / "livecodebench").is_dir():
        raise MissingError("PROCTOR_TEST_DATA names no folder with livecodebench")
    rows = [json.loads(line) for line in (home / "lcb_runner_verdicts.jsonl").open("rb")]
    problems = load_problems(home / "problems.jsonl")
    programs = load_programs(home / "programs.jsonl", problems)[0]
    pairs = list(zip(rows, programs, strict=True))[:most]
    late = sum(row["error_code"] == TIME_LIMIT for row, _ in pairs)
    pairs = [pair for pair in pairs if pair[0]["error_code"] != TIME_LIMIT]
    with open_pool(packages=(str(Path(np.__file__).parent.parent),)) as pool:
        unlike = _unlike(pairs, problems, OFFICIAL_LIMITS, pool)
        timed_out = [pair for pair, code in unlike if code == TIME_LIMIT]
        twice = replace(OFFICIAL_LIMITS, cpu=2 * OFFICIAL_LIMITS.cpu)
        still = [pair for pair, _ in _unlike(timed_out, problems, twice, pool)]
    groups: dict[str, list[str]] = {"races": [], "slow": [], "unlike": []}
    for pair, _ in unlike:
        row, program = pair
        slow = pair in timed_out and pair not in still
        group = "slow" if slow else "races" if _races(program.code) else "unlike"
        groups[group].append(f"{row['question_id']} {row['model']}")
    return {"programs": len(pairs), "late": late, **groups}


def _unlike(
    pairs: list[Pair], problems: Mapping[str, Problem], limits: Limits, pool: Pool
) -> list[tuple[Pair, int | None]]:
    """Return those that are judged otherwise than recorded, each with its error code of now."""
    jobs = ((problems[program.question_id], program.code) for _, program in pairs)
    settings = JudgeSettings("official", stop="first", limits=limits)
    found = {}
    for judged in judge_many(jobs, settings=settings, pool=pool):
        row = pairs[judged.index][0]
        report = judged.judgement.upstream
        ours = report and [list(report.results), report.error_code, report.error_message]
        if ours != [row["results"], row["error_code"], row["error_message"]]:
            found[judged.index] = report and report.error_code
    return [(pairs[index], found[index]) for index in sorted(found)]


def _races(code: str) -> bool:
    """Return True if it may start a thread and not wait for it: its output is then luck."""
    return "threading" in code and ".start()" in code and ".join()" not in code


def _bundled(mode: str) -> dict[str, int]:
    told = _proctor("demo", "--mode", mode)
    return {"programs": len(told["programs"]), "unlike": told["surprises"]}


def _attacks(level: str) -> dict[str, int]:
    counts: dict[str, int] = _proctor("selftest", "--isolation", level)["counts"]
    return counts


def _proctor(*arguments: str) -> Any:
    command = [sys.executable, "-m", "proctor", *arguments, "--json"]
    ended = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if ended.returncode not in (0, 1):  # 1: something is not as it should be
        raise MissingError(f"`proctor {' '.join(arguments)}` ended with {ended.returncode}")
    return json.loads(ended.stdout)


def lines(found: dict[str, Any]) -> list[Line]:
    """The figures that have budgets."""
    made = []
    if (recorded := found["recorded"]) is not None:
        what = (
            f"verdicts unlike lcb_runner's, of {recorded['programs']:,} programs, but for races and"
            " those too slow for this machine"
        )
        made.append(at_most(what, len(recorded["unlike"]), 0, str))
    for mode, counts in found["bundled"].items():
        what = f"{mode} mode: verdicts unlike their label, of {counts['programs']} bundled programs"
        made.append(at_most(what, counts["unlike"], 0, str))
    for level, counts in found["attacks"].items():
        what = f"{level}: attacks that got through, of {sum(counts.values())}"
        made.append(at_most(what, counts["through"], 0, str))
    return made


def table(found: dict[str, Any]) -> list[list[str]]:
    """Outcomes of the attacks by level, a header first."""
    head = ["level", "attacks", "held", "got through", "not guaranteed there", "not run"]
    keys = ("held", "through", "not guaranteed", "not run")
    return [head] + [
        [level, str(sum(counts.values())), *(str(counts[key]) for key in keys)]
        for level, counts in found["attacks"].items()
    ]


def notes(found: dict[str, Any]) -> list[str]:
    made = ["Not guaranteed: the level's documentation says that it does not hold this."]
    if (recorded := found["recorded"]) is not None:
        slow = ", ".join(recorded["slow"]) or "none"
        made += [
            f"Recorded as time-outs by another machine's clock, left out: {recorded['late']}.",
            f"Different, but a race in the program itself: {len(recorded['races'])}.",
            f"Time-outs here, as recorded with twice the time: {slow}.",
            f"Different: {', '.join(recorded['unlike']) or 'none'}.",
        ]
    return made


if __name__ == "__main__":
    import report

    report.alone(sys.modules[__name__])
