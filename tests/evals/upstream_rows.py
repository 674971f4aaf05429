"""Real rows for lcb_runner's prompts: what its builders take, as plain values.

Problems, programs and verdicts are those of PROCTOR_TEST_DATA. Its output prediction and code
execution rows are not there: rows of their form are made of LeetCode's problems and of CRUXEval.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from proctor.evals.livecodebench.execution import BENCHMARK as EXECUTION
from proctor.evals.livecodebench.output_prediction import BENCHMARK as OUTPUT_PREDICTION
from proctor.evals.livecodebench.upstream import prompts
from proctor.evals.livecodebench.upstream.templates import pinned
from proctor.evals.models.model import Message, plain
from proctor.evals.settings import Settings
from proctor.evals.stored import SampleJudgement
from proctor.formats.livecodebench import problem_of
from proctor.formats.tables import Row

SCENARIOS = ("codegeneration", "selfrepair", "testoutputprediction", "codeexecution")
EDGES = (
    "",
    "{code} {{}} %s \\1 \\g<0>",
    "\ue000code\ue001 def proctor_function(): pass",
    "```\n\r\n\tÜ\n",
)
"""Texts that a careless template would trip on."""


def _lines(data: Path, name: str) -> Iterator[dict[str, Any]]:
    with (data / name).open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def rows(data: Path, scenario: str) -> Iterator[dict[str, Any]]:
    """Rows of a scenario in upstream's schema; of self-repair, what its builder takes."""
    problems = {row["question_id"]: row for row in _lines(data, "livecodebench/problems.jsonl")}
    if scenario == "codegeneration":
        yield from problems.values()
        first = next(iter(problems.values()))
        for text in EDGES:
            yield first | {"question_content": text, "starter_code": text}
    elif scenario == "selfrepair":
        for row in _lines(data, "livecodebench/programs.jsonl"):
            question = problems[row["question_id"]]["question_content"]
            # Of five verdicts, with code -5 or without inputs, upstream's builder fails.
            if "inputs" in row["leaderboard_metadata"]:
                yield {"question": question, "code": row["code"],
                       "metadata": row["leaderboard_metadata"]}  # fmt: skip
        for text in EDGES:
            for code in (-1, -2, -3, -4):
                told = {"error": text, "inputs": text, "output": text, "expected": text}
                yield {"question": text, "code": text, "metadata": {"error_code": code, **told}}
            yield {"question": text, "code": text, "metadata": {}}
    elif scenario == "testoutputprediction":
        for row in problems.values():
            if row["starter_code"]:
                name = json.loads(row["metadata"])["func_name"]
                test = json.loads(row["public_test_cases"])[0]
                yield {"question_title": row["question_title"], "contest_id": "1",
                       "question_content": row["question_content"], "test_id": 0,
                       "question_id": row["question_id"], "difficulty": "easy",
                       "contest_date": "2024-01-01", "function_name": name,
                       "starter_code": _closed(row["starter_code"]),
                       "test": json.dumps([test | {"input": test["input"].strip()}])}  # fmt: skip
    else:
        for row in _lines(data, "cruxeval/cruxeval.jsonl"):
            yield {"question_id": "1", "contest_id": "1", "contest_date": "2024-01-01",
                   "difficulty": "easy", "function_name": "f", "code": row["code"],
                   "input": f"f({row['input']})", "output": row["output"], "id": row["id"],
                   "problem_id": "1", "numsteps": 1}  # fmt: skip


def _closed(starter: str) -> str:
    """A starter that upstream's parser takes, without which it fails: those end in a def."""
    return starter.rstrip() + " pass" if starter.rstrip().endswith(":") else starter


def ours(data: Path, scenario: str, style: str, directory: str) -> Iterator[tuple[Message, ...]]:
    """Our prompts for the rows. Raises SettingsError for a style that the checkout lacks."""
    settings = pinned(Settings(prompt=f"upstream:{style}", upstream=directory), scenario)  # type: ignore[arg-type]
    thinking = msgspec.structs.replace(
        settings, prompt=settings.prompt.replace("upstream", "upstream-cot")
    )
    for number, row in enumerate(rows(data, scenario)):
        if scenario == "codegeneration":
            yield prompts.generation(problem_of(row), settings)
        elif scenario == "selfrepair":
            judged = SampleJudgement("p", 0, "official", "j", "WA",
                                     upstream=json.dumps({"metadata": row["metadata"]}))  # fmt: skip
            problem = problem_of({"question_id": "p", "question_content": row["question"],
                                  "public_test_cases": [], "private_test_cases": []})  # fmt: skip
            yield prompts.repair(problem, row["code"], judged, settings)
        else:
            benchmark: Any = OUTPUT_PREDICTION if scenario == "testoutputprediction" else EXECUTION
            question = benchmark.tasks.task(Row(Path("rows"), number, row))
            yield benchmark.messages(question, 0, settings)
            if scenario == "codeexecution":
                yield benchmark.messages(question, 0, thinking)


def digest(prompts_made: Iterator[tuple[Message, ...]]) -> str:
    """SHA-256 over the roles and texts of all prompts."""
    found = hashlib.sha256()
    for messages in prompts_made:
        found.update(msgspec.json.encode(plain(messages)) + b"\n")
    return found.hexdigest()
