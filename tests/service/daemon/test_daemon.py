"""`proctor daemon`: lines in, lines out, whatever comes; nothing stays behind."""

import signal
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from daemon_process import Spoken, marker, speaking, tree, until_carried
from waiting import PATIENCE

PRINTING = """
import os, warnings
from proctor.service.http.native import convert
real = convert.run_request
def run_request(asked):
    print("a stray print")
    os.write(1, b"and one below Python\\n")
    warnings.warn("and a warning")
    return real(asked)
convert.run_request = run_request
from proctor.cli.main import main
main()
"""
DEEP = b'{"id": "deep", "method": "run", "params": ' + b"[" * 200_000 + b"}"


@pytest.fixture(scope="module")
def daemon() -> Iterator[Spoken]:
    with speaking("--cells", "2", "--max-line", "1M") as spoken:
        assert spoken.read()["hello"]["protocol"] == 1
        yield spoken
        told = spoken.rest()
        assert told == []
        assert spoken.process.returncode == 0


def run(source: str, **more: Any) -> dict[str, Any]:
    return {"program": {"source": source}, **more}


def test_a_run_and_a_judgement(daemon: Spoken) -> None:
    answer = daemon.ask("run", **run("print(input() * 2)", stdin="ab"))
    assert answer["result"]["verdict"] == "OK"
    assert answer["result"]["execution"]["stdout"]["text"] == "abab\n"
    assert answer["result"]["isolation"] == daemon.ask("hello")["result"]["isolation"]
    tests = [{"input": "1", "output": "2"}, {"input": "5", "output": "7"}]
    program = {"source": "print(int(input()) + 1)"}
    daemon.send(
        {"id": 7, "method": "judge", "params": {"program": program, "problem": {"tests": tests}}}
    )
    told = [daemon.read() for _ in range(4)]
    assert [each["id"] for each in told] == [7] * 4
    assert told[0]["progress"] == {"event": "started"}
    assert [each["progress"]["test"]["verdict"] for each in told[1:3]] == ["AC", "WA"]
    assert told[3]["result"]["verdict"] == "WA"
    assert told[3]["result"]["score"] == 0.5


def test_answers_come_as_jobs_end_and_cancelling_ends_all_of_a_job(daemon: Spoken) -> None:
    mark = marker()
    daemon.send({"id": "slow", "method": "run", "params": tree(mark)})
    until_carried(mark, 3)
    assert daemon.ask("run", "quick", **run("print(1)"))["result"]["verdict"] == "OK"
    twice = {"id": "slow", "method": "ping"}
    daemon.send(twice)
    assert "belongs to a request" in daemon.answer(None)["error"]["title"]
    daemon.send({"id": "off", "method": "cancel", "params": {"id": "slow"}})
    assert daemon.answer("slow")["error"]["code"] == "cancelled"
    assert daemon.answer("off")["result"] == {"cancelled": True}
    until_carried(mark, 0)
    assert daemon.ask("cancel", id="slow")["result"] == {"cancelled": False}


@pytest.mark.parametrize(
    ("line", "name", "code", "says"),
    [
        (b"run it", None, "bad-input", "malformed"),
        (b"[]", None, "bad-input", "Expected `object`"),
        (b'{"id": "\xff"}', None, "bad-input", ""),
        (DEEP, "deep", "bad-input", ""),
        (b'{"id": 1.5, "method": "ping"}', 1.5, "bad-input", "Expected `int | str"),
        (b'{"id": "h", "method": "run", "params": {"x": }', "h", "bad-input", "malformed"),
        (b'{"params": {"x": NaN}, "method": "run", "id": "i"}', "i", "bad-input", ""),
        (b'[{"id": "j"}, 1]', "j", "bad-input", "Expected `object`"),
        (b'{"id": {}, "method": "ping"}', None, "bad-input", "Expected `int | str"),
        (b'{"method": "ping"}', None, "usage", "`id`"),
        (b'{"id": "u", "method": "fly"}', "u", "usage", "'fly'"),
        (b'{"id": "m"}', "m", "usage", "None"),
        (b'{"id": "r", "method": "run"}', "r", "bad-input", "`program`"),
        (b'{"id": "n", "pad": "' + b"x" * (3 << 20) + b'"}', "n", "too-large", "1048576 bytes"),
        (b'{"pad": "' + b"x" * (3 << 20) + b'", "id": "n"}', None, "too-large", "1048576 bytes"),
    ],
)  # fmt: skip
def test_a_bad_line_is_answered_and_harms_nobody(
    daemon: Spoken, line: bytes, name: str | float | None, code: str, says: str
) -> None:
    daemon.send(b"", line, b"  ")
    error = daemon.answer(name)["error"]
    assert error["code"] == code
    assert says in error["title"]
    assert daemon.ask("ping")["result"]["waiting"] == 0


