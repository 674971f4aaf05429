"""Notebooks by SandboxFusion's published client, unmodified."""

import base64
from collections.abc import Iterator

import pytest

import needs
from served import Served, serving
from waiting import PATIENCE

pytest.importorskip("sandbox_fusion.models", reason=needs.package("sandbox-fusion"))

import requests
import sandbox_fusion as client


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with serving("--cells", "1", "--sessions", "0") as served:
        client.set_endpoint(served.url)
        yield served


pytestmark = [pytest.mark.package("sandbox-fusion"), pytest.mark.usefixtures("server")]


def run(*cells: str, **more: object) -> client.RunJupyterResponse:
    return client.run_jupyter(client.RunJupyterRequest(cells=list(cells), **more), max_attempts=1)


def test_cells_share_their_state_and_errors_are_theirs_alone() -> None:
    found = run(
        "a = 123", "a", "print(a)", "import sys; sys.stderr.write('to stderr'); None",
        "raise RuntimeError('so it is')", "a + 1",
    )  # fmt: skip
    assert found.status == "Success"
    assert (found.driver.status, found.driver.return_code) == ("Finished", 0)
    assert [cell.stdout for cell in found.cells] == ["", "", "123\n", "", "", ""]
    assert [cell.stderr for cell in found.cells] == ["", "", "", "to stderr", "", ""]
    shown = [cell.display for cell in found.cells]
    assert shown == [[], [{"text/plain": "123"}], [], [], [], [{"text/plain": "124"}]]
    (error,) = found.cells[4].error
    assert (error["ename"], error["evalue"]) == ("RuntimeError", "so it is")
    assert any("raise RuntimeError" in line for line in error["traceback"])
    assert all(not cell.error for index, cell in enumerate(found.cells) if index != 4)
    assert run("'a' in globals()").cells[0].display == [{"text/plain": "False"}]


def test_what_is_shown_in_several_types() -> None:
    page = "class Page:\n    def _repr_html_(self): return '<b>hi</b>'\n    def __repr__(self): return 'hi'"
    data = "class Data:\n    def _repr_json_(self): return {'a': [1]}\n    def __repr__(self): return 'data'"
    found = run(page, "display(Page(), 7)\nPage()", f"{data}\nData()", "display(1)\n1")
    both = {"text/plain": "hi", "text/html": "<b>hi</b>"}
    assert found.cells[1].display == [both, {"text/plain": "7"}, both]
    assert found.cells[2].display == [{"text/plain": "data", "application/json": {"a": [1]}}]
    assert found.cells[3].display == [{"text/plain": "1"}, {"text/plain": "1"}]


def test_files_in_and_out() -> None:
    files = {"data/a.bin": base64.b64encode(b"\xff\x00").decode()}
    code = "d = open('data/a.bin','rb').read()\nn = open('b.bin','wb').write(d[::-1])"
    found = run(code, files=files, fetch_files=["b.bin", "absent"])
    assert {name: base64.b64decode(text) for name, text in found.files.items()} == {
        "b.bin": b"\x00\xff"
    }


@pytest.mark.slow("cells2-limits2")
@pytest.mark.parametrize(
    ("cells", "limits"),
    [
        (["x = 1", "while True: pass", "x"], {"cell_timeout": 0.3}),
        (["x = 1", "while True: pass", "x"], {"total_timeout": 0.3}),
        (["x = 1", "import time; time.sleep(1000)", "x"], {"cell_timeout": 0.1}),
    ],
)
def test_a_cell_that_overruns_its_time_is_the_last(cells: list[str], limits: dict) -> None:
    found = run(*cells, **limits)
    assert (found.status, found.driver.status) == ("Failed", "TimeLimitExceeded")
    assert len(found.cells) == 2
    assert found.cells[1].error[0]["ename"] == "KeyboardInterrupt"


def test_a_cell_that_ends_the_interpreter_is_the_last(server: Served) -> None:
    found = run("import os; os._exit(3)", "1")
    assert (found.status, found.driver.return_code, len(found.cells)) == ("Failed", 3, 1)
    # The client knows no memory limit for notebooks; the API does.
    # It holds the memory until it is found out: without a control group the host has to look.
    held = "x = b'x' * (400 << 20)\nimport time\ntime.sleep(50)"
    body = {"cells": [held, "1"], "memory_limit_MB": 128}
    answer = requests.post(f"{server.url}/run_jupyter", json=body, timeout=PATIENCE).json()
    assert (answer["status"], answer["driver"]["limit"]) == ("Failed", "memory")
    assert (answer["driver"]["return_code"], len(answer["cells"])) == (-9, 1)


@pytest.mark.parametrize(
    "more", [{"files": {"../a": "eA=="}}, {"fetch_files": ["/etc/passwd"]}, {"files": {"a": "?"}}]
)
def test_names_that_lead_elsewhere_do_nothing(more: dict) -> None:
    with pytest.raises(Exception, match=r"plain relative path|not base64"):
        run("1", **more)


def test_bodies_that_are_not_as_described(server: Served) -> None:
    for body in ({}, {"cells": 1}, {"cells": [], "kernel": "julia"}):
        answer = requests.post(f"{server.url}/run_jupyter", json=body, timeout=PATIENCE)
        assert answer.status_code == 422
        assert answer.json()["detail"]


def test_more_requests_than_cells_all_get_their_answer() -> None:
    asked = [[client.RunJupyterRequest(cells=[f"x = {n}", "x * x"])] for n in range(6)]
    found = client.run_concurrent(client.run_jupyter, args=asked, concurrency=6)
    assert [each.cells[1].display for each in found] == [
        [{"text/plain": str(n * n)}] for n in range(6)
    ]
