"""What NeMo-Skills' client sends and reads, over a real socket."""

import shutil
import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from served import OWNERS, Served, serving_two
from waiting import until


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving_two(
        tmp_path_factory.mktemp("tokens"), "--cells", "2", "--sessions", "2"
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


@pytest.fixture
def name(ann: httpx.Client) -> Iterator[str]:
    made = str(uuid.uuid4())
    yield made
    ann.delete(f"/sessions/{made}")


def execute(
    client: httpx.Client, code: str, session: str | None = None, **more: object
) -> httpx.Response:
    """As their LocalSandbox sends it: every field, the session in a header."""
    body = {
        "generated_code": code, "std_input": "", "timeout": 10.0, "language": "ipython",
        "max_output_characters": 1000, "traceback_verbosity": "Plain", **more,
    }  # fmt: skip
    headers = {} if session is None else {"X-Session-ID": session}
    return client.post("/execute", json=body, headers=headers)


def told(client: httpx.Client, code: str, session: str | None = None, **more: object) -> dict:
    answer = execute(client, code, session, **more)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_session_keeps_its_state(ann: httpx.Client, name: str) -> None:
    assert told(ann, "x = 20\nprint('a')\nx + 1", name) == {
        "process_status": "completed", "stdout": "a\n21\n", "stderr": "",
        "new_session_created": True,
    }  # fmt: skip
    again = told(ann, "import sys; print(x * 2); print('no', file=sys.stderr)", name)
    assert (again["stdout"], again["stderr"], again["new_session_created"]) == (
        "40\n",
        "no\n",
        False,
    )
    listed = ann.get("/sessions").json()
    assert listed["backend"] == "ipython"
    assert listed["sessions"][name]["alive"]
    assert listed["sessions"][name]["last_used"] >= listed["sessions"][name]["created"]
    ended = ann.delete(f"/sessions/{name}")
    assert ended.json() == {"message": f"IPython session {name} deleted successfully"}
    gone = ann.delete(f"/sessions/{name}")
    assert (gone.status_code, gone.json()) == (404, {"error": f"IPython session {name} not found"})
    assert told(ann, "'x' in globals()", name)["stdout"] == "False\n"


def test_what_cells_do_wrong(ann: httpx.Client, name: str) -> None:
    raised = told(ann, "y = 1\n1 / 0", name)
    assert raised["process_status"] == "error"
    assert raised["stdout"] == (
        "Traceback (most recent call last):\n    1 / 0\nZeroDivisionError: division by zero\n"
    )
    unread = told(ann, "a = 2\n b = 3", name)
    assert unread["stdout"] == "    b = 3\n    ^\nIndentationError: unexpected indent\n"
    minimal = told(ann, "1 / 0", name, traceback_verbosity="Minimal")
    assert minimal["stdout"] == "ZeroDivisionError: division by zero\n"
    for forever in ("while True: pass", "import time; time.sleep(1000)"):
        late = told(ann, forever, name, timeout=0.3)
        assert (late["process_status"], late["stdout"]) == ("timeout", "")
        assert late["stderr"] == "Execution timed out after 0.3 seconds\n"
        assert not late["new_session_created"]
    assert told(ann, "y", name)["stdout"] == "1\n"
    ended = told(ann, "import os; os._exit(1)", name)
    assert (ended["process_status"], ended["new_session_created"]) == ("error", True)
    assert told(ann, "'y' in globals()", name)["new_session_created"]


def test_long_output_is_cut(ann: httpx.Client, name: str) -> None:
    for language, session in (("ipython", name), ("python", None)):
        found = told(ann, "print('x' * 100)", session, language=language, max_output_characters=5)
        assert found["stdout"] == "xxxxx<output cut>"


@pytest.mark.slow
@pytest.mark.parametrize("language", ["python", "python3", "pypy3"])
def test_programs_have_no_state(ann: httpx.Client, language: str) -> None:
    if language == "pypy3" and shutil.which("pypy3") is None:
        pytest.skip("pypy3 is not installed")
    answer = execute(ann, "z = input()\nprint(z + '!')", language=language, std_input="hé")
    assert answer.json() == {"process_status": "completed", "stdout": "hé!\n", "stderr": ""}
    assert answer.headers["x-proctor-verdict"] == "OK"
    answer = execute(ann, "print(1, flush=True)\nz", language=language)
    assert answer.json() == {
        "process_status": "completed", "stdout": "1\n",
        "stderr": 'Traceback (most recent call last):\n  File "<string>", line 2, in <module>\n'
        "NameError: name 'z' is not defined\n",
    }  # fmt: skip
    assert answer.headers["x-proctor-verdict"] == "RE"
    unread = told(ann, "print(1)\n b = 3", language=language)
    assert (unread["process_status"], unread["stdout"]) == ("completed", "")
    assert unread["stderr"] == (
        '  File "<string>", line 2\n    b = 3\nIndentationError: unexpected indent\n'
    )
    for forever in ("while True: pass", "import time; time.sleep(1000)"):
        late = told(ann, f"print(1, flush=True)\n{forever}", language=language, timeout=0.5)
        assert (late["process_status"], late["stdout"]) == ("timeout", "")
        assert late["stderr"] == "Execution timed out after 0.5 seconds\n"


def test_shell_commands(ann: httpx.Client) -> None:
    found = told(ann, "echo a | tr a b\necho c >&2", language="shell")
    assert (found["process_status"], found["stdout"], found["stderr"]) == (
        "completed",
        "b\n",
        "c\n",
    )
    assert told(ann, "exit 3", language="shell")["process_status"] == "error"
    unread = told(ann, "echo a\necho 'b", language="shell")
    assert (unread["process_status"], unread["stdout"]) == ("error", "a\n")
    assert "line 2: unexpected EOF while looking for matching" in unread["stderr"]


def test_what_is_not_served(ann: httpx.Client, name: str) -> None:
    for language, why in (("lean4", "no Lean is installed here"), ("cobol", "unknown")):
        answer = execute(ann, "theorem", language=language)
        assert answer.status_code == 400
        assert why in answer.json()["error"]
        assert answer.json()["process_status"] == "error"
    answer = execute(ann, "1")
    assert (answer.status_code, answer.json()) == (
        400, {"error": "X-Session-ID header required for ipython sessions"},
    )  # fmt: skip
    assert ann.post("/execute", json={"timeout": 1}).status_code == 400
    assert execute(ann, "1", name, timeout=-1).status_code == 400
    assert ann.get("/health").json()["status"] == "healthy"


def test_another_owner_has_another_session_of_the_same_name(
    ann: httpx.Client, bob: httpx.Client, name: str
) -> None:
    told(ann, "mine = 1", name)
    assert bob.get("/sessions").json()["sessions"] == {}
    assert bob.delete(f"/sessions/{name}").status_code == 404
    assert told(bob, "'mine' in globals()", name)["stdout"] == "False\n"
    assert bob.delete(f"/sessions/{name}").status_code == 200
    assert told(ann, "mine", name)["stdout"] == "1\n"


@pytest.mark.slow
def test_the_session_that_rested_longest_makes_room(ann: httpx.Client, bob: httpx.Client) -> None:
    told(bob, "1", "of another owner")
    told(ann, "1", "first")
    assert told(ann, "1", "second")["process_status"] == "completed"
    assert list(ann.get("/sessions").json()["sessions"]) == ["second"]
    assert told(ann, "1", "first")["new_session_created"]
    assert list(ann.get("/sessions").json()["sessions"]) == ["first"]
    assert list(bob.get("/sessions").json()["sessions"]) == ["of another owner"]
    assert ann.delete("/sessions/first").status_code == 200
    assert bob.delete("/sessions/of another owner").status_code == 200


def test_sessions_at_work_are_waited_for(ann: httpx.Client) -> None:
    with ThreadPoolExecutor(3) as threads:
        working = [
            threads.submit(told, ann, "import time; time.sleep(1000)", name, timeout=100)
            for name in ("one", "other")
        ]
        until(lambda: len(ann.get("/sessions").json()["sessions"]) >= 2)
        late = threads.submit(told, ann, "2", "late")
        assert ann.delete("/sessions/one").status_code == 200
        assert late.result()["stdout"] == "2\n"
        assert ann.delete("/sessions/other").status_code == 200
        assert {each.result()["process_status"] for each in working} == {"error"}
    assert ann.delete("/sessions/late").status_code == 200


def test_what_is_shown_keeps_its_order(ann: httpx.Client, name: str) -> None:
    found = told(ann, "print(1)\ndisplay([2])\nprint(3)\ndisplay(4)\n5", name)
    assert found["stdout"] == "1\n[2]\n3\n4\n5\n"
    assert told(ann, "print('Out[3]: \x1b[31mred\x1b[0m', end='')\n5", name)["stdout"] == (
        "redOut[1]: 5\n"
    )
    table = "class Table:\n    def __repr__(self): return '  a\\n0 1'\nTable()"
    assert told(ann, table, name)["stdout"] == "  a\n0 1\n"


def test_requests_that_come_together_share_one_new_session(ann: httpx.Client, name: str) -> None:
    answers: list[dict] = []
    code = "n = globals().get('n', 0) + 1\nn"
    threads = [
        threading.Thread(target=lambda: answers.append(told(ann, code, name))) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(each["stdout"] for each in answers) == [f"{n}\n" for n in range(1, 7)]
    assert [each["new_session_created"] for each in answers].count(True) == 1
