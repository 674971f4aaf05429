"""/v1/sessions over a real socket: what lasts, whose it is, how it ends."""

import asyncio
import os
import pathlib
import secrets
import signal
import threading
from collections.abc import Iterator

import httpx
import pytest

from served import OWNERS, Served, serving, serving_two
from waiting import PATIENCE, until, until_true

LIMITS = {"cpu": 5, "memory": 256 << 20, "disk": 8 << 20, "output": 1 << 20}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving_two(
        tmp_path_factory.mktemp("tokens"), "--cells", "2", "--sessions", "3"
    ) as served:
        yield served


@pytest.fixture
def ann(server: Served) -> Iterator[httpx.Client]:
    with server.client(OWNERS["ann"]) as client:
        yield client


@pytest.fixture
def bob(server: Served) -> Iterator[httpx.Client]:
    with server.client(OWNERS["bob"]) as client:
        yield client


def opened(client: httpx.Client, **more: object) -> str:
    answer = client.post("/v1/sessions", json={"limits": LIMITS, **more})
    assert answer.status_code == 201, answer.text
    return f"/v1/sessions/{answer.json()['id']}"


@pytest.fixture
def session(ann: httpx.Client) -> Iterator[str]:
    place = opened(ann)
    yield place
    ann.delete(place)


