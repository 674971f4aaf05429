"""What one client may not do to the server, nor a page to whoever runs it."""

import asyncio
import json
import signal
import threading
from collections.abc import Iterator

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from proctor.service.http.sandbox_fusion.datasets import same_output
from served import Served, serving
from waiting import PATIENCE, until

PRINT = {"code": "print(1)", "language": "python"}


def address(server: Served) -> str:
    return server.url.replace("http://", "ws://") + "/api/v2/connect"


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with serving("--cells", "1", "--no-access-log") as served:
        yield served


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example", "null", "http://[", "http://127.evil", "file://", "",
        "http://localhost:3000", "http://127.0.0.1", "http://localhost",  # others of this machine
    ],
)  # fmt: skip
def test_a_page_of_another_host_gets_nothing_from_a_server_without_tokens(
    server: Served, origin: str
) -> None:
    with server.client() as client:
        for method, path in (("POST", "/run_code"), ("GET", "/v1/languages"), ("GET", "/healthz")):
            answer = client.request(method, path, json=PRINT, headers={"Origin": origin})
            assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")

    async def talk() -> None:
        async with connect(address(server), origin=origin, open_timeout=PATIENCE):  # type: ignore[arg-type]
            pass

    with pytest.raises(InvalidStatus):
        asyncio.run(talk())


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8377", "127.0.0.1.evil.example", "localhost@evil", "[::1", ""],
)
@pytest.mark.parametrize(
    "path", ["/v1/sessions", "/v1/languages", "/metrics", "/schema/openapi.json", "/v1/ping",
             "/api/v2/runtimes", "/languages", "/mcp", "/list_datasets"],
)  # fmt: skip
def test_a_name_that_was_made_to_lead_here_gets_nothing(
    server: Served, host: str, path: str
) -> None:
    """DNS rebinding: to the browser the page is of this very host, and it sends no Origin."""
    with server.client() as client:
        for method in ("GET", "POST"):
            answer = client.request(method, path, headers={"Host": host})
            assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


def test_who_looks_after_servers_asks_by_any_name(server: Served) -> None:
    port = server.url.rpartition(":")[2]
    with server.client() as client:
        for host in ("10.0.0.7:8377", "proctor", "proctor.svc.cluster.local"):
            for path in ("/healthz", "/readyz"):
                assert client.get(path, headers={"Host": host}).status_code == 200
        for host in (f"localhost:{port}", "127.0.0.1", "127.0.0.9:1", f"[::1]:{port}", "LOCALHOST"):
            assert client.get("/metrics", headers={"Host": host}).status_code == 200


@pytest.mark.slow
def test_further_names_are_allowed_by_a_setting() -> None:
    names = ("--allow-host", "Proctor.lan", "--allow-host", "localhost:3000")
    with serving("--cells", "1", "--no-access-log", *names) as served, served.client() as client:
        own = {"Host": "proctor.lan:8377", "Origin": "https://proctor.lan:8377"}
        for headers, status in (
            ({"Host": "proctor.lan"}, 200),
            (own, 200),
            ({"Host": "proctor.lan", "Origin": "http://other.lan"}, 403),
            ({"Origin": "http://localhost:3000"}, 200),
            ({"Origin": "http://localhost:3001"}, 403),
            ({"Host": "other.lan"}, 403),
        ):
            assert client.get("/v1/languages", headers=headers).status_code == status, headers