def test_what_a_request_gets_wrong_is_named(daemon: Spoken) -> None:
    error = daemon.ask("run", **run("1", limits={"cpu": -1}))["error"]
    assert (error["code"], error["field"]) == ("bad-input", "params.limits.cpu")
    assert daemon.ask("run", program={"source": "", "language": "cobol"})["error"]["status"] == 422


def test_languages_and_capabilities(daemon: Spoken) -> None:
    assert "python" in {each["id"] for each in daemon.ask("languages")["result"]}
    found = daemon.ask("capabilities")["result"]
    assert found["places"] == 2
    assert found["guarantees"]["network"]["how"]


def test_only_the_protocol_is_on_stdout() -> None:
    with speaking("daemon", command=[sys.executable, "-c", PRINTING]) as spoken:
        assert "hello" in spoken.read()
        assert spoken.ask("run", **run("print(1)"))["result"]["verdict"] == "OK"
        assert spoken.rest() == []
        assert spoken.process.stderr is not None
        said = spoken.process.stderr.read().decode()
    assert "a stray print" in said
    assert "and one below Python" in said
    assert "and a warning" in said


def test_at_the_end_of_stdin_what_was_asked_for_is_answered() -> None:
    with speaking("--cells", "1", "--no-hello") as spoken:
        spoken.send(*({"id": n, "method": "run", "params": run(f"print({n})")} for n in range(20)))
        answers = {each["id"]: each["result"] for each in spoken.rest() if "result" in each}
        assert spoken.process.returncode == 0
    texts = {n: answer["execution"]["stdout"]["text"] for n, answer in answers.items()}
    assert texts == {n: f"{n}\n" for n in range(20)}


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_told_to_stop_it_calls_all_off(number: signal.Signals) -> None:
    mark = marker()
    with speaking("--cells", "1") as spoken:
        spoken.send(*({"id": n, "method": "run", "params": tree(mark)} for n in "ab"))
        until_carried(mark, 3)
        spoken.process.send_signal(number)
        told = [each for each in spoken.rest() if "error" in each]
        assert spoken.process.returncode == 0
    assert {each["id"]: each["error"]["code"] for each in told} == dict.fromkeys("ab", "cancelled")
    until_carried(mark, 0)


def test_without_a_reader_it_calls_all_off() -> None:
    mark = marker()
    with speaking() as spoken:
        spoken.send({"id": "a", "method": "run", "params": tree(mark)})
        until_carried(mark, 3)
        assert spoken.process.stdout is not None
        spoken.process.stdout.close()
        spoken.process.wait(PATIENCE)
    until_carried(mark, 0)


def test_killed_it_leaves_no_process_of_a_cell() -> None:
    mark = marker()
    with speaking() as spoken:
        spoken.send({"id": "a", "method": "run", "params": tree(mark)})
        until_carried(mark, 3)
        spoken.process.kill()
        spoken.process.wait(PATIENCE)
        until_carried(mark, 0)


def test_without_isolation_it_says_so_first() -> None:
    with speaking("--isolation", "wishful") as spoken:
        assert spoken.read()["error"]["code"] == "bad-settings"
        assert spoken.rest() == []
        assert spoken.process.returncode == 2