def execute(client: httpx.Client, place: str, **asked: object) -> dict:
    answer = client.post(f"{place}/execute", json=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(answer: httpx.Response, status: int, code: str) -> str:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"] == code
    return answer.json()["detail"]


def test_variables_and_files_last(ann: httpx.Client, session: str) -> None:
    first = execute(ann, session, code="x = 6\nopen('n.txt', 'w').write('7')\nprint('é')")
    assert (first["verdict"], first["stdout"]["text"], first["result"]) == ("OK", "é\n", None)
    assert first["fresh"]
    second = execute(ann, session, code="x * int(open('n.txt').read())")
    assert (second["result"], second["fresh"], second["error"]) == ("42", False, None)
    program = execute(
        ann, session, program={"source": "print(open('n.txt').read() + input())"}, stdin="!"
    )
    assert (program["stdout"]["text"], program["exit_code"]) == ("7!\n", 0)
    command = execute(ann, session, command=["cat", "n.txt", "absent"])
    assert (command["verdict"], command["exit_code"], command["stdout"]["text"]) == ("RE", 1, "7")
    assert execute(ann, session, code="'x' in globals()", restart=True)["result"] == "False"
    state = ann.get(session).json()
    assert state["executions"] == 5
    assert not state["busy"]
    assert state["limits"]["memory"] == LIMITS["memory"]


def test_what_cells_do_wrong(ann: httpx.Client, session: str) -> None:
    raised = execute(ann, session, code="y = 1\n1 / 0")
    assert (raised["outcome"], raised["verdict"]) == ("verdict", "RE")
    assert raised["error"]["name"] == "ZeroDivisionError"
    assert "1 / 0" in "".join(raised["error"]["traceback"])
    slow = execute(ann, session, code="while True: pass", cpu=0.2)
    assert (slow["verdict"], slow["limit"], slow["ended"]) == ("TLE", "cpu", False)
    ended = execute(ann, session, code="import os; os._exit(3)")
    assert (ended["verdict"], ended["ended"], ended["exit_code"]) == ("RE", True, 3)
    after = execute(ann, session, code="'y' in globals()")
    assert (after["fresh"], after["result"]) == (True, "False")


def test_files_pass_as_they_are(ann: httpx.Client, session: str) -> None:
    data = bytes(range(256)) * 2048
    assert ann.put(f"{session}/files/deep/down/a%20b.bin", content=data).json() == {
        "path": "deep/down/a b.bin", "size": len(data),
    }  # fmt: skip
    assert ann.put(f"{session}/files/empty", content=b"").status_code == 200
    back = ann.get(f"{session}/files/deep/down/a%20b.bin")
    assert back.content == data
    assert back.headers["content-type"] == "application/octet-stream"
    assert ann.get(f"{session}/files").json() == [
        {"path": "deep/down/a b.bin", "size": len(data)}, {"path": "empty", "size": 0},
    ]  # fmt: skip
    refused(ann.get(f"{session}/files/absent"), 404, "not-found")
    refused(ann.get(f"{session}/files/deep"), 422, "file-refused")
    refused(ann.put(f"{session}/files/big", content=b"x" * (9 << 20)), 422, "file-refused")
    execute(ann, session, command=["rm", "big"])
    long = {"source": "open('long', 'w').write('x' * (2 << 20))"}
    assert execute(ann, session, program=long)["verdict"] == "OK"
    refused(ann.get(f"{session}/files/long"), 422, "file-refused")


@pytest.mark.parametrize("path", ["%2e%2e/x", "a/%2E%2E/%2E%2E/x", "a%00b", "a%5Cb"])
def test_names_cannot_lead_elsewhere(ann: httpx.Client, session: str, path: str) -> None:
    for answer in (
        ann.put(f"{session}/files/{path}", content=b"x"),
        ann.get(f"{session}/files/{path}"),
    ):
        assert answer.status_code in {404, 422}
        assert answer.json()["code"] in {"bad-input", "not-found"}
    assert ann.get(f"{session}/files").json() == []


def test_requests_that_make_no_sense(ann: httpx.Client, session: str) -> None:
    for asked in ({}, {"code": "1", "command": ["ls"]}, {"code": "1", "stdin": "x"}, {"command": []},
                  {"program": {"source": "int main(){}", "language": "cpp"}},
                  {"program": {"source": "1", "files": {"a": "!"}}}, {"command": ["cat"], "stdin_base64": "!"}):  # fmt: skip
        refused(ann.post(f"{session}/execute", json=asked), 422, "bad-input")
    assert ann.post(f"{session}/execute", json={"code": "1", "cpu": -1}).status_code == 400
    assert ann.post("/v1/sessions", json={"idle": 0}).status_code == 400


def test_another_owner_finds_nothing_there(
    ann: httpx.Client, bob: httpx.Client, session: str
) -> None:
    assert [f"/v1/sessions/{each['id']}" for each in ann.get("/v1/sessions").json()] == [session]
    assert bob.get("/v1/sessions").json() == []
    made_up = f"/v1/sessions/{secrets.token_urlsafe(18)}"
    for place in (session, made_up):
        for answer in (
            bob.get(place), bob.delete(place), bob.get(f"{place}/files"), bob.get(f"{place}/files/a"),
            bob.put(f"{place}/files/a", content=b"x"), bob.post(f"{place}/execute", json={"code": "1"}),
        ):  # fmt: skip
            told = refused(answer, 404, "not-found")
            assert (
                told.replace(place.rpartition("/")[2], "ID") == "there is no session 'ID' of yours"
            )
    assert execute(ann, session, code="import os; os.listdir()")["result"] == "[]"
    ann.delete(session)
    refused(bob.get(session), 404, "not-found")
    assert refused(ann.get(session), 410, "session-ended") == "the session was closed"


def test_no_more_sessions_than_there_may_be(ann: httpx.Client, bob: httpx.Client) -> None:
    places = [opened(ann) for _ in range(3)]
    assert "proctor_sessions 3.0" in ann.get("/metrics").text
    answer = bob.post("/v1/sessions", json={})
    refused(answer, 429, "busy")
    assert int(answer.headers["retry-after"]) > 0
    ann.delete(places[0])
    places[0] = opened(bob)
    bob.delete(places[0])
    for place in places[1:]:
        ann.delete(place)
    assert ann.get("/v1/sessions").json() == []


@pytest.mark.slow
def test_an_idle_session_ends_and_says_why(ann: httpx.Client) -> None:
    place = opened(ann, idle=2)
    # Longer than the idle limit, and used all the time.
    busy = execute(ann, place, code="import time\nfor _ in range(25): time.sleep(0.1)\n'awake'")
    assert busy["result"] == "'awake'"
    until(lambda: ann.get(place).status_code != 200)
    answer = ann.get(place)
    assert refused(answer, 410, "session-ended") == "the session was not used for 2 s"
    refused(ann.post(f"{place}/execute", json={"code": "1"}), 410, "session-ended")


def test_who_ends_his_own_session_is_told(ann: httpx.Client, session: str) -> None:
    answer = ann.post(
        f"{session}/execute", json={"program": {"source": "import os\nos.kill(-1, 9)"}}
    )
    if answer.status_code == 200:  # it got itself only
        answer = ann.get(session)
    refused(answer, 410, "session-ended")


FOREVER = "while True: pass"
DEAF = "import signal\nsignal.signal(2, signal.SIG_IGN)\nsignal.signal = lambda *_: None"


@pytest.mark.parametrize(
    "asked", [{"program": {"source": FOREVER}}, {"command": ["sleep", "1000"]}]
)
def test_who_hangs_up_ends_a_program(ann: httpx.Client, session: str, asked: dict) -> None:
    execute(ann, session, code="kept = 'yes'")
    hang_up_once_it_runs(ann, session, {**asked, "cpu": 600})
    # Waits for the one before: had that not been ended, this would not end.
    assert execute(ann, session, code="kept")["result"] == "'yes'"


@pytest.mark.slow
def test_a_cell_that_heeds_no_interrupt_is_ended_with_its_state(
    ann: httpx.Client, session: str
) -> None:
    execute(ann, session, code=f"lost = 'yes'\n{DEAF}")
    hang_up_once_it_runs(ann, session, {"code": FOREVER, "cpu": 600})
    assert execute(ann, session, code="'lost' in globals()")["result"] == "False"


def test_an_interrupted_cell_leaves_the_state(ann: httpx.Client, session: str) -> None:
    execute(ann, session, code="kept = 'yes'")
    hang_up_once_it_runs(ann, session, {"code": FOREVER, "cpu": 600})
    assert execute(ann, session, code="kept")["result"] == "'yes'"


def hang_up_once_it_runs(client: httpx.Client, place: str, asked: dict) -> None:
    async def go() -> None:
        async with httpx.AsyncClient(
            base_url=client.base_url, headers=client.headers, timeout=PATIENCE
        ) as other:
            running = asyncio.ensure_future(other.post(f"{place}/execute", json=asked))
            await until_true(lambda: client.get(place).json()["busy"])
            running.cancel()
            await asyncio.wait({running})

    asyncio.run(go())


def test_closing_ends_what_runs(ann: httpx.Client) -> None:
    place = opened(ann)
    answers: list[httpx.Response] = []
    asked = {"code": FOREVER, "cpu": 600}
    waiting = threading.Thread(
        target=lambda: answers.append(ann.post(f"{place}/execute", json=asked))
    )
    waiting.start()
    until(lambda: ann.get(place).json()["busy"])
    assert ann.delete(place).status_code == 200
    waiting.join()
    assert answers[0].status_code in {409, 410}, answers[0].text


def processes_with(marker: str) -> list[int]:
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if marker.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


@pytest.mark.slow
def test_nothing_is_left_of_a_server_that_is_killed() -> None:
    marker = f"proctor-marker-{secrets.token_hex(8)}"
    with serving("--cells", "2", "--sessions", "2") as served, served.client() as client:
        for _ in range(2):
            place = opened(client)
            sleeper = ["setsid", "python3", "-c", "import time\nwhile True: time.sleep(9)", marker]
            started = f"import subprocess\nsubprocess.Popen({sleeper!r})\nNone"
            assert execute(client, place, code=started)["verdict"] == "OK"
        until(lambda: len(processes_with(marker)) >= 2)
        os.kill(served.process.pid, signal.SIGKILL)
        served.process.wait()
        until(lambda: not processes_with(marker))
