"""Requests that `proctor view` refuses, and how the command begins and ends."""

import shutil
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from command import proctor as command
from viewed import PROBLEM, Viewed, viewing

from waiting import PATIENCE

TARGET = {"run": "first", "problem": PROBLEM, "sample": 1, "mode": "standard"}


@pytest.fixture(scope="module")
def served(evaluated: Path) -> Iterator[Viewed]:
    with viewing(evaluated) as found:
        yield found


@pytest.mark.parametrize("path", ["/", "/api/runs", "/api/samples?run=first", "/view.js"])
@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8378", "127.0.0.1.evil.example", ""]
)
def test_other_host_names(served: Viewed, path: str, host: str) -> None:
    with served.client(Host=host) as client:
        answer = client.get(path)
    assert answer.status_code in {400, 403}
    assert "first" not in answer.text


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://localhost"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_other_pages(served: Viewed, headers: dict[str, str]) -> None:
    with served.client(**headers) as client:
        assert client.get("/api/runs").status_code == 403
        assert client.get("/api/text", params={**TARGET, "part": "reply"}).status_code == 403
        assert client.post("/api/replay", json=TARGET).status_code == 403
    assert served.get("/api/replay").json()["state"] == "none"


def test_nothing_is_begun_by_a_request_of_no_page(served: Viewed) -> None:
    with served.client() as client:
        assert client.post("/api/replay", json=TARGET).status_code == 403
    with served.client(Origin=served.url, **{"Content-Type": "text/plain"}) as client:
        assert client.post("/api/replay", content=b"{}").status_code == 400
    assert served.get("/api/replay").json()["state"] == "none"


def test_bodies_are_bounded(served: Viewed) -> None:
    with served.client(Origin=served.url, **{"Content-Type": "application/json"}) as client:
        answer = client.post("/api/replay", content=b'{"run": "' + b"x" * 100_000)
    assert answer.status_code == 413


@pytest.mark.parametrize("path", ["/", "/?token=", "/?token=wrong", "/view.js", "/api/runs"])
@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Cookie": "a=b"}])
def test_programs_and_others_of_this_machine(
    served: Viewed, path: str, headers: dict[str, str]
) -> None:
    answer = httpx.get(served.url + path, headers=headers, timeout=PATIENCE)
    assert answer.status_code == 401
    assert "open the address" in answer.json()["title"]
    assert "set-cookie" not in answer.headers


def test_the_printed_address_is_all_it_takes(served: Viewed) -> None:
    with httpx.Client(base_url=served.url, timeout=PATIENCE) as browser:
        first = browser.get(served.begin, headers={"Sec-Fetch-Site": "cross-site"})
        assert first.status_code == 200
        assert "HttpOnly; SameSite=Strict" in first.headers["set-cookie"]
        assert browser.get("/").status_code == 200
        assert browser.get("/api/runs").status_code == 200
        assert browser.get("/api/runs", headers={"Origin": "null"}).status_code == 403


@pytest.mark.parametrize("path", ["/", "/base.css", "/view.css", "/view.js", "/api/runs", "/none"])
def test_headers_of_all_answers(served: Viewed, path: str) -> None:
    headers = served.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"


def test_it_is_for_this_machine_alone(served: Viewed) -> None:
    assert served.url.startswith("http://127.0.0.1:")


def test_ctrl_c_ends_it(evaluated: Path) -> None:
    with viewing(evaluated) as served:
        assert served.get("/api/runs").status_code == 200
        served.process.send_signal(signal.SIGINT)
        assert served.process.wait(PATIENCE) == 0
        assert Path(served.log).read_text() == ""


def test_one_run_alone(evaluated: Path, tmp_path: Path) -> None:
    shutil.copytree(evaluated / "first", tmp_path / "alone")
    with viewing(tmp_path / "alone") as served:
        assert [each["name"] for each in served.get("/api/runs").json()] == ["alone"]


@pytest.mark.slow
def test_what_cannot_be_served(tmp_path: Path) -> None:
    done = command("view", tmp_path / "none")
    assert done.returncode == 2
    assert b"there is no such directory" in done.stderr
    done = command("view", tmp_path, "--port", "65536")
    assert done.returncode == 2
    assert b"a port is a number" in done.stderr
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = command("view", tmp_path, "--port", str(taken.getsockname()[1]))
    assert done.returncode == 2
    assert b"cannot listen" in done.stderr
