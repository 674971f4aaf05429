"""Judging on many servers: the same verdicts, each once, whatever happens to servers and lines."""

import asyncio
import json
import os
import signal
import socket
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor import InputError, Program, judge_many
from proctor.clients.fleet import Fleet
from proctor.clients.server_line import FleetParts
from proctor.clients.server_seat import ServerSeat
from proctor.endpoints import Endpoints
from proctor.errors import (
    PlatformError,
    PoolClosed,
    ReplyBroken,
    Unauthorized,
    Unreachable,
    UsageError,
)
from proctor.formats.livecodebench import load_problems
from proctor.grading import Checker, Convention
from proctor.judgement import Judgement
from proctor.judging.dispatch import Dispatcher
from proctor.judging.judge import PoolJudges
from proctor.judging.settings import JudgeSettings
from proctor.limits import Limits
from proctor.prediction import CallTask
from proctor.problem import Communication, Interactive, Problem, Subtask, Test
from proctor.sandbox.pool import Pool
from proctor.service.http.native.packed_schema import ServerLoad
from proctor.verdict import Verdict
from served import OWNERS, Served, noting, serving, serving_two
from waiting import PATIENCE, until

BUNDLED = Path(proctor.__file__).parent / "bundled"
SQUARE = Problem("square", (Test("3\n", "9\n"), Test("4\n", "16\n")))
RIGHT = "print(int(input()) ** 2)"
ACCEPT = '#include <cstdio>\nint main(int, char** a) { return fopen(a[2], "r") ? 0 : 1; }\n'
ECHO = """
import sys
print(7, flush=True)
sys.exit(42 if input() == "8" else 43)
"""
MANAGER = """
import sys
to, back = sys.argv[2], sys.argv[1]
with open(to, "w") as given:
    given.write("20\\n")
with open(back) as answer:
    print(float(answer.read().split()[0] == "21"))
"""
QUIET = ("--cells", "2", "--no-access-log")


@pytest.fixture(scope="module")
def three() -> Iterator[list[Served]]:
    with ExitStack() as stack:
        yield [stack.enter_context(serving(*QUIET)) for _ in range(3)]


@pytest.fixture
def fleet(three: list[Served]) -> Iterator[Fleet]:
    with Fleet([each.url for each in three]) as opened:
        yield opened


def labelled() -> list[tuple[dict[str, Any], Problem, Program]]:
    text = (BUNDLED / "programs.jsonl").read_text()
    rows = [json.loads(line) for line in text.splitlines()]
    problems = load_problems(BUNDLED / "problems.jsonl", {row["question_id"] for row in rows})
    return [(row, problems[row["question_id"]], Program(row["code"])) for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["standard", "official"])
def test_verdicts_are_those_of_this_machine(fleet: Fleet, mode: Any) -> None:
    rows, settings = labelled(), JudgeSettings(mode, Limits(cpu=0.5))
    found: list[Any] = [None] * len(rows)
    for each in judge_many(((p, c) for _, p, c in rows), settings=settings, on=fleet):
        assert found[each.index] is None
        found[each.index] = each.judgement
    assert [each.verdict.value for each in found] == [row["label"][mode] for row, _, _ in rows]
    assert all((each.upstream is not None) == (mode == "official") for each in found)
    machines = {state.machine for state in fleet.servers()}
    assert len(machines) == 3
    assert {each.machine.id for each in found} <= machines
    assert all(each.machine.cpu for each in found)


