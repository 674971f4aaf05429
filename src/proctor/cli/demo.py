"""`proctor demo`: the bundled problems, each with programs of every kind."""

from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from proctor.cli import render, terminal
from proctor.cli.screen import Screen, coloured, line
from proctor.errors import InputError, SettingsError
from proctor.formats.livecodebench import load_problems
from proctor.formats.programs import SubmittedProgram, load_programs
from proctor.judgement import Judgement
from proctor.judging.judge import judge_many
from proctor.judging.settings import JudgeSettings, Mode, default_limits
from proctor.problem import Problem
from proctor.program import Program
from proctor.sandbox.pool import open_pool
from proctor.units import seconds

FIXTURE = "fixture"


def run(
    mode: str,
    subset: str | None,
    cpu: str,
    isolation: str | None,
    min_isolation: str | None,
    *,
    as_json: bool,
) -> int:
    """Judge the bundled programs; returns 0 only if each got the verdict it is labelled with.

    `cpu` is the limit of a test, as text with a unit. The slow programs would take hours and the
    right ones take milliseconds, so its size matters only where a machine is emulated.
    """
    if subset not in (None, FIXTURE):
        raise InputError(f"there is one subset, {FIXTURE}, not {subset!r}", field="--subset")
    if mode not in ("standard", "official"):
        raise SettingsError(f"mode is standard or official, not {mode!r}")
    chosen: Mode = "official" if mode == "official" else "standard"
    settings = JudgeSettings(chosen, replace(default_limits(chosen), cpu=seconds(cpu, "--cpu")))
    problems, submissions = bundled(subset)
    judged: dict[int, Judgement] = {}
    progress = render.Progress(len(submissions), not as_json)
    with open_pool(isolation=isolation, min_isolation=min_isolation) as pool, progress:
        pairs = ((problems[entry.question_id], Program(entry.code)) for entry in submissions)
        for result in judge_many(pairs, settings=settings, pool=pool):
            judged[result.index] = result.judgement
            progress.show([result.judgement.verdict])
    rows = [
        {
            "question_id": entry.question_id,
            "platform": problems[entry.question_id].platform,
            "difficulty": problems[entry.question_id].difficulty,
            "program": entry.extra["note"].partition(":")[0],
            "expected": entry.extra["label"][mode],
            "verdict": judged[index].verdict.value,
            "tests": len(judged[index].tests),
            "message": judged[index].message,
        }
        for index, entry in enumerate(submissions)
    ]
    surprises = sum(row["expected"] != row["verdict"] for row in rows)
    if as_json:
        report = {"mode": mode, "surprises": surprises, "programs": rows}
        terminal.write_json(report)
    else:
        _show(rows, surprises)
    return 1 if surprises else 0


def bundled(subset: str | None) -> tuple[dict[str, Problem], list[SubmittedProgram]]:
    """Return the problems and programs that come with proctor, or one subset of them."""
    with as_file(files("proctor") / "bundled") as directory:
        problems = load_problems(Path(directory) / "problems.jsonl")
        submissions, bad = load_programs(Path(directory) / "programs.jsonl", problems)
    if bad is not None:
        raise bad
    if subset is not None:
        problems = {
            name: problem
            for name, problem in problems.items()
            if problem.extra.get("subset") == subset
        }
    return problems, [entry for entry in submissions if entry.question_id in problems]


def _show(rows: list[dict[str, Any]], surprises: int) -> None:
    console = Screen(wide=True)
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    kinds = list(dict.fromkeys(row["program"] for row in rows))
    for heading in ("problem", "platform", "difficulty", *kinds):
        table.add_column(heading)
    for name in dict.fromkeys(row["question_id"] for row in rows):
        mine = [row for row in rows if row["question_id"] == name]
        verdicts = {row["program"]: row for row in mine}
        cells = [_cell(verdicts[kind]) if kind in verdicts else "" for kind in kinds]
        table.add_row(name, mine[0]["platform"], mine[0]["difficulty"], *cells)
    console.print(table)
    if surprises:
        told = f"{surprises} of {len(rows)} verdicts are not the labelled ones"
        console.print(coloured(told, "red"))
    else:
        console.print(f"all {len(rows)} verdicts are as labelled")


def _cell(row: dict[str, Any]) -> Text | str:
    from proctor.verdict import Verdict

    text = render.coloured(Verdict(row["verdict"]))
    return text if row["verdict"] == row["expected"] else line(text, f" (not {row['expected']})")
