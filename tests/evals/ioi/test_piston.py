"""Tests on one Piston and on many: what each gets, what becomes of those that fail."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import stamina
from fake_piston import BREAK, RUNTIMES, Answer, FakePiston, answering, ran

import ioi_task
from proctor.endpoints import Endpoints
from proctor.errors import InfraFault, InputError, Unauthorized, UsageError
from proctor.evals.ioi import feedback
from proctor.evals.ioi.piston import ATTEMPTS, Piston
from waiting import PATIENCE, until

ROW = ioi_task.subtask_rows()[0]
FINE: Answer = (200, ran("1", "fine"))
Start = Callable[..., FakePiston]


@pytest.fixture(autouse=True)
def no_waits() -> Iterator[None]:
    """Answers that are no results are asked for again at once."""
    with stamina.set_testing(True, attempts=ATTEMPTS):
        yield


@pytest.fixture
def start() -> Iterator[Start]:
    with ExitStack() as stack:
        yield lambda *answers, **more: stack.enter_context(
            answering(FakePiston(list(answers), **more))
        )


def on(*fakes: FakePiston, pause: float = 60.0, longest: float = 60.0, **more: Any) -> Piston:
    """A Piston that leaves alone those which fail, by default for longer than any test takes."""
    endpoints = Endpoints(first_pause=pause, longest_pause=longest)
    return Piston(",".join(fake.url for fake in fakes), endpoints=endpoints, **more)


def run(piston: Piston) -> tuple[str, str]:
    return piston(ROW, "3\n", "the code", "6\n")


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
def test_answers_of_a_piston(start: Start, answer: Any, outcome: tuple[str, str]) -> None:
    fake = start((200, answer))
    with on(fake) as piston:
        assert run(piston) == outcome
    (request,) = fake.seen
    files = {each["name"]: each["content"] for each in request["files"]}
    assert files["graders/double.cpp"] == "the code"
    assert (files["input.txt"], files["correct_output.txt"]) == ("3\n", "6\n")
    assert "graders/grader.cpp" in files
    assert (request["language"], request["run_timeout"], request["run_memory_limit"]) == (
        "cms_ioi",
        3500,
        256 << 20,
    )


def test_one_that_recovers_is_asked_again(start: Start) -> None:
    busy = ran("", "Resource temporarily unavailable", 1)
    bad = [(500, None), (429, {}), (200, {"message": "busy"}), (200, busy), (BREAK, None)]
    fake = start(*bad, (200, ran("1")))
    with on(fake, pause=0.001) as piston:
        assert piston(ROW, "", "x", None) == ("1", "")
    assert len(fake.seen) == 6
    assert {"name": "input.txt", "content": ""} in fake.seen[0]["files"]


@pytest.mark.parametrize(
    "answer",
    [
        (500, None),
        (429, {"message": "later"}),
        (404, {"message": "Not Found"}),
        (BREAK, None),
        (200, None),
        (200, b"<html>no</html>"),
        (200, b'{"more": ' + b"[" * 100_000),
        (200, {"message": "no"}),
        (200, {}),
        (200, ran(code=2)),
        (200, ran("", "Resource temporarily unavailable", 1)),
        (400, {"message": "X"}),
    ],
)
def test_one_that_does_not_do_its_part_is_a_fault_and_no_score(
    start: Start, answer: Answer
) -> None:
    fake = start(answer)
    with on(fake, patience=0) as piston, pytest.raises(InfraFault, match=fake.url):
        run(piston)


def test_what_breaks_one_goes_to_the_other_at_once(start: Start) -> None:
    for broken in ((BREAK, None), (500, None), (503, {}), (200, b"<html>")):
        bad, good = start(broken), start(FINE)
        with on(bad, good) as piston:
            for _ in range(4):
                assert run(piston) == ("1", "fine")
        assert (len(bad.seen), len(good.seen)) == (1, 4), broken


def test_one_that_is_gone_is_passed_over(start: Start) -> None:
    with answering(FakePiston([FINE])) as gone:
        pass
    good = start(FINE)
    with on(gone, good) as piston:
        assert [run(piston) for _ in range(3)] == [("1", "fine")] * 3
    assert len(good.seen) == 3


def test_after_its_pause_one_is_tried_and_then_gets_its_share(start: Start) -> None:
    first, second = start((500, None), FINE), start(FINE)
    with on(first, second, pause=0.001) as piston:
        for _ in range(20):
            run(piston)
            if len(first.seen) > 3:
                break
    assert len(first.seen) > 3


def test_retry_after_is_obeyed(start: Start) -> None:
    busy, good = start((429, {}), FINE, headers={"Retry-After": "30"}), start(FINE)
    with on(busy, good, pause=0.001) as piston:
        for _ in range(5):
            run(piston)
    assert (len(busy.seen), len(good.seen)) == (1, 5)


def test_a_test_that_breaks_every_piston_is_given_up(start: Start) -> None:
    fakes = [start((BREAK, None)) for _ in range(ATTEMPTS + 1)]
    with on(*fakes) as piston, pytest.raises(InfraFault, match="has been begun 6 times"):
        run(piston)
    assert sorted(len(fake.seen) for fake in fakes) == [0, *[1] * ATTEMPTS]


def test_a_refusal_needs_a_second_opinion(start: Start) -> None:
    strict, other = start((400, {"message": "run_timeout cannot exceed"})), start(FINE)
    with on(strict, other) as piston:
        for _ in range(4):
            assert run(piston) == ("1", "fine")
    assert len(other.seen) == 4
    refusing = [start((400, {"message": "the task is broken"})) for _ in range(3)]
    with on(*refusing) as piston, pytest.raises(InfraFault, match="broken.*; and .*broken"):
        run(piston)
    assert sorted(len(fake.seen) for fake in refusing) == [0, 1, 1]
    with on(refusing[0]) as piston, pytest.raises(InfraFault, match="the task is broken"):
        run(piston)


def test_a_second_opinion_is_waited_for(start: Start) -> None:
    gate = threading.Barrier(2)
    busy, strict = start(FINE, gate=gate), start((400, {"message": "too long"}))
    with on(busy, strict) as piston, ThreadPoolExecutor(2) as threads:
        first = threads.submit(run, piston)
        until(lambda: busy.seen)
        second = threads.submit(run, piston)
        until(lambda: (strict.seen and piston._waiting) or second.done())
        assert not second.done()
        busy.gate = None
        gate.wait(PATIENCE)
        assert first.result(PATIENCE) == second.result(PATIENCE) == ("1", "fine")
    assert (len(busy.seen), len(strict.seen)) == (2, 1)


@pytest.mark.parametrize("at_once", [1, 3])
def test_all_are_busy_at_the_same_time_and_none_with_more_than_it_takes(
    start: Start, at_once: int
) -> None:
    gate = threading.Barrier(2 * at_once)  # opens only when both have as many as they take
    fakes = [start(FINE, gate=gate) for _ in range(2)]
    with on(*fakes, at_once=at_once) as piston, ThreadPoolExecutor(20) as threads:
        assert piston.capacity() == 2 * at_once
        answers = list(threads.map(lambda _: run(piston), range(6 * at_once)))
    assert answers == [("1", "fine")] * 6 * at_once
    assert [(len(fake.seen), fake.most) for fake in fakes] == [(3 * at_once, at_once)] * 2


def test_when_all_are_down_for_too_long_each_is_named_with_its_last_error(start: Start) -> None:
    fakes = [start((500, {"message": "no space"})), start((BREAK, None))]
    with answering(FakePiston([FINE])) as gone:
        pass
    with on(*fakes, gone, patience=0.05) as piston:
        with pytest.raises(InfraFault) as caught:
            run(piston)
        said = str(caught.value)
        assert f"{fakes[0].url}: status 500 " in said
        assert "no space" in said
        assert f"{fakes[1].url}: RemoteProtocolError: Server disconnected" in said
        assert f"{gone.url}: ConnectError: [Errno 111] Connect call failed" in said
        begun = [len(fake.seen) for fake in fakes]
        with pytest.raises(InfraFault, match="no Piston has been well for"):
            run(piston)
        assert [len(fake.seen) for fake in fakes] == begun, "they have a pause"


def test_what_waits_ends_with_the_run(start: Start) -> None:
    bad = start((500, None))
    ended: list[Exception] = []

    def wait(piston: Piston) -> None:
        try:
            run(piston)
        except InfraFault as error:
            ended.append(error)

    with on(bad) as piston:
        waiting = threading.Thread(target=wait, args=(piston,))
        waiting.start()
        until(lambda: piston._endpoints.down_since is not None)
    waiting.join(PATIENCE)
    assert [str(error) for error in ended] == ["the run has ended"]


@pytest.mark.parametrize(
    ("runtimes", "kind", "said"),
    [
        ((404, {"message": "Not Found"}), InputError, "status 404: give the URL up to"),
        ((301, None), InputError, "status 301"),
        ((200, b"<html>"), InputError, "is not a Piston: it answers text/html"),
        ((200, {"languages": []}), InputError, "is not a Piston: it answers application/json"),
        ((200, [{"language": "python", "version": "3"}]), InputError, "has no package cms_ioi"),
        ((401, {}), Unauthorized, "set PISTON_KEY"),
        ((403, {}), Unauthorized, "set PISTON_KEY"),
    ],
)
def test_at_the_start_what_is_no_piston_is_the_callers_mistake(
    start: Start, runtimes: Answer, kind: type[UsageError], said: str
) -> None:
    good, bad = start(FINE), start(FINE, runtimes=runtimes)
    with pytest.raises(kind, match=said) as caught, on(good, bad):
        pass
    assert bad.url in str(caught.value)


def test_one_that_becomes_something_else_is_only_down(start: Start) -> None:
    changing, good = start((500, None)), start(FINE)
    with on(changing, good, pause=0.001, longest=0.001) as piston:
        run(piston)
        changing.runtimes = (404, None)
        for _ in range(5):
            assert run(piston) == ("1", "fine")
        assert "status 404" in piston._endpoints.errors[changing.url]
    assert len(changing.seen) == 1


def test_the_key_is_sent_with_every_request(start: Start) -> None:
    fake, other = start(FINE), start(FINE)
    with on(fake, key="Bearer of-this") as piston:
        run(piston)
    with on(other) as piston:
        run(piston)
    assert fake.keys == ["Bearer of-this"] * 2
    assert other.keys == [None] * 2


def test_each_request_has_a_connection_of_its_own(start: Start) -> None:
    """So that one which breaks was not merely idle for longer than the server bears."""
    fake = start(FINE)
    with on(fake) as piston:
        for _ in range(3):
            run(piston)
    assert len(set(fake.connections)) == len(fake.connections) == 4


def test_a_list_that_changes_is_followed(start: Start, tmp_path: Path) -> None:
    first, second = start(FINE), start(FINE, runtimes=RUNTIMES)
    file = tmp_path / "pistons"
    file.write_text(f"{first.url}\n")
    with Piston(f"@{file}") as piston:
        run(piston)
        file.write_text("no URL\n")
        run(piston)
        (tmp_path / "new").write_text(f"# moved\n{second.url}/\n")
        (tmp_path / "new").replace(file)
        while not second.seen:
            run(piston)
        known = len(first.seen)
        run(piston)
        assert len(first.seen) == known


def test_variables_of_open_r1(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    fakes = [start(FINE), start(FINE)]
    monkeypatch.setenv("PISTON_ENDPOINTS", f" {fakes[0].url}/, {fakes[1].url} ,{fakes[0].url}")
    monkeypatch.setenv("PISTON_MAX_REQUESTS_PER_ENDPOINT", "3")
    monkeypatch.setenv("PISTON_KEY", "a key\n")
    with Piston.from_environment("") as piston:
        assert piston.capacity() == 6
        run(piston)
    assert fakes[1].keys[0] == "a key"
    with Piston.from_environment(fakes[1].url) as piston:
        assert piston.capacity() == 3
        assert piston.name == f"piston:{fakes[1].url}"
    for name, value, said in (
        ("PISTON_KEY", "clé", "PISTON_KEY`: cannot be sent"),
        ("PISTON_MAX_REQUESTS_PER_ENDPOINT", "0", "a number from 1 on, not '0'"),
        ("PISTON_MAX_REQUESTS_PER_ENDPOINT", "many", "a number from 1 on, not 'many'"),
        ("PISTON_ENDPOINTS", " , ", "there is no Piston in"),
        ("PISTON_ENDPOINTS", "ftp://x", "field `PISTON_ENDPOINTS`: 'ftp://x' is not a URL"),
        ("PISTON_ENDPOINTS", "", "no Piston is named"),
    ):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            with pytest.raises(UsageError, match=said):
                Piston.from_environment("")