@pytest.mark.compiler
def test_all_kinds_of_problems_travel(fleet: Fleet) -> None:
    cpp = Program(
        "#include <iostream>\nint main() { int n; std::cin >> n; std::cout << n * n; }", "cpp"
    )
    pointed = Problem(
        "points", (Test("1", "1", name="a"), Test("2", "5", name="b")),
        subtasks=(Subtask("s", 30.0, ("a",)), Subtask("t", 70.0, ("b",), depends=("s",))),
    )  # fmt: skip
    checked = Problem(
        "checked", (Test("1", "2"),), grading=Checker(Program(ACCEPT, "cpp"), Convention.EXIT_CODE)
    )
    talk = Problem("talk", (Test(""),), running=Interactive(Program(ECHO), Convention.KATTIS))
    managed = Problem("managed", (Test(""),), running=Communication(Program(MANAGER)))
    call = CallTask("def f(n):\n    return n + 1", "f", "f(1)", "2")
    pairs = [
        (SQUARE, cpp),
        (SQUARE, "print(1)"),
        (pointed, cpp),
        (checked, Program("print(5)")),
        (talk, Program("print(int(input()) + 1)")),
        (talk, Program("print(int(input()) + 2)")),
        (managed, Program("print(int(input()) + 1)")),
        (Problem("value", (), running=call), Program("2")),
        (Problem("value", (), running=call), Program("3")),
        (Problem("empty", ()), Program("2")),
        (Problem("function", (Test("2", "4"),), function="f"), Program("def f(x): return x * 2")),
        (Problem("lone", (Test("\ud800", "1"),)), Program("print(1)")),
    ]
    found = {each.index: each.judgement for each in judge_many(pairs, on=fleet)}
    here = {each.index: each.judgement for each in judge_many(pairs)}
    assert [found[n].verdict for n in range(12)] == [here[n].verdict for n in range(12)]
    assert [each.verdict for each in found.values()].count(Verdict.AC) == 7
    assert found[2].points == here[2].points == 30.0
    assert found[2].subtasks == here[2].subtasks
    only = fleet.start(pointed, cpp, JudgeSettings(), ["s"]).result()
    assert (only.points, only.of) == (30.0, 30.0)


def test_one_bad_item_costs_no_other(fleet: Fleet) -> None:
    pairs: list[Any] = [(SQUARE, RIGHT)] * 6
    pairs[1] = (SQUARE, Program("x", "no-such"))
    pairs[2] = (SQUARE, 5)
    pairs[3] = (Problem("much", SQUARE.tests, limits=Limits(cpu=1e6)), RIGHT)
    broken = Checker(Program("int main( {", "c"))
    pairs[4] = (Problem("broken", SQUARE.tests, grading=broken), RIGHT)
    made: list[int] = []
    with pytest.raises(InputError) as raised:
        made.extend(each.index for each in judge_many(pairs, on=fleet))
    assert sorted(made) == [0, 5]
    assert "not judged: pairs 1, 2, 3, 4" in raised.value.__notes__[0]


def test_versions_are_those_of_the_servers(fleet: Fleet, pool: Pool) -> None:
    assert fleet.surroundings() == PoolJudges(pool).surroundings()
    assert fleet.version_of("python").startswith("3.")
    with pytest.raises(InputError, match="no-such"):
        fleet.version_of("no-such")
    with pytest.raises(InputError, match=r"\.\./load"):
        fleet.version_of("../load")


def numbered(count: int) -> list[tuple[Problem, str]]:
    """Programs that tell their number to a server that notes it; the odd ones are wrong."""
    return [
        (SQUARE, f"print(int(input()) ** 2 + {number % 2})\n# row {number}\n")
        for number in range(count)
    ]


class Answers:
    """Judgements as they come, each at most once."""

    def __init__(self) -> None:
        self.found: dict[int, Judgement] = {}

    def take(self, each: proctor.Judged) -> None:
        assert each.index not in self.found, "answered twice"
        self.found[each.index] = each.judgement

    def check(self, count: int) -> None:
        """Assert that all are there, with the verdicts that they must have."""
        assert sorted(self.found) == list(range(count))
        wanted = [Verdict.WA if number % 2 else Verdict.AC for number in range(count)]
        assert [self.found[number].verdict for number in range(count)] == wanted


def noted(*notes: Path) -> Counter[int]:
    """How often each program was judged."""
    return Counter(
        int(line) for each in notes if each.exists() for line in each.read_text().split()
    )


