"""Benchmark files for tests, their rows, and recordings."""

import json
import shutil
from pathlib import Path
from typing import Any

from proctor_command import Proctor, report

from proctor.evals.benchmark_file.loading import load
from proctor.evals.models.model import ModelReply
from proctor.evals.settings import Settings

STDIO = """
[rows]
file = "rows.jsonl"
id = "name"
difficulty = "level"

[prompt]
user = "{{ task }} in {{ run.language }}"

[program]
languages = ["python", "cpp"]

[grading]
kind = "stdio"
tests = "hidden"
public_tests = "shown"
"""
ADD = {
    "name": "add", "level": "kyu-8", "task": "Add two numbers",
    "shown": [{"input": "1 2", "output": "3"}], "hidden": {"input": ["5 6"], "output": ["11"]},
}  # fmt: skip
SUB = {
    "name": "sub", "level": "Kyu-9", "task": "Subtract", "shown": [],
    "hidden": '{"inputs": [["5 6"]], "outputs": [["-1"]]}',
}  # fmt: skip
ANSWER = """
[rows]
file = "rows.csv"
[prompt]
user = "How much is {{ question }}?"
[grading]
kind = "answer"
output = "right"
"""
QUESTIONS = 'id,question,right\n1,"2 + 2",4\n2,"10 : 3",3.333\n'


def write(directory: Path, text: str, rows: list[Any] | str) -> Path:
    directory.mkdir(exist_ok=True)
    name = "rows.csv" if isinstance(rows, str) else "rows.jsonl"
    content = rows if isinstance(rows, str) else "".join(json.dumps(row) + "\n" for row in rows)
    (directory / name).write_text(content)
    path = directory / "sums.toml"
    path.write_text(text)
    return path


def replies(directory: Path, *rows: tuple[str, str]) -> str:
    path = directory / "replies.jsonl"
    made = (json.dumps({"id": name, "generation": text}) + "\n" for name, text in rows)
    path.write_text("".join(made))
    return f"replay:{path}"


def fenced(code: str, language: str = "python") -> str:
    return f"So:\n```{language}\n{code}\n```\n"


def prompt_of(path: Path, name: str = "plain") -> list[tuple[str, str]]:
    benchmark = load(path)
    source = benchmark.open_source(Settings())
    first = next(iter(source.infos())).id
    asked = benchmark.messages(next(source.instances([first])), 0, Settings(prompt=name))
    assert not isinstance(asked, ModelReply)
    return [(each.role, each.content) for each in asked]


def verdicts(proctor: Proctor, path: Path, model: str, *options: str) -> dict[str, int]:
    run = path.parent / "run"
    shutil.rmtree(run, ignore_errors=True)
    found = report(proctor("eval", path, "--model", model, "--out", run, "--json", *options))
    counted: dict[str, int] = found["standard"]["verdicts"]
    return counted
