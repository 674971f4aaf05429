"""proctor.clients: the same over all transports, and what each makes of faults."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from daemon_process import carriers, marker, tree, until_carried
from proctor.clients import (
    AsyncClient,
    Client,
    JudgeRequest,
    LimitsJson,
    ProblemJson,
    ProgramJson,
    RunRequest,
    TestJson,
    TestResultJson,
    connect,
    connect_async,
)
from proctor.clients.remote_errors import error_of
from proctor.clients.requests import problem_json
from proctor.errors import (
    Busy,
    Cancelled,
    FileRefused,
    InfraFault,
    InputError,
    ProctorError,
    ReplyBroken,
    Unauthorized,
    Unreachable,
    UsageError,
)
from proctor.grading import Checker, Comparison, Match
from proctor.judging.settings import JudgeSettings
from proctor.limits import MIB, Limits
from proctor.problem import Problem, Stub, Subtask, Test
from proctor.program import Program
from proctor.service.http.problem_details import ProblemDetails as BadAnswer
from served import Served, serving
from waiting import PATIENCE

SUM = "print(sum(map(int, input().split())))"
TESTS = Problem("sum", (Test("1 2", "3"), Test("20 22", "42")))
TESTS_JSON = ProblemJson("sum", (TestJson("1 2", "3"), TestJson("20 22", "42")))
CHECKER = "import sys\nsys.exit(open(sys.argv[2]).read().strip() == open(sys.argv[3]).read())"
WAYS = ("local:", "daemon:", "http:")


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving("--cells", "2") as server:
        yield server


@pytest.fixture(scope="module", params=WAYS)
def url(request: pytest.FixtureRequest, served: Served) -> str:
    return served.url if request.param == "http:" else request.param


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[Client]:
    options = {} if url.startswith("http") else {"cells": 2}
    with connect(url, **options) as connected:
        yield connected


def endless(mark: str) -> RunRequest:
    asked = tree(mark)
    limits = LimitsJson(wall=asked["limits"]["wall"])
    return RunRequest(ProgramJson(**asked["program"]), args=(mark,), limits=limits)


def test_a_run(client: Client) -> None:
    found = client.run("print(input() * 2)", "ab")
    assert (found.verdict, found.outcome) == ("OK", "verdict")
    assert found.execution is not None
    assert found.execution.stdout.text == "abab\n"
    assert found.isolation == client.capabilities().isolation
    request = RunRequest(ProgramJson("open('x', 'wb').write(b'\\xff')"), collect=("x",))
    assert client.run(request).files == {"x": "/w=="}
    told = client.run("import sys; print(sys.stdin.buffer.read())", b"\xff").execution
    assert told is not None
    assert told.stdout.text == "b'\\xff'\n"


def test_a_judgement_tells_of_each_test(client: Client) -> None:
    heard: list[TestResultJson] = []
    found = client.judge(TESTS, SUM, on_test=heard.append)
    assert (found.verdict, found.score) == ("AC", 1.0)
    assert [each.verdict for each in heard] == ["AC", "AC"]
    assert tuple(heard) == found.tests
    assert {type(each.verdict) for each in heard} == {str}
    assert client.judge(TESTS_JSON, Program(SUM)).tests[1].name == found.tests[1].name
    found = client.judge(TESTS, "print(3)", stop="never")
    assert [each.verdict for each in found.tests] == ["AC", "WA"]


@pytest.mark.namespaces
def test_a_disk_that_is_full(client: Client) -> None:
    full = client.run("open('a', 'w').write('a' * (2 << 20))", limits=Limits(disk=MIB))
    assert full.verdict != "OK"


def test_problems_programs_and_limits_are_those_of_proctor(client: Client) -> None:
    with_module = Program("import m\nprint(m.x)", files={"m.py": b"x = 7"})
    found = client.run(with_module, limits=Limits(cpu=2.0, memory=256 * MIB, disk=MIB))
    assert found.execution is not None
    assert found.execution.stdout.text == "7\n"
    double = Problem("double", (Test("21", "42"),), "double")
    program = "def double(n):\n    return 2 * n"
    assert client.judge(double, program, limits=Limits(cpu=2.0)).verdict == "AC"
    lines = Comparison(Match.LINES)
    points = Problem(
        "points", (Test("", "1  2", name="a"), Test("", "1 3", name="b")), limits=Limits(cpu=2.0),
        grading=lines, subtasks=(Subtask("one", 4.0, ("a",)), Subtask("two", 6.0, ("b",))),
    )  # fmt: skip
    partial = client.judge(points, "print('1 2')", stop="never")
    assert (partial.points, partial.of) == (4.0, 10.0)
    checked = Problem("checked", (Test("", "5"),), grading=Checker(Program(CHECKER)))
    assert client.judge(checked, "print(6)").verdict == "AC"
    assert client.judge(checked, "print(5)").verdict == "WA"
    with pytest.raises(InputError, match="stubs"):
        client.judge(Problem("s", (), stubs={"cpp": Stub({})}), "1")
    first, near = JudgeSettings(stop="first"), JudgeSettings(tolerance=0.01)
    assert len(client.judge(TESTS, "print(5)", settings=first).tests) == 1
    assert client.judge(TESTS, "print(5)", settings=near).verdict == "WA"
    assert client.judge(Problem("n", (Test("", "3.001"),)), "print(3)", settings=near).passed
    for wrong in (("print(3)", TESTS), (TESTS,), (None, "print(3)")):
        with pytest.raises(InputError):
            client.judge(*wrong)


def test_many_judgements(client: Client) -> None:
    requests: list[tuple[Problem, str | Program]]
    sources = [SUM, "print(3)", "}{"] * 4
    requests = [(TESTS, each) for each in sources]
    requests.append((TESTS, Program("", "cobol")))
    found = {each.index: each for each in client.judge_many(iter(requests), at_once=5)}
    verdicts = [found[at].result.verdict for at in range(12)]  # type: ignore[union-attr]
    assert verdicts == ["AC", "WA", "CE"] * 4
    assert found[12].result is None
    assert isinstance(found[12].error, InputError)
    assert sorted(found) == list(range(13))
    assert [len(found[at].result.tests) for at in range(12)] == [2, 2, 0] * 4  # type: ignore[union-attr]
    first = JudgeRequest(ProgramJson("print(5)"), TESTS_JSON, stop="first")
    pair = (TESTS, "print(5)")
    for stopped in (*client.judge_many([first]), *client.judge_many([pair], stop="first")):
        assert stopped.result is not None
        assert len(stopped.result.tests) == 1


def test_errors_are_those_of_the_other_end(client: Client) -> None:
    with pytest.raises(InputError, match="cobol"):
        client.run("", language="cobol")
    with pytest.raises(InputError) as caught:
        client.run("", limits=LimitsJson(cpu=-1.0))
    assert "limits.cpu" in (caught.value.field or "")
    with pytest.raises(InputError, match="colour"):
        client.run("", colour="red")
    with pytest.raises(InputError, match="surrogate"):
        client.run("\ud800")
    assert client.run("print(1)").verdict == "OK"


def test_languages(client: Client) -> None:
    assert "python" in {each.id for each in client.languages()}
    assert client.capabilities().guarantees["network"].strength == "full"


def test_a_job_with_an_id_is_called_off_by_another_thread(client: Client) -> None:
    mark = marker()
    raised: list[BaseException] = []

    def run() -> None:
        try:
            client.run(endless(mark), id="mine")
        except Cancelled as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    until_carried(mark, 3)
    with pytest.raises(UsageError, match="under way already"):
        client.run("1", id="mine")
    assert client.cancel("mine")
    thread.join()
    until_carried(mark, 0)
    assert len(raised) == 1
    assert not client.cancel("mine")


def asynchronous(url: str, use: Callable[[AsyncClient], object]) -> None:
    """Run a coroutine function with a client that is closed afterwards."""

    async def body() -> None:
        async with connect_async(url) as client:
            await use(client)  # type: ignore[misc]

    asyncio.run(body())


@pytest.mark.parametrize("key", [None, "key"])
def test_cancelling_a_task_ends_all_processes_of_its_job(url: str, key: str | None) -> None:
    mark = marker()

    async def use(client: AsyncClient) -> None:
        name = None if key is None else f"{key}-{mark}"
        task = asyncio.ensure_future(client.run(endless(mark), idempotency_key=name))
        await asyncio.to_thread(until_carried, mark, 3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.to_thread(until_carried, mark, 0)

    asynchronous(url, use)


def test_leaving_a_batch_calls_off_the_rest(url: str) -> None:
    mark = marker()
    forever = f"import os\nos.path.exists({mark!r})\nwhile True: pass"

    async def use(client: AsyncClient) -> None:
        slow = JudgeRequest(ProgramJson(forever), TESTS_JSON, LimitsJson(cpu=3000.0))
        found = client.judge_many([(TESTS, SUM), slow])
        assert (await anext(found)).index == 0
        await found.aclose()
        # On a machine with one place this would wait for the other one for ever.
        assert (await client.run("print(1)")).verdict == "OK"
        for _ in range(1000):
            if (await client.capabilities()).running <= 1:  # that is asked in a place of its own
                return
        raise AssertionError("a job that nobody waits for is still running")

    asynchronous(url, use)


@pytest.mark.slow
def test_closing_ends_what_runs() -> None:
    for url in ("local:", "daemon:"):
        mark = marker()

        async def body(url: str = url, mark: str = mark) -> None:
            client = connect_async(url)
            task = asyncio.ensure_future(client.run(endless(mark)))
            await asyncio.to_thread(until_carried, mark, 3)
            await client.close()
            await asyncio.to_thread(until_carried, mark, 0)
            await asyncio.wait({task})
            assert task.exception() is not None

        asyncio.run(body())


@pytest.mark.slow
def test_a_daemon_that_dies_is_started_again() -> None:
    mark = marker()

    async def use(client: AsyncClient) -> None:
        lost = asyncio.ensure_future(client.run(endless(mark)))
        await asyncio.to_thread(until_carried, mark, 3)
        daemons = [
            int(each) for each in os.listdir("/proc") if each.isdigit() and is_child_daemon(each)
        ]
        assert len(daemons) == 1
        os.kill(daemons[0], signal.SIGKILL)
        with pytest.raises(Unreachable, match="ended"):
            await lost
        await asyncio.to_thread(until_carried, mark, 0)
        assert (await client.run("print(1)")).verdict == "OK"

    asynchronous("daemon:", use)


def is_child_daemon(number: str) -> bool:
    try:
        status = Path("/proc", number, "stat").read_text().rpartition(")")[2].split()
        words = Path("/proc", number, "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return int(status[1]) == os.getpid() and b"daemon" in words


def test_addresses(monkeypatch: pytest.MonkeyPatch, served: Served) -> None:
    monkeypatch.setenv("PROCTOR_URL", served.url)
    with connect() as client:
        assert client.run("print(1)").verdict == "OK"
    for url, options in (("ftp://a", {}), ("local:x", {}), (served.url, {"cells": 2}),
                         ("daemon:", {"colour": 1})):  # fmt: skip
        with pytest.raises(UsageError):
            connect(url, **options)
    with connect("http://127.0.0.1:1") as client:
        client._asynchronous._transport._attempts = 1  # type: ignore[attr-defined]
        with pytest.raises(Unreachable, match="127.0.0.1:1"):
            client.run("print(1)")
    with connect("daemon:/nowhere/proctor") as client, pytest.raises(Unreachable, match="nowhere"):
        client.run("print(1)")
    with connect("daemon:/bin/echo") as client, pytest.raises(ReplyBroken):
        client.run("print(1)")


@pytest.mark.slow
def test_tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("ann:0123456789abcdef0123\n")
    tokens.chmod(0o600)
    with serving("--cells", "1", "--token-file", str(tokens)) as server:
        with connect(server.url) as client, pytest.raises(Unauthorized):
            client.run("print(1)")
        monkeypatch.setenv("PROCTOR_TOKEN", "0123456789abcdef0123")
        with connect(server.url) as client:
            assert client.run("print(1)").verdict == "OK"


@pytest.mark.slow
def test_a_busy_server_is_asked_again_until_it_has_room() -> None:
    mark = marker()
    with serving("--cells", "1", "--max-waiting", "1") as server:

        async def body() -> None:
            async with connect_async(server.url) as client, connect_async(server.url) as other:
                first = asyncio.ensure_future(client.run(endless(mark)))
                await asyncio.to_thread(until_carried, mark, 3)
                second = asyncio.ensure_future(client.run("print(2)"))
                while True:
                    metrics = await other._transport._client.get("/metrics")  # type: ignore[attr-defined]
                    if "proctor_jobs_waiting 1.0" in metrics.text:
                        break
                other._transport._attempts = 1  # type: ignore[attr-defined]
                with pytest.raises(Busy) as caught:
                    await other.run("print(3)")
                assert caught.value.retry_after > 0
                third = asyncio.ensure_future(client.run("print(3)"))
                while 'proctor_requests_total{status="429"} 2.0' not in metrics.text:
                    metrics = await other._transport._client.get("/metrics")  # type: ignore[attr-defined]
                first.cancel()
                for task in (second, third):
                    assert (await task).verdict == "OK"

        asyncio.run(body())
    assert carriers(mark) == []


def test_every_error_is_raised_again_by_its_code() -> None:
    kinds = [ProctorError]
    for kind in kinds:  # which grows
        kinds += [each for each in kind.__subclasses__() if each.__module__ == "proctor.errors"]
    assert len(kinds) > 20
    for kind in kinds:
        made = error_of(BadAnswer(503, kind.code, "title", "what happened", "limits.cpu"))
        assert isinstance(made, InputError if kind is FileRefused else kind)
        assert "what happened" in str(made)
    assert type(error_of(BadAnswer(418, "new", "t"))) is UsageError
    assert type(error_of(BadAnswer(500, "new", "t"))) is InfraFault
    busy = error_of(BadAnswer(429, "busy", "t", retry_after=7.0))
    assert isinstance(busy, Busy)
    assert busy.retry_after == 7.0


def test_importing_it_imports_no_server() -> None:
    check = (
        "import sys, proctor.clients\n"
        "heavy = {'litestar', 'uvicorn', 'httpx', 'stamina', 'numpy', 'proctor.service.engine'}\n"
        "sys.exit(' '.join(heavy & set(sys.modules)) or 0)"
    )
    subprocess.run([sys.executable, "-c", check], check=True, timeout=PATIENCE)


@pytest.mark.parametrize(
    "problem",
    [
        Problem("p", (Test("1", "1.5"),), grading=Comparison()),
        Problem("p", (Test("1", "1.5"),), grading=Comparison(absolute=2, relative=2)),
        Problem("p", (Test("1", "1.5", name="a"),), subtasks=(Subtask("s", 1, ("a",)),)),
        Problem("p", (Test("1", None),)),
        Problem("p", (Test("1", "1", name="a"),), grading=Comparison(),
                subtasks=(Subtask("s", 1, ("a",)),), precision=0),
    ],
)  # fmt: skip
def test_what_a_request_would_say_otherwise_is_refused(problem: Problem) -> None:
    """It would be judged, and with another verdict than proctor.judge has."""
    with pytest.raises(InputError, match="cannot say this"):
        problem_json(problem)


def test_one_bad_item_of_many_harms_no_other() -> None:
    plain = Problem("p", (Test("1\n", "1\n"),))
    wanted: list[Any] = [5, ("x",), (plain, "print(1)")]
    with connect() as client:
        found = {each.index: each for each in client.judge_many(wanted)}
    assert [isinstance(found[at].error, InputError) for at in (0, 1, 2)] == [True, True, False]
    assert found[2].result is not None
    assert found[2].result.verdict == "AC"