@pytest.mark.slow
def test_each_is_answered_once_though_servers_are_killed_and_leave(tmp_path: Path) -> None:
    count = 1200
    notes = [tmp_path / name for name in "abc"]
    listed, answers = tmp_path / "servers", Answers()
    with ExitStack() as stack:
        killed, leaving, staying = (
            stack.enter_context(serving(*QUIET, command=noting(each))) for each in notes
        )
        listed.write_text(f"{killed.url}\n# the others\n{leaving.url}\n\n{staying.url}\n")
        fleet = stack.enter_context(Fleet(f"@{listed}"))
        assert len([each for each in fleet.servers() if each.machine]) == 3
        for each in judge_many(numbered(count), on=fleet):
            answers.take(each)
            if len(answers.found) == 150:  # so that it has programs when it is killed
                os.killpg(killed.process.pid, signal.SIGSTOP)
            if len(answers.found) == 250:
                os.killpg(killed.process.pid, signal.SIGKILL)
                killed.process.wait()
                again = serving(*QUIET, "--port", str(killed.port), command=noting(notes[0]))
                stack.enter_context(again)
            if len(answers.found) == 400:
                listed.write_text(f"{killed.url}\n{staying.url}\n")
        answers.check(count)
        times = noted(*notes)
        assert set(times) == set(range(count))
        assert fleet.given_out_again > 0
        # What the killed one had begun was judged again, and nothing else.
        assert sum(times.values()) - count <= fleet.given_out_again
        assert max(noted(*notes[1:]).values()) == 1
        assert {each.url for each in fleet.servers()} == {killed.url, staying.url}


@pytest.mark.slow
def test_a_hung_server_is_left(tmp_path: Path) -> None:
    notes, answers = [tmp_path / "a", tmp_path / "b"], Answers()
    with ExitStack() as stack:
        hung, well = (stack.enter_context(serving(*QUIET, command=noting(each))) for each in notes)
        fleet = stack.enter_context(Fleet([hung.url, well.url], silence=5.0))
        assert all(each.machine for each in fleet.servers())
        try:
            for each in judge_many(numbered(400), on=fleet):
                answers.take(each)
                if len(answers.found) == 100:
                    hung.process.send_signal(signal.SIGSTOP)
            (state,) = [each for each in fleet.servers() if each.url == hung.url]
            assert isinstance(state.error, Unreachable)
        finally:
            hung.process.send_signal(signal.SIGCONT)
        answers.check(400)
        assert fleet.given_out_again > 0


SLOW = Problem("slow", (Test("", ""),), limits=Limits(cpu=10.0))
BUSY = "import time\nwhile time.process_time() < 0.3: pass\n# row {}\n"


@pytest.mark.slow
def test_a_server_that_is_told_to_stop_gives_back_what_it_has_not_begun(tmp_path: Path) -> None:
    notes = [tmp_path / "a", tmp_path / "b"]
    with ExitStack() as stack:
        stopped, well = (
            stack.enter_context(serving(*QUIET, command=noting(each))) for each in notes
        )
        fleet = stack.enter_context(Fleet([stopped.url, well.url]))
        assert all(each.machine for each in fleet.servers())
        made = []
        for each in judge_many([(SLOW, BUSY.format(n)) for n in range(30)], on=fleet):
            made.append(each)
            if len(made) == 4:
                stopped.process.send_signal(signal.SIGTERM)
        stopped.process.wait(PATIENCE)
        assert sorted(each.index for each in made) == list(range(30))
        assert {each.judgement.verdict for each in made} == {Verdict.AC}
        # It has ended what it had begun: nothing was judged twice, on any server.
        assert set(noted(*notes).values()) == {1}
        assert fleet.given_out_again == 0


