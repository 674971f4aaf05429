"""Solvers through `proctor daemon`: by method, by Tack's messages, and two hundred at once."""

import json
import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from daemon_process import Spoken, marker, speaking, until_carried
from packing import BROKEN, CP_SAT, FOREVER, GIVEN, HEAD, LOST, PLAIN, asked, typed

pytestmark = pytest.mark.namespaces


@pytest.fixture(scope="module")
def daemon() -> Iterator[Spoken]:
    with speaking("--cells", "2", "--no-hello") as spoken:
        yield spoken
        assert spoken.rest() == []
        assert spoken.process.returncode == 0


def until(daemon: Spoken, name: str, event: str) -> dict[str, Any]:
    """Read until this request tells of such an event."""
    while True:
        message = daemon.read()
        progress = message.get("progress", message)
        if message["id"] == name and progress.get("event") == event:
            return progress


@pytest.mark.slow
def test_a_method_tells_of_incumbents_and_is_called_off(daemon: Spoken) -> None:
    found = daemon.ask("solve", **asked(CP_SAT, workers=1))["result"]
    assert (found["status"], found["accepted"]) == ("optimal", True)
    daemon.send({"id": "long", "method": "solve", "params": asked(FOREVER)})
    assert until(daemon, "long", "incumbent")["incumbent"]["objective"] == 3.0
    daemon.send({"id": "off", "method": "cancel", "params": {"id": "long"}})
    found = daemon.answer("long")["result"]
    assert (found["status"], found["partial"]["valid"]) == ("cancelled", True)
    assert daemon.answer("off")["result"] == {"cancelled": True}
    error = daemon.ask("solve", **asked(PLAIN, profile="no such"))["error"]
    assert (error["status"], error["field"]) == (422, "profile")


def test_messages_without_ids_are_answered_in_order(daemon: Spoken, tmp_path: Path) -> None:
    (tmp_path / "input.json").write_text(json.dumps(GIVEN))
    from_file = typed(HEAD + "print(os.environ['SOLVER_WORKERS'])\nput('result.json', alone)")
    del from_file["input"]
    daemon.send(
        {"type": "execute", **from_file, "jobDir": str(tmp_path), "solverWorkers": 1.9},
        {"type": "syntax-check", "code": "def f(:", "profile": "packing"},
        {"type": "syntax-check", "code": "x = 1", "profile": "packing"},
        {"type": "ast-check", "code": "return", "profile": "packing"},
        {"type": "syntax-check", "code": "return", "profile": "packing"},
        {"type": "ast-check", "code": "(" * 100_000, "profile": "packing"},
        {"type": "syntax-check", "code": "\0", "profile": "packing"},
        {"type": "execute", **typed(" ")},
        {"type": "execute", **typed("def f(:")},
        {"type": "execute", **typed("1", timeoutMs=-1)},
        {"type": "fly"},
        {"type": "ping"},
        {"type": "hello"},
    )
    solved, *checks, empty, broken, timeout, unknown, ping, hello = (
        daemon.read() for _ in range(13)
    )
    assert (solved["phase"], solved["ok"], solved["status"]) == ("run", True, "feasible")
    assert solved["resultData"]["bins"] == [["a"], ["b"], ["c"]]
    assert solved["stdout"] == "1"
    assert solved["resultPath"] is None
    assert [each["ok"] for each in checks] == [False, True, True, False, False, False]
    assert "SyntaxError" in checks[0]["error"]
    assert checks[1] == {"ok": True, "error": None}
    assert (empty["phase"], empty["errorDigest"]) == ("parse", "No code in job.")
    assert (broken["phase"], broken["status"], broken["ok"]) == ("compile", "crashed", False)
    assert "timeoutMs" in timeout["errorDigest"]
    assert unknown["errorDigest"].startswith("JSON decode error")
    assert (unknown["phase"], unknown["status"]) == ("parse", "crashed")
    assert ping == {"ok": True, "waiting": 0, "running": 0}
    assert hello["protocol"] == 1