@pytest.mark.slow
def test_a_page_of_its_own_and_one_with_a_token_get_their_answer(
    server: Served, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with server.client() as client:
        answer = client.post("/run_code", json=PRINT, headers={"Origin": server.url})
        assert answer.json()["run_result"]["stdout"] == "1\n"
    tokens = tmp_path_factory.mktemp("tokens") / "tokens"
    tokens.write_text("ann:0123456789abcdef-ann\n")
    tokens.chmod(0o600)
    page = {"Origin": "https://app.example"}
    with (
        serving("--cells", "1", "--token-file", str(tokens)) as other,
        other.client("0123456789abcdef-ann") as client,
    ):
        assert client.get("/v1/languages", headers=page).status_code == 200
        assert client.get("/v1/languages", headers={"Host": "any.example"}).status_code == 200


def test_a_million_writes_are_few_events_and_nothing_is_lost(server: Served) -> None:
    source = "import os\nfor at in range(50_000): os.write(1 + at % 2, b'x')"
    asked = {"program": {"source": source}, "limits": {"cpu": 60}}
    sizes, events = {"stdout": 0, "stderr": 0}, 0
    with (
        server.client() as client,
        client.stream(
            "POST", "/v1/run", json=asked, headers={"Accept": "text/event-stream"}
        ) as got,
    ):
        name = ""
        for line in got.iter_lines():
            key, _, value = line.partition(": ")
            if key == "event":
                name, events = value, events + 1
            elif key == "data" and name in sizes:
                sizes[name] += len(json.loads(value)["text"])
    assert name == "done"
    assert sizes == {"stdout": 25_000, "stderr": 25_000}
    assert events < 10_000


def test_a_fault_is_not_the_answer_to_every_later_try(server: Served) -> None:
    """A key whose job was called off makes a new one."""
    key = {"Idempotency-Key": "again"}
    asked = {"program": {"source": "while True: pass"}, "limits": {"cpu": 600}}
    with server.client() as client:
        first = client.post("/v1/run?wait=false", json=asked, headers=key).json()["id"]
        assert client.post("/v1/run?wait=false", json=asked, headers=key).json()["id"] == first
        client.delete(f"/v1/jobs/{first}")
        second = client.post("/v1/run?wait=false", json=asked, headers=key).json()["id"]
        assert second != first
        client.delete(f"/v1/jobs/{second}")
        assert client.post("/run_code", json=PRINT).status_code == httpx.codes.OK


def test_outputs_of_different_length_differ_before_they_are_taken_apart() -> None:
    assert not same_output("1\n" * 3_000_000, "1")
    assert same_output("1\n" * 3, "1\n1\n1")
    assert same_output("\n\n A \n", "a")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("/v1/run", {"program": {"source": "while True: pass"}, "limits": {"cpu": 600}}),
        ("/api/v2/execute", {"language": "python", "version": "*", "run_timeout": 600_000,
                             "files": [{"content": "while True: pass"}]}),
    ],
)  # fmt: skip
def test_who_waits_when_the_server_is_stopped_is_told_that_it_was_not_his_fault(
    path: str, asked: dict[str, object]
) -> None:
    answers: list[httpx.Response] = []
    with serving("--cells", "1", "--no-access-log") as served, served.client() as client:
        waiting = threading.Thread(
            target=lambda: answers.append(
                httpx.post(served.url + path, json=asked, timeout=PATIENCE)
            )
        )
        waiting.start()
        until(lambda: "proctor_jobs_running 1.0" in client.get("/metrics").text)
        served.process.send_signal(signal.SIGINT)
        while True:  # until that is seen to: two signals at once would be one
            try:
                httpx.get(served.url + "/healthz", timeout=PATIENCE)
            except httpx.TransportError:
                break
        served.process.send_signal(signal.SIGINT)
        waiting.join()
        served.process.wait(PATIENCE)
    answer = answers[0].json()
    assert answers[0].status_code in {500, 503}
    said = answer["message"] if path.startswith("/api") else answer["title"]
    assert "the server is being stopped" in said


def test_a_problem_has_a_number_of_tests_that_others_can_wait_for(server: Served) -> None:
    asked = {"program": {"source": "print(1)"}, "problem": {"tests": [{}] * 100_001}}
    with server.client() as client:
        answer = client.post("/v1/judge", json=asked)
    assert answer.status_code == 400
    assert "100000" in answer.json()["detail"]


def test_a_large_answer_is_whole(server: Served) -> None:
    asked = {"code": "print('x' * 9_999_999)", "language": "python"}
    with server.client() as client:
        assert len(client.post("/run_code", json=asked).json()["run_result"]["stdout"]) == 10**7
