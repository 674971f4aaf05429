"""Builds the bundled LiveCodeBench-style set from its readable sources.

    python tools/build_bundled.py           writes src/proctor/bundled/{problems,programs}.jsonl
    python tools/build_bundled.py --check   writes nothing; exit code 1 if a file is not up to date

Sources: one folder per problem, `tools/bundled/<question_id>/`, with `problem.toml` (statement,
tests, and for each program the verdicts it must get) and five programs: right, wrong, slow, crash,
cheat. The folder's name is the question_id; folders in order of name are in order of contest_date.

Before anything is written, right.py is run on every test in this process and must print (return)
the expected output, so a slip in a source never reaches the wheel. The result is the same byte for
byte whenever and wherever it is built.

The slow programs must be too slow on the first test already: judging stops there, and the demo
waits for one time limit per program, not for seven.
"""

import argparse
import base64
import contextlib
import io
import json
import pickle  # banned elsewhere; upstream's rows are pickled, and this only writes them
import runpy
import sys
import tomllib
import zlib
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "tools" / "bundled"
TARGET = ROOT / "src" / "proctor" / "bundled"
PROGRAMS = ("right", "wrong", "slow", "crash", "cheat")
PUBLIC, PRIVATE = 2, 4  # public tests of a problem, exactly, and private ones, at least
FIXTURE_SIZE = 4


class Source(NamedTuple):
    """One problem's folder."""

    folder: Path
    config: dict[str, Any]

    @property
    def tests(self) -> list[dict[str, Any]]:
        """Tests in judging order: public ones first, as upstream orders them."""
        tests: list[dict[str, Any]] = self.config["tests"]
        return sorted(tests, key=lambda test: not test.get("public", False))

    @property
    def function(self) -> str | None:
        """Name of the function to call; None for a stdin/stdout problem."""
        name: str | None = self.config.get("function")
        return name


def read_sources() -> list[Source]:
    """All problems in order of question_id. Raises SystemExit if they break a rule of the set."""
    sources = [
        Source(path.parent, tomllib.loads(path.read_text(encoding="utf-8")))
        for path in sorted(SOURCES.glob("*/problem.toml"))
    ]
    dates = [date.fromisoformat(source.config["contest_date"]) for source in sources]
    _require(dates == sorted(dates), "contest dates are not in the order of the folders")
    fixture = [source for source in sources if source.config.get("subset") == "fixture"]
    _require(len(fixture) == FIXTURE_SIZE, f"{len(fixture)} problems in the subset `fixture`")
    for source in sources:
        public = sum(test.get("public", False) for test in source.tests)
        name = source.folder.name
        _require(public == PUBLIC, f"{name}: {public} public tests, not {PUBLIC}")
        _require(len(source.tests) - public >= PRIVATE, f"{name}: too few private tests")
        check_right_program(source)
    return sources


def check_right_program(source: Source) -> None:
    """Runs right.py on every test. Raises SystemExit where it differs from the expected output."""
    program = str(source.folder / "right.py")
    for number, test in enumerate(source.tests):
        if source.function is None:
            captured = io.StringIO()
            fake_stdin = mock.patch("sys.stdin", io.StringIO(test["input"]))
            with fake_stdin, contextlib.redirect_stdout(captured):
                runpy.run_path(program, run_name="__main__")
            output = captured.getvalue()
        else:
            solution = runpy.run_path(program)["Solution"]()
            arguments = [json.loads(line) for line in test["input"].split("\n")]
            output = json.dumps(getattr(solution, source.function)(*arguments))
        _require(
            output == test["output"],
            f"{source.folder.name}, test {number}: "
            f"right.py gives {output!r}, not {test['output']!r}",
        )


def problem_row(source: Source) -> dict[str, str]:
    """One row of problems.jsonl: LiveCodeBench's fields, and `subset` where the problem has one."""
    config = source.config
    kind = "stdin" if source.function is None else "functional"
    public, private = (
        json.dumps(
            [
                {"input": test["input"], "output": test["output"], "testtype": kind}
                for test in source.tests
                if test.get("public", False) is wanted
            ]
        )
        for wanted in (True, False)
    )
    row = {
        "question_title": config["title"],
        "question_content": config["statement"].strip("\n"),
        "platform": config["platform"],
        "question_id": source.folder.name,
        "contest_id": config["contest_id"],
        "contest_date": f"{config['contest_date']}T00:00:00",
        "starter_code": config.get("starter_code", "").lstrip("\n"),
        "difficulty": config["difficulty"],
        "public_test_cases": public,
        "private_test_cases": compressed(private) if config.get("compressed") else private,
        "metadata": json.dumps({"func_name": source.function} if source.function else {}),
    }
    if "subset" in config:
        row["subset"] = config["subset"]
    return row


def compressed(text: str) -> str:
    """`text` as upstream packs private tests: base64(zlib(pickle(text))).

    Stored (level 0) and with a fixed pickle protocol, so that every zlib and every Python makes the
    same bytes.
    """
    return base64.b64encode(zlib.compress(pickle.dumps(text, protocol=4), 0)).decode("ascii")


def program_rows(source: Source) -> list[dict[str, Any]]:
    """A problem's rows of programs.jsonl: {question_id, code, label: {mode: verdict}, note}."""
    rows = []
    for name in PROGRAMS:
        about = source.config["programs"][name]
        rows.append(
            {
                "question_id": source.folder.name,
                "code": (source.folder / f"{name}.py").read_text(encoding="utf-8"),
                "label": {"standard": about["standard"], "official": about["official"]},
                "note": f"{name}: {about['note']}",
            }
        )
    return rows


def build() -> dict[Path, str]:
    """Contents of each file to write."""
    sources = read_sources()
    rows = {
        TARGET / "problems.jsonl": [problem_row(source) for source in sources],
        TARGET / "programs.jsonl": [row for source in sources for row in program_rows(source)],
    }
    return {path: "".join(json.dumps(row) + "\n" for row in of) for path, of in rows.items()}


def main() -> int:
    """Builds or checks; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, only compare")
    check: bool = parser.parse_args().check
    stale = False
    for path, text in build().items():
        name = path.relative_to(ROOT)
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            sys.stdout.write(f"{name} is up to date\n")
        elif check:
            stale = True
            sys.stdout.write(f"{name} is stale: run python tools/build_bundled.py\n")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            sys.stdout.write(f"{name} written: {text.count(chr(10))} rows\n")
    return int(stale)


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise SystemExit(f"tools/bundled: {message}")


if __name__ == "__main__":
    sys.exit(main())
