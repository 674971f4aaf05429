"""The real command, as a shell would start it."""

import json
import os
import subprocess
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from waiting import PATIENCE

COMMAND = str(Path(sysconfig.get_path("scripts"), "proctor"))


def environment(**more: str) -> dict[str, str]:
    """Our environment without what would change proctor's mind."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PROCTOR_")}
    return kept | {"COLUMNS": "200", "NO_COLOR": "1"} | more


def proctor(
    *arguments: str | Path,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run the command to its end."""
    return subprocess.run(
        [COMMAND, *map(str, arguments)], input=stdin, capture_output=True, timeout=PATIENCE,
        env=environment(**(env or {})),
    )  # fmt: skip


def write_rows(path: Path, rows: list[Any]) -> Path:
    """A JSONL file; a row that is a string already is written as it is."""
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("".join(line + "\n" for line in lines))
    return path


def problem(question_id: str, tests: list[tuple[str, str]], **more: Any) -> dict[str, Any]:
    """A row of a LiveCodeBench file."""
    cases = [{"input": a, "output": b, "testtype": "stdin"} for a, b in tests]
    return {"question_id": question_id, "public_test_cases": json.dumps(cases)} | more
