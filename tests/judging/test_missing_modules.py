"""Modules that programs lacked, and directories that have them."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from proctor.cli.main import app
from proctor.integrations import lcb_runner
from proctor.judging.missing_modules import MissingModules
from proctor.sandbox.pool import Pool

LACKED = "ModuleNotFoundError: No module named 'little_module'"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a directory beside proctor that has one module, which says when it is imported."""
    (tmp_path / "little_module.py").write_text("raise SystemExit('imported here')")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_counts(place: Path) -> None:
    found = MissingModules()
    assert (found.sentence, found.advice) == ("", "")
    found.add("RE", LACKED)
    assert found.advice == (
        f"1 program imports little_module, which cells do not have: --packages {place}"
    )
    found.add("RE", "Runtime Error", json.dumps({"error": repr(ModuleNotFoundError(LACKED[21:]))}))
    found.add("RE", "No module named 'pytest'")
    assert found.counts == {"little_module": 2, "pytest": 1}
    assert found.sentence == (
        "3 programs import little_module (2) or pytest (1), which cells do not have"
    )
    assert place == Path(found.places[0])
    assert "little_module" not in sys.modules


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        ("WA", LACKED),
        ("RE", "ModuleNotFoundError: No module named 'little_module.part'"),
        ("RE", "ModuleNotFoundError: No module named 'module_of_nobody'"),
        ("RE", "ModuleNotFoundError: No module named 'tkinter'"),
        ("RE", f"No module named '{'x' * 10_000}'"),
        ("RE", "No module named '../../etc'"),
    ],
)
def test_what_no_option_would_mend(verdict: str, said: str, place: Path) -> None:
    found = MissingModules()
    found.add(verdict, said)
    assert not found.counts


PROBLEM = {"question_id": "q", "platform": "atcoder", "starter_code": "", "metadata": "{}"}
TESTS = [{"input": "1\n", "output": "1", "testtype": "stdin"}]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["standard", "official"])
@pytest.mark.parametrize("inside", [False, True])
def test_judge_says_so_once(mode: str, inside: bool, place: Path) -> None:
    problems, programs = place / "problems.jsonl", place / "programs.jsonl"
    texts = {"public_test_cases": json.dumps(TESTS), "private_test_cases": "[]"}
    rest = {"question_title": "q", "question_content": "q", "contest_id": "c", "difficulty": "easy"}
    row = PROBLEM | texts | rest | {"contest_date": "2024-01-01T00:00:00"}
    problems.write_text(json.dumps(row) + "\n")
    code = "def f():\n    import little_module\nf()" if inside else "import little_module\nprint(1)"
    rows = [{"question_id": "q", "code": text} for text in (code, code, "print(1)")]
    programs.write_text("".join(json.dumps(each) + "\n" for each in rows))
    command = ["judge", "--problems", str(problems), "--programs", str(programs), "--mode", mode]
    done = CliRunner().invoke(app, [*command, "--json"])
    said = f"2 programs import little_module, which cells do not have: --packages {place}"
    assert done.stderr.count(said) == 1
    assert json.loads(done.stdout)["missing_modules"] == {"little_module": 2}


def test_the_metrics_warn(place: Path, pool: Pool) -> None:
    sample = {"input_output": json.dumps({"inputs": ["1"], "outputs": ["1"]})}
    lcb_runner.use_pool(pool)
    try:
        with pytest.warns(UserWarning, match=r"^1 program imports little_module.*use_pool\("):
            lcb_runner.codegen_metrics([sample], [["import little_module\nprint(1)", "print(1)"]])
    finally:
        lcb_runner.use_pool(None)
