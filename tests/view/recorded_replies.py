"""Replies to the fixture's problems, right and wrong, and runs made of such."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from command import proctor as command
from command import write_rows

KINDS = ("right", "wrong", "crash")


def replies() -> list[tuple[str, str, str]]:
    """Problem, kind and reply: three for each of the four problems of the fixture."""
    found = []
    bundled = files("proctor") / "bundled"
    problems = map(json.loads, (bundled / "problems.jsonl").read_text("utf-8").splitlines())
    fixture = {row["question_id"] for row in problems if row.get("subset") == "fixture"}
    for row in map(json.loads, (bundled / "programs.jsonl").read_text("utf-8").splitlines()):
        kind = row["note"].partition(":")[0]
        if row["question_id"] in fixture and kind in KINDS:
            found.append((row["question_id"], kind, f"Mine.\n```python\n{row['code']}```\n"))
    return found


def evaluate(
    place: Path, name: str, rows: list[dict[str, Any]], benchmark: str = "livecodebench"
) -> Path:
    """A run below `place`, of a recording beside it."""
    recording = write_rows(place.parent / f"{name}.jsonl", rows)
    done = command("eval", benchmark, "--model", f"replay:{recording}", "--out", place / name)
    assert done.returncode == 0, done.stderr
    return place / name