def test_tacks_default_input_has_no_instance_to_check(daemon: Spoken) -> None:
    code = (
        "import json\nassert json.load(open('input.json')) == {}\n"
        "entry = {'assignmentId': 'a', 'class': '6A', 'day': 'Mon', 'period': 1, 'subject': 'x', 'teacher': 'y'}\n"
        "json.dump({'status': 'OPTIMAL', 'schedule': [entry]}, open('result.json', 'w'))\n"
    )
    daemon.send({"type": "execute", "code": code})
    found = daemon.read()
    assert (found["phase"], found["status"], found["ok"]) == ("run", "optimal", True), found
    assert (found["accepted"], found["validation"]) == (False, None)
    daemon.send({"type": "execute", "code": code, "input": {"days": []}})
    found = daemon.read()
    assert (found["phase"], found["statusDetail"]) == ("parse", "invalid_input")


@pytest.mark.parametrize("line", [b"garbage", b"[1]", b'{"type": ', b"\xff"])
def test_a_line_that_is_no_message_is_answered_in_both_forms(daemon: Spoken, line: bytes) -> None:
    daemon.send(line)
    found = daemon.read()
    assert (found["phase"], found["status"], found["ok"]) == ("parse", "crashed", False)
    assert found["errorDigest"].startswith("JSON decode error: ")
    assert (found["id"], found["error"]["code"]) == (None, "bad-input")


@pytest.mark.parametrize(
    ("code", "phase", "status", "says"),
    [
        ("while True: pass", "run", "timeout", "timed out after 1s"),
        ("sys.exit('it timed out, it says')", "run", "crashed", "it timed out"),
        ("", "parse", "crashed", "was not generated"),
        ("open('result.json', 'w').write('{\"status\": NaN}')", "parse", "crashed", "NaN"),
        ("os.symlink('/etc/passwd', 'result.json')", "parse", "crashed", "cannot be read"),
        ("os.mkfifo('result.json')", "parse", "crashed", "is not a regular file"),
        ("put('result.json', [])", "run", "infeasible", ""),
        ("put('result.json', alone, 'WHO KNOWS')", "run", "unknown", ""),
        ("put('result.json', alone); sys.exit(3)", "run", "crashed", "3"),
    ],
)
def test_what_becomes_of_a_solver_is_said_in_tacks_words(
    daemon: Spoken, code: str, phase: str, status: str, says: str
) -> None:
    seconds = 1 if status == "timeout" else 100
    message = {"type": "execute", **typed(HEAD + code), "timeoutSeconds": seconds}
    del message["timeoutMs"]
    daemon.send(message)
    answer = daemon.read()
    assert (answer["phase"], answer["status"], answer["ok"]) == (phase, status, False)
    assert says in answer["errorDigest"]


def test_time_is_over_with_a_solution(daemon: Spoken) -> None:
    daemon.send({"type": "execute", **typed(FOREVER, timeoutMs=3000)})
    answer = daemon.read()
    assert (answer["status"], answer["ok"], answer["errorDigest"]) == ("timeout", True, "")
    assert answer["resultData"]["bins"] == [["a"], ["b"], ["c"]]
    assert answer["partial"]["valid"] is True


@pytest.mark.parametrize("program", [LOST, BROKEN])
def test_the_best_is_the_answer_whatever_came_after_it(daemon: Spoken, program: str) -> None:
    daemon.send({"type": "execute", **typed(program)})
    answer = daemon.read()
    assert (answer["status"], answer["ok"], answer["accepted"]) == ("feasible", True, True)
    assert answer["resultData"]["bins"] == [["a", "b"], ["c"]]
    assert answer["answer"]["data"] == answer["resultData"]
    assert answer["validation"]["ok"] is True


def test_inputs_that_are_no_plain_files_are_refused(daemon: Spoken, tmp_path: Path) -> None:
    message = {"type": "execute", "code": "pass", "profile": "packing", "jobDir": str(tmp_path)}
    os.mkfifo(tmp_path / "input.json")
    daemon.send(message)
    assert "is not a regular file" in daemon.read()["errorDigest"]
    os.unlink(tmp_path / "input.json")
    os.symlink("/etc/passwd", tmp_path / "input.json")
    daemon.send(message)
    assert "cannot be read" in daemon.read()["errorDigest"]


@pytest.mark.slow
def test_messages_with_ids_are_answered_as_they_end(daemon: Spoken) -> None:
    daemon.send({"id": "long", "type": "execute", **typed(FOREVER)})
    until(daemon, "long", "incumbent")
    daemon.send({"id": 7, "type": "execute", **typed(PLAIN)}, {"id": "p", "type": "ping"})
    assert daemon.answer("p")["ok"] is True
    while (quick := daemon.answer(7))["type"] != "result":
        assert quick["event"] in {"started", "incumbent"}
    assert (quick["ok"], quick["status"]) == (True, "feasible")
    daemon.send({"id": "long", "type": "cancel"})
    long = daemon.answer("long")
    assert (long["type"], long["status"], long["statusDetail"]) == (
        "result",
        "crashed",
        "cancelled",
    )
    assert long["partial"]["valid"] is True
    daemon.send({"id": "long", "type": "cancel"})
    assert daemon.answer("long")["error"] == "no such job"


