"""Someone else's sandbox: here callables, and a server that answers as a Piston does."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import stamina

import ioi_task
from proctor.errors import InfraFault, InputError
from proctor.evals.ioi import feedback, runners
from proctor.evals.ioi.piston import ATTEMPTS, Piston
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


@contextmanager
def piston(answers: list[tuple[int, Any]]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server that gives these answers in turn, the last again and again."""
    seen: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            assert self.path == "/api/v2/execute"
            seen.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            status, content = answers[min(len(seen), len(answers)) - 1]
            data = json.dumps(content).encode() if content is not None else b""
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        with stamina.set_testing(True, attempts=ATTEMPTS):
            yield f"http://127.0.0.1:{server.server_port}/api/v2", seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def ran(
    stdout: str = "", stderr: str = "", code: int | None = 0, signal: str | None = None
) -> dict[str, Any]:
    stage = {
        "stdout": stdout,
        "stderr": stderr,
        "output": stdout + stderr,
        "code": code,
        "signal": signal,
    }
    compiled = {"stdout": "", "stderr": "", "code": 0, "signal": None}
    return {"language": "cms_ioi", "version": "1.0.0", "compile": compiled, "run": stage}


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (ran("1\n", "fine"), ("1\n", "fine")),
        (ran("0", feedback.TIME, 1), ("0", feedback.TIME)),
        (ran("", "MemoryError: x", 1), ("0", feedback.MEMORY)),
        (ran(code=None, signal="SIGKILL"), ("0", feedback.TIME)),
        (ran(), ("0", feedback.UNKNOWN)),
        ({"compile": {"code": 1, "stderr": "oh"}}, ("0", "Compilation error exit code 1\noh")),
        (
            {"compile": {"code": None, "stderr": ""}, "run": None},
            ("0", "Compilation error exit code None\n"),
        ),
    ],
)
def test_answers_of_a_piston(answer: dict[str, Any], outcome: tuple[str, str]) -> None:
    row = ioi_task.subtask_rows()[0]
    with piston([(200, answer)]) as (url, seen), Piston(url) as run:
        assert run(row, "3\n", "the code", "6\n") == outcome
    files = {each["name"]: each["content"] for each in seen[0]["files"]}
    assert files["graders/double.cpp"] == "the code"
    assert (files["input.txt"], files["correct_output.txt"]) == ("3\n", "6\n")
    assert "graders/grader.cpp" in files
    assert (seen[0]["language"], seen[0]["run_timeout"], seen[0]["run_memory_limit"]) == (
        "cms_ioi",
        3500,
        256 << 20,
    )


def test_a_piston_that_recovers_is_asked_again() -> None:
    bad = [
        (500, None),
        (429, {}),
        (200, {"message": "busy"}),
        (200, ran("", "Resource temporarily unavailable", 1)),
    ]
    with piston([*bad, (200, ran("1"))]) as (url, seen), Piston(url) as run:
        assert run(ioi_task.subtask_rows()[0], "", "x", None) == ("1", "")
    assert len(seen) == 5
    assert {"name": "input.txt", "content": ""} in seen[0]["files"]


@pytest.mark.parametrize(
    "answer",
    [
        (500, None),
        (200, None),
        (200, {"message": "no"}),
        (200, {}),
        (200, ran(code=2)),
        (400, {"message": "X"}),
    ],
)
def test_a_piston_that_does_not_is_a_fault_and_no_score(answer: tuple[int, Any]) -> None:
    with (
        piston([answer]) as (url, _seen),
        Piston(url) as run,
        pytest.raises(InfraFault, match="execute"),
    ):
        run(ioi_task.subtask_rows()[0], "3\n", "x", "6\n")


def test_no_piston_at_all() -> None:
    with piston([(200, ran("1"))]) as (url, _seen):
        pass
    with stamina.set_testing(True, attempts=2), Piston(url) as run, pytest.raises(InfraFault):
        run(ioi_task.subtask_rows()[0], "3\n", "x", "6\n")
