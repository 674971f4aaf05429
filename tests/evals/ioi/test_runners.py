"""Someone else's sandbox: here callables."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import ioi_task
from proctor.errors import InfraFault, InputError
from proctor.evals.ioi import feedback, runners
from proctor.formats.ioi_rows import IoiTask, load_tasks
from proctor.program import Program
from proctor.verdict import Verdict

PROGRAM = Program("the code", "cpp17")


@pytest.fixture
def task(tmp_path: Path) -> IoiTask:
    directory = ioi_task.write_tasks(tmp_path / "tasks")
    return load_tasks([directory / "subtasks.jsonl"], [directory / "test_cases.jsonl"])[
        2024, "double"
    ]


class Table:
    """A runner that answers by the test's input, and remembers what it was asked."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def __call__(
        self, problem: Mapping[str, Any], test_input: str, submission: str, test_output: str | None
    ) -> Any:
        assert submission == "the code"
        assert test_output == f"{2 * int(test_input)}\n"
        assert problem["id"] == "double"
        self.asked.append(test_input.strip())
        return self.answers.get(test_input.strip(), ("1", feedback.RIGHT))


def test_every_test_once_and_points_are_added_up(task: IoiTask) -> None:
    table = Table({str(10**12): ("0.25", "a quarter")})
    got = runners.ForeignGrade(table, "table")(task, PROGRAM, None)
    assert table.asked == ["3", "0", "99", str(10**12)]
    assert [result.points for result in got.subtasks] == [0, 40, 15]
    assert (got.points, got.verdict, "table" in got.integrity) == (55, Verdict.PA, True)


def test_what_cannot_change_a_score_is_not_run(task: IoiTask) -> None:
    table = Table({"0": ("0", feedback.TIME)})
    got = runners.ForeignGrade(table, "table")(task, PROGRAM, None)
    assert table.asked == ["3", "0"]
    assert [result.verdict for result in got.subtasks] == [Verdict.AC, Verdict.TLE, Verdict.TLE]


def test_only_the_target(task: IoiTask) -> None:
    table = Table({})
    got = runners.ForeignGrade(table, "table")(task, PROGRAM, ("1-small",))
    assert (table.asked, got.points, got.of) == (["0", "99"], 40, 40)


def test_what_does_not_compile_is_asked_once(task: IoiTask) -> None:
    table = Table({"3": ("0", "Compilation error exit code 1\noh")})
    got = runners.ForeignGrade(table, "table")(task, PROGRAM, None)
    assert (table.asked, got.verdict, got.compiled, got.points) == (["3"], Verdict.CE, False, 0)


def test_awaitables_are_awaited(task: IoiTask) -> None:
    async def run(
        _problem: Any, test_input: str, _code: str, _answer: str | None
    ) -> tuple[str, str]:
        return "1.0", test_input

    assert runners.ForeignGrade(run, "later")(task, PROGRAM, None).points == 100


@pytest.mark.parametrize(
    "answer", [None, ("1",), ("much", ""), ("1\n2", ""), ("7", ""), ("nan", "")]
)
def test_a_bad_answer_is_a_fault_and_no_score(task: IoiTask, answer: Any) -> None:
    with pytest.raises(InfraFault, match="table: test 0-1"):
        runners.ForeignGrade(Table({"3": answer}), "table")(task, PROGRAM, None)


def test_an_error_is_a_fault_and_no_score(task: IoiTask) -> None:
    def run(*_: Any) -> tuple[str, str]:
        raise ConnectionError("no sandbox")

    with pytest.raises(InfraFault, match="no sandbox"):
        runners.ForeignGrade(run, "gone")(task, PROGRAM, None)


@pytest.mark.parametrize(
    ("score", "said", "verdict"),
    [
        (1, "", "AC"), (0.5, "", "PA"), (0, "Compilation error exit code 1", "CE"), (0, feedback.MEMORY, "MLE"),
        (0, feedback.TIME, "TLE"), (0, feedback.WRONG, "WA"), (0, "Runtime error with exit code 139", "RE"),
        (0, feedback.UNKNOWN, "RE"), (0, "", "RE"), (0, "3rd lines differ", "WA"),
    ],
)  # fmt: skip
def test_feedback_is_read(score: float, said: str, verdict: str) -> None:
    assert feedback.verdict_of(score, said) == verdict


def test_callables_are_found_by_name() -> None:
    assert runners.load("json:dumps") is json.dumps
    for name in ("nowhere:f", "json:nothing", "json", ":f", "json:__doc__"):
        with pytest.raises(InputError):
            runners.load(name)