class CuttingProxy:
    """Passes bytes on to a server, and breaks all its connections when told to."""

    def __init__(self, port: int) -> None:
        self._to, self._lines = port, list[socket.socket]()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                line, _ = self._listening.accept()
                other = socket.create_connection(("127.0.0.1", self._to))
                self._lines += [line, other]
                for pair in ((line, other), (other, line)):
                    threading.Thread(target=self._pass, args=pair, daemon=True).start()

    @staticmethod
    def _pass(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def cut(self) -> None:
        lines, self._lines = self._lines, []
        for line in lines:
            with line, suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listening.close()
        self.cut()


@pytest.mark.slow
def test_what_was_under_way_when_a_line_broke_is_asked_for_again(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    answers = Answers()
    with ExitStack() as stack:
        server = stack.enter_context(serving(*QUIET, command=noting(notes)))
        proxy = stack.enter_context(closing(CuttingProxy(server.port)))
        fleet = stack.enter_context(Fleet(proxy.url))
        for each in judge_many(numbered(300), on=fleet):
            answers.take(each)
            if len(answers.found) in {50, 150, 250}:
                proxy.cut()
        answers.check(300)
        assert noted(notes) == dict.fromkeys(range(300), 1)
        assert fleet.given_out_again == 0


def load(server: Served) -> dict[str, Any]:
    with server.client() as client:
        found: dict[str, Any] = client.get("/v1/load").json()
    return found


FORGETFUL = r"""
from proctor.service.kept_problems import ProblemStore
ProblemStore.__init__.__defaults__ = (5000, 5000)
from proctor.cli.main import main
main()
"""
"""The command, with room for two of the problems below."""


@pytest.mark.slow
def test_problems_that_a_server_has_forgotten_are_sent_again() -> None:
    problems = [
        Problem(f"p{n}", (Test(f"{n}\n", f"{n * n}\n"), Test("0\n" + " " * 1500, "0\n")))
        for n in range(6)
    ]
    command = (sys.executable, "-c", FORGETFUL)
    with serving(*QUIET, command=command) as served, Fleet(served.url) as fleet:
        made = list(judge_many([(each, RIGHT) for each in problems] * 2, on=fleet))
        assert {each.judgement.verdict for each in made} == {Verdict.AC}
        assert len(made) == 12
        assert fleet.given_out_again == 0


def test_a_server_that_others_keep_busy_is_given_less(three: list[Served]) -> None:
    forever = {"program": {"source": "while True: pass"}, "limits": {"cpu": 600}}
    busy, idle = three[:2]
    with busy.client() as client:
        jobs = [client.post("/v1/run?wait=false", json=forever).json()["id"] for _ in range(5)]
        try:
            with Fleet([busy.url, idle.url]) as fleet:
                assert all(each.machine for each in fleet.servers())
                for _ in range(5):  # else some would wait for those that never end
                    found = fleet.start(SQUARE, RIGHT, JudgeSettings()).result(PATIENCE)
                    assert found.machine is not None
                    assert found.machine.id == load(idle)["id"]
        finally:
            for each in jobs:
                client.delete(f"/v1/jobs/{each}")


def test_several_servers_behind_one_address_are_refused() -> None:
    async def met(*instances: str) -> None:
        parts = FleetParts("k", Dispatcher(), Endpoints(), None, 5.0, lambda: None)
        seat = ServerSeat("http://a:1", parts)
        for each in instances:
            seat._checked(ServerLoad("a", each, "1", 1, 0, 0))
        await seat._http.close()

    asyncio.run(met("first", "first", "restarted", "restarted", "again"))
    with pytest.raises(PlatformError, match="dns"):
        asyncio.run(met("one", "two", "one"))


@pytest.mark.slow
def test_a_judgement_that_three_servers_died_with_is_a_fault_of_its_own() -> None:
    endless = Problem("endless", (Test("", ""),), limits=Limits(cpu=600.0))
    with ExitStack() as stack:
        doomed = [stack.enter_context(serving(*QUIET)) for _ in range(3)]
        fleet = stack.enter_context(Fleet([each.url for each in doomed]))
        assert all(each.machine for each in fleet.servers())
        outcome = fleet.start(endless, "while True: pass", JudgeSettings())
        while doomed:
            at = [each for each in doomed if load(each)["running"]]
            for each in at:
                os.killpg(each.process.pid, signal.SIGKILL)
                each.process.wait()
                doomed.remove(each)
        found = outcome.result(PATIENCE)
        assert found.verdict is Verdict.INFRA_FAULT
        assert "3 machines were lost" in found.message


def test_all_servers_away_for_long_is_an_error_that_names_them() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free = taken.getsockname()[1]
    urls = [f"http://127.0.0.1:{free}", f"http://any:secret-word@127.0.0.1:{free}/p"]
    with Fleet(urls, patience=0.5) as fleet:
        with pytest.raises(Unreachable) as raised:
            fleet.version_of("python")
        with pytest.raises(Unreachable):
            fleet.start(SQUARE, RIGHT, JudgeSettings()).result(PATIENCE)
    assert f"http://127.0.0.1:{free}: " in str(raised.value)
    assert f"http://127.0.0.1:{free}/p: " in str(raised.value)
    assert "secret-word" not in str(raised.value)


@pytest.mark.slow
def test_a_server_that_comes_later_is_used(tmp_path: Path) -> None:
    with serving(*QUIET) as first:
        port = first.port
    with Fleet(f"http://127.0.0.1:{port}") as fleet:
        outcome = fleet.start(SQUARE, RIGHT, JudgeSettings())
        assert fleet.servers()[0].error is not None
        with serving(*QUIET, "--port", str(port)):
            assert outcome.result(PATIENCE).verdict is Verdict.AC


@pytest.mark.slow
def test_a_wrong_token_is_an_error_at_once(tmp_path: Path) -> None:
    with serving_two(tmp_path, *QUIET) as served:
        with Fleet(served.url, token="wrong-" * 4) as fleet:
            outcome = fleet.start(SQUARE, RIGHT, JudgeSettings())
            with pytest.raises(Unauthorized, match=served.url):
                outcome.result(PATIENCE)
            with pytest.raises(Unauthorized, match="token"):
                fleet.version_of("python")
        with Fleet(served.url, token=OWNERS["ann"]) as fleet:
            assert fleet.start(SQUARE, RIGHT, JudgeSettings()).result(PATIENCE).passed


class Imposter(BaseHTTPRequestHandler):
    """A server that answers every request with the same."""

    kind, content = "text/html", b"<html>It works!</html>"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", self.kind)
        self.send_header("Content-Length", str(len(self.content)))
        self.end_headers()
        self.wfile.write(self.content)

    def log_message(self, *_: Any) -> None:
        pass


class Older(Imposter):
    kind = "application/json"
    content = json.dumps(
        {"id": "a", "instance": "b", "version": "0.0.9", "places": 1, "running": 0, "waiting": 0}
    ).encode()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("imposter", "error", "said"),
    [(Imposter, ReplyBroken, "It works!"), (Older, PlatformError, r"0\.0\.9")],
)
def test_what_is_no_proctor_of_this_version_is_left_out(
    imposter: type[Imposter], error: type[Exception], said: str
) -> None:
    other = ThreadingHTTPServer(("127.0.0.1", 0), imposter)
    threading.Thread(target=other.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{other.server_address[1]}"
    try:
        with Fleet(url) as fleet, pytest.raises(error, match=said) as raised:
            fleet.start(SQUARE, RIGHT, JudgeSettings()).result(PATIENCE)
        assert url in str(raised.value)
        with serving(*QUIET) as served, Fleet([url, served.url]) as fleet:
            made = list(judge_many([(SQUARE, RIGHT)] * 20, on=fleet))
            assert {each.judgement.verdict for each in made} == {Verdict.AC}
            states = {each.url: each for each in fleet.servers()}
            assert isinstance(states[url].error, error)
            assert states[served.url].judged == 20
    finally:
        other.shutdown()
        other.server_close()


@pytest.mark.slow
def test_a_list_is_read_again_when_it_changes(tmp_path: Path) -> None:
    listed = tmp_path / "servers"
    with serving(*QUIET) as first, serving(*QUIET) as second:
        listed.write_text(first.url)
        with Fleet(f"@{listed}, dns+http://localhost:{first.port}") as fleet:
            made = []
            pairs = ((SQUARE, RIGHT) for _ in iter(lambda: len(made) < 1000, False))
            for each in judge_many(pairs, on=fleet):
                made.append(each.judgement)
                if len(made) == 1:
                    listed.write_text(f"{second.url}\n")
                machine = each.judgement.machine
                assert machine is not None
                if machine.id.endswith(f":{second.port}"):
                    break
            urls = {each.url for each in fleet.servers()}
            assert {f"http://127.0.0.1:{first.port}", second.url} <= urls


def test_closing_ends_what_waits(three: list[Served]) -> None:
    endless = Problem("endless", (Test("", ""),), limits=Limits(cpu=600.0))
    with Fleet(three[0].url) as fleet:
        outcomes = [fleet.start(endless, "while True: pass", JudgeSettings()) for _ in range(50)]
    for each in outcomes:
        with pytest.raises(PoolClosed):
            each.result(PATIENCE)
    with pytest.raises(PoolClosed):
        fleet.start(SQUARE, RIGHT, JudgeSettings())
    # It notices that nobody waits for them any more.
    until(lambda: not (left := load(three[0]))["running"] and not left["waiting"])


@pytest.mark.parametrize("wrong", ["", " , ", "ftp://a", "http://", "a:1", "http://a:b", "daemon:"])
def test_what_is_no_list_of_servers_is_refused(wrong: str) -> None:
    with pytest.raises(UsageError):
        Fleet(wrong)
