"""Recorded replies, made and judged by the command line, in one process.

A request's argument is [PHASE, SAMPLES, DIRECTORY]; it returns the peak of this process's memory in
bytes. Replies are those of harness_phase.py, to 200 problems with one short test.
"""

import contextlib
import json
import sys
from pathlib import Path

import loop
from harness_phase import PROBLEMS, peak, problems, reply

from proctor.cli.main import main
from proctor.evals.livecodebench.generation import BENCHMARK
from proctor.evals.models.model import ModelRequest
from proctor.evals.settings import Settings
from proctor.judging.judge import judge_many

SETTINGS = Settings(mode="standard")


def record(samples, home):
    """Write problems, replies, and the programs in them."""
    table = home / "problems.jsonl"
    with table.open("w") as file:
        for each in problems():
            tests = [{"input": test.input, "output": test.output} for test in each.tests]
            row = {
                "question_id": each.id, "question_title": each.title, "platform": "atcoder",
                "question_content": each.statement, "public_test_cases": tests,
            }  # fmt: skip
            file.write(json.dumps(row) + "\n")
    with (
        _file("replies", samples, home).open("w") as texts,
        _file("programs", samples, home).open("w") as codes,
    ):
        for n in range(samples):
            request = ModelRequest((), f"p{n % PROBLEMS:04}", n // PROBLEMS)
            text = reply(request).text
            code = text.partition("```python\n")[2].partition("\n```")[0]
            texts.write(json.dumps({"question_id": request.problem_id, "generation": text}) + "\n")
            codes.write(json.dumps({"question_id": request.problem_id, "code": code}) + "\n")


def judge_only(samples, home):
    """Judge the same programs by the Python API, and keep nothing."""
    made = {each.id: each for each in problems()}
    with (
        _file("programs", samples, home).open() as lines,
        BENCHMARK.open_grader(SETTINGS) as grader,
    ):
        rows = map(json.loads, lines)
        pairs = ((made[row["question_id"]], row["code"]) for row in rows)
        settings = SETTINGS.judge_settings("standard")
        for each in judge_many(pairs, settings=settings, on=grader.judges):
            assert each.judgement.passed, each


def _file(kind, samples, home):
    return home / f"{kind}-{samples}.jsonl"


def replay(samples, home):
    """Evaluate the recorded replies."""
    command(
        "eval", "livecodebench", "--source", home / "problems.jsonl", "--model",
        f"replay:{_file('replies', samples, home)}", "--mode", "standard", "--out",
        home / f"run-{samples}",
    )  # fmt: skip


def rejudge(samples, home):
    """Judge the run that `replay` left once more."""
    command("rejudge", home / f"run-{samples}")


def command(*arguments):
    sys.argv = ["proctor", *map(str, arguments)]
    try:
        main()
    except SystemExit as ended:
        if ended.code:
            raise


def job(wanted):
    phase, samples, home = wanted
    with contextlib.suppress(OSError):  # what a phase before it used is not this one's
        Path("/proc/self/clear_refs").write_text("5")
    PHASES[phase](samples, Path(home))
    return peak()


PHASES = {
    "record": record, "judge only": judge_only, "replay": replay, "rejudge": rejudge,
}  # fmt: skip

if __name__ == "__main__":
    loop.serve(job)
