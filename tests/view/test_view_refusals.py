"""Requests that `proctor view` refuses, and how the command begins and ends."""

import shutil
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from command import proctor as command
from viewed import PROBLEM, viewing

from served import Served

TARGET = {"run": "first", "problem": PROBLEM, "sample": 1, "mode": "standard"}


@pytest.fixture(scope="module")
def served(evaluated: Path) -> Iterator[Served]:
    with viewing(evaluated) as found:
        yield found


@pytest.mark.parametrize("path", ["/", "/api/runs", "/api/samples?run=first", "/view.js"])
@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8378", "127.0.0.1.evil.example", ""]
)
def test_other_host_names(served: Served, path: str, host: str) -> None:
    answer = httpx.get(served.url + path, headers={"Host": host})
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
def test_other_pages(served: Served, headers: dict[str, str]) -> None:
    with httpx.Client(base_url=served.url, headers=headers) as client:
        assert client.get("/api/runs").status_code == 403
        assert client.get("/api/text", params={**TARGET, "part": "reply"}).status_code == 403
        assert client.post("/api/replay", json=TARGET).status_code == 403
    assert httpx.get(f"{served.url}/api/replay").json()["state"] == "none"


def test_nothing_is_begun_by_a_request_of_no_page(served: Served) -> None:
    assert httpx.post(f"{served.url}/api/replay", json=TARGET).status_code == 403
    form = {"Origin": served.url, "Content-Type": "text/plain"}
    answer = httpx.post(f"{served.url}/api/replay", content=b"{}", headers=form)
    assert answer.status_code == 400
    assert httpx.get(f"{served.url}/api/replay").json()["state"] == "none"


def test_bodies_are_bounded(served: Served) -> None:
    headers = {"Origin": served.url, "Content-Type": "application/json"}
    answer = httpx.post(
        f"{served.url}/api/replay", content=b'{"run": "' + b"x" * 100_000, headers=headers
    )
    assert answer.status_code == 413


def test_a_link_from_elsewhere_leads_to_the_page(served: Served) -> None:
    answer = httpx.get(served.url + "/", headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 200


@pytest.mark.parametrize("path", ["/", "/base.css", "/view.css", "/view.js", "/api/runs", "/none"])
def test_headers_of_all_answers(served: Served, path: str) -> None:
    headers = httpx.get(served.url + path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"


def test_it_is_for_this_machine_alone(served: Served) -> None:
    assert served.url.startswith("http://127.0.0.1:")


def test_ctrl_c_ends_it(evaluated: Path) -> None:
    with viewing(evaluated) as served:
        assert httpx.get(f"{served.url}/api/runs").status_code == 200
        served.process.send_signal(signal.SIGINT)
        assert served.process.wait(60) == 0
        assert Path(served.log).read_text() == ""


def test_one_run_alone(evaluated: Path, tmp_path: Path) -> None:
    shutil.copytree(evaluated / "first", tmp_path / "alone")
    with viewing(tmp_path / "alone") as served:
        assert [each["name"] for each in httpx.get(f"{served.url}/api/runs").json()] == ["alone"]


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
