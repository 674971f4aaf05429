"""The names that are promised, and that nothing else is offered."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import proctor

NAMES = [
    "AgenticAdapter",
    "Background",
    "BenchmarkAdapter",
    "Budgets",
    "EvalRun",
    "Execution",
    "Guarantee",
    "Incumbent",
    "InfraFault",
    "InputError",
    "Isolation",
    "Journal",
    "JudgeSettings",
    "Judged",
    "Judgement",
    "LimitHit",
    "Limits",
    "Message",
    "NoIsolation",
    "Outcome",
    "PlatformError",
    "Pool",
    "Problem",
    "ProctorError",
    "Program",
    "Session",
    "SessionEnded",
    "SolveEnvelope",
    "Solved",
    "SolverHost",
    "Strength",
    "Test",
    "TestResult",
    "UsageError",
    "Verdict",
    "convert_package",
    "judge",
    "judge_async",
    "judge_many",
    "judge_many_async",
    "load_package",
    "load_problems",
    "open_pool",
    "open_run",
    "open_session",
    "pass_at_k",
    "run",
    "run_async",
    "run_benchmark",
    "solve",
    "solve_async",
    "solve_instances",
    "solve_stream",
]


def test_they_are_as_they_were() -> None:
    """To add one is to promise it; to remove one takes a deprecation first."""
    assert sorted(proctor.__all__) == NAMES


def test_dir_and_completion_show_them_and_nothing_else() -> None:
    assert dir(proctor) == sorted([*NAMES, "__version__"])
    # Also after all were used, and submodules imported.
    for name in NAMES:
        getattr(proctor, name)
    assert dir(proctor) == sorted([*NAMES, "__version__"])


def test_what_a_checker_of_types_is_told_is_there() -> None:
    tree = ast.parse(Path(proctor.__file__).read_text())
    told = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    inside = {"import_module", "spec_of"}  # of functions
    assert {name for name in told if not name.startswith("_")} == {*NAMES, *inside}


def test_no_other_name_looks_public() -> None:
    """Jedi, which IPython asks, reads the file itself."""
    code = "import proctor; print(*[name for name in vars(proctor) if name[0] != '_'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = done.stdout.split()
    assert set(found) <= {"version"}  # a submodule that is loaded


@pytest.mark.parametrize("name", ["errors", "grading", "problem", "limits", "reports.figures"])
def test_submodules_stay_importable(name: str) -> None:
    assert import_module(f"proctor.{name}").__name__ == f"proctor.{name}"


def test_a_name_that_is_not_there_is_said_to_be_missing() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'jugde'"):
        proctor.jugde  # type: ignore[attr-defined]  # noqa: B018