LEAVES = """
if os.fork() == 0:
    os.setsid()
    os.execv("/bin/sleep", [given["mark"], "1000"])
"""
HOSTILE = {
    "loop": ("put('inc_1.json', alone)\nwhile True: pass", 0.3),
    "bomb": ("n = 0\nwhile n < 64:\n    n += 1\n    os.fork()\n", 30),
    "fifo": ("os.mkfifo('result.json')", 30),
    "noise": ("sys.stdout.buffer.write(b'\\xff{\\n' * 100000)\nput('result.json', alone)", 30),
    "deaf": ("signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass", 0.3),
}
ENDS = {
    "loop": {"timeout"}, "deaf": {"timeout"}, "fifo": {"crashed"}, "noise": {"feasible"},
    "bomb": {"crashed", "timeout"},
}  # fmt: skip


def mixed(number: int, mark: str) -> tuple[str, dict[str, Any]]:
    """The kind of a job, and what is asked for: its item says which job it is."""
    given = {"capacity": 9, "items": [{"id": f"item {number}", "size": 1}], "mark": mark}
    kind = {0: "solver", 1: "cancelled", 2: "hostile"}.get(number % 10, "plain")
    if kind == "hostile":
        kind = "deaf" if number == 2 else list(HOSTILE)[number // 10 % 4]
        code, timeout = HOSTILE[kind]
        return kind, asked(HEAD + LEAVES + code, given, timeout=timeout)
    if kind == "cancelled":
        return kind, asked(HEAD + LEAVES + FOREVER.removeprefix(HEAD), given)
    return kind, asked(CP_SAT if kind == "solver" else PLAIN, given)


@pytest.mark.slow
def test_two_hundred_at_once_none_lost_none_crossed_nothing_left(daemon: Spoken) -> None:
    mark = marker()
    jobs = [mixed(number, mark) for number in range(200)]
    for number, (_, params) in enumerate(jobs):
        daemon.send({"id": number, "method": "solve", "params": params})
    answers: dict[int, dict[str, Any]] = {}
    acknowledged = 0
    while len(answers) < len(jobs) or acknowledged < 20:
        message = daemon.read()
        name = message["id"]
        if isinstance(name, str):
            acknowledged += 1
        elif "progress" not in message:
            assert name not in answers
            answers[name] = message["result"]
        elif message["progress"]["event"] == "incumbent" and jobs[name][0] == "cancelled":
            until_carried(mark)
            daemon.send({"id": f"off {name}", "method": "cancel", "params": {"id": name}})
    for number, (kind, _) in enumerate(jobs):
        found = answers[number]
        item = [[f"item {number}"]]
        if kind in HOSTILE:
            assert found["status"] in ENDS[kind], found
        elif kind == "cancelled":
            assert (found["status"], found["partial"]["data"]["bins"]) == ("cancelled", item), found
        else:
            assert (found["ok"], found["resultData"]["bins"]) == (True, item), found
    assert Counter(kind for kind, _ in jobs)["cancelled"] == 20
    assert daemon.ask("ping")["result"] == {"waiting": 0, "running": 0}
    until_carried(mark, 0)


@pytest.mark.slow
def test_told_to_stop_it_ends_solvers_too() -> None:
    mark = marker()
    forever = HEAD + LEAVES + FOREVER.removeprefix(HEAD)
    with speaking("--cells", "1", "--no-hello") as spoken:
        given = {**GIVEN, "mark": mark}
        for name in "ab":
            spoken.send({"id": name, "method": "solve", "params": asked(forever, given)})
        until(spoken, "a", "incumbent")
        until_carried(mark)
        spoken.process.send_signal(signal.SIGTERM)
        told = {each["id"]: each["result"] for each in spoken.rest() if "result" in each}
        assert spoken.process.returncode == 0
    assert {each["status"] for each in told.values()} == {"cancelled"}
    assert (told["a"]["partial"]["valid"], told["b"]["partial"]["available"]) == (True, False)
    until_carried(mark, 0)
