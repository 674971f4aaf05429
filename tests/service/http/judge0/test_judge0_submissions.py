"""Judge0's API over a real socket: submissions, what becomes of them, who sees them."""

import base64
import json
from typing import Any

import httpx
import pytest
from judge0_client import ANN, BOB, CPP, MULTI_FILE, PYTHON, judged

from proctor.service.http.judge0.schema import DESCRIPTIONS
from served import Served
from waiting import until


def test_what_is_told_without_asking(ann: httpx.Client) -> None:
    asked = {"source_code": "print(input())", "language_id": PYTHON, "stdin": "hé"}
    found = ann.post("/submissions/?base64_encoded=false&wait=true", json=asked).json()
    assert found.keys() == {"stdout", "time", "memory", "stderr", "token", "compile_output",
                            "message", "status"}  # fmt: skip
    assert found["stdout"] == "hé\n"
    assert found["status"] == {"id": 3, "description": "Accepted"}
    assert found["stderr"] is found["message"] is found["compile_output"] is None
    assert isinstance(found["time"], str)
    assert float(found["time"]) >= 0
    assert found["memory"] > 500


def test_fields_of_ours_come_when_named(ann: httpx.Client) -> None:
    found = judged(ann, "print(1)")
    assert found["isolation"] in {"namespaces", "landlock"}
    assert found["verdict"] == "OK"
    assert found["limit"] is None
    only = ann.get(f"/submissions/{found['token']}?fields=verdict").json()
    assert only == {"verdict": "OK"}
    assert "verdict" not in ann.get(f"/submissions/{found['token']}?fields=*").json()


@pytest.mark.parametrize(
    ("printed", "expected", "status"),
    [
        ("a  \nb\n\n\n", "a\nb", 3),
        ("a\r\nb\0", "a\nb\t\n", 3),
        (" a", "a", 4),
        ("a\n\nb", "a\nb", 4),
        ("A", "a", 4),
    ],
)
def test_outputs_are_compared_as_there(
    ann: httpx.Client, printed: str, expected: str, status: int
) -> None:
    found = judged(ann, f"import sys; sys.stdout.write({printed!r})", expected_output=expected)
    assert found["status"]["id"] == status
    assert found["verdict"] == {3: "AC", 4: "WA"}[status]


KILL = "import os; os.kill(os.getpid(), {})"


@pytest.mark.slow("import time; time.sleep(60)-5-Time limit exceeded (wall clock)-ILE")
@pytest.mark.parametrize(
    ("source", "status", "message", "verdict"),
    [
        ("while True: pass", 5, "Time limit exceeded", "TLE"),
        ("import time; time.sleep(60)", 5, "Time limit exceeded (wall clock)", "ILE"),
        (KILL.format(11), 7, "Caught fatal signal 11", "RE"),
        ("while True: print('x' * 1000)", 8, "Output limit exceeded: see max_file_size", "OLE"),
        (KILL.format(8), 9, "Caught fatal signal 8", "RE"),
        (KILL.format(6), 10, "Caught fatal signal 6", "RE"),
        ("raise SystemExit(3)", 11, "Exited with error status 3", "RE"),
        (KILL.format(9), 12, "Caught fatal signal 9", "RE"),
    ],
)
def test_every_end_has_its_status(
    ann: httpx.Client, source: str, status: int, message: str, verdict: str
) -> None:
    # A busy machine makes the others wait.
    wall = {"wall_time_limit": 4} if verdict == "ILE" else {}
    found = judged(ann, source, cpu_time_limit=0.5, expected_output="x", max_file_size=64, **wall)
    assert (found["status"]["id"], found["message"], found["verdict"]) == (status, message, verdict)
    assert found["status_id"] == status


def test_memory(ann: httpx.Client) -> None:
    source = "x = []\nwhile True: x.append(bytearray(1 << 20))"
    found = judged(ann, source, memory_limit=64000)
    assert found["status"]["id"] in {11, 12}
    assert (found["verdict"], found["limit"]) == ("MLE", "memory")


@pytest.mark.compiler
def test_a_language_that_is_compiled(ann: httpx.Client) -> None:
    source = '#include <cstdio>\nint main(int n, char**a){printf("%ld %s", __cplusplus, a[1]);}'
    found = judged(ann, source, CPP, command_line_arguments="'a b' c", compiler_options="-O3")
    assert found["stdout"] == "201703 a b"
    found = judged(ann, source, CPP, command_line_arguments="x", compiler_options="-std=c++20")
    assert found["stdout"] == "202002 x"
    found = judged(ann, "int main({", CPP)
    assert found["status"] == {"id": 6, "description": "Compilation Error"}
    assert "error" in found["compile_output"]
    assert found["stdout"] is found["time"] is found["memory"] is None


@pytest.mark.compiler
def test_stderr_goes_to_stdout_in_the_order_in_which_it_is_written(ann: httpx.Client) -> None:
    for language, source in (
        (PYTHON, "import os\nfor n in range(4): os.write(1 + n % 2, b'%d' % n)"),
        (CPP, '#include <unistd.h>\nint main() { write(2, "01", 2); write(1, "23", 2); }'),
    ):
        asked = {"source_code": source, "language_id": language, "expected_output": "0123"}
        asked |= {"redirect_stderr_to_stdout": True}
        query = "?wait=true&fields=stdout,stderr,status_id,redirect_stderr_to_stdout"
        assert ann.post(f"/submissions{query}", json=asked).json() == {
            "stdout": "0123", "stderr": None, "status_id": 3, "redirect_stderr_to_stdout": True,
        }  # fmt: skip


def test_texts_as_base64(ann: httpx.Client) -> None:
    def packed(data: bytes) -> str:
        return base64.encodebytes(data).decode()  # with line breaks, as Judge0 writes it

    source = b"import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read()[::-1])"
    asked = {"source_code": packed(source), "language_id": PYTHON, "stdin": packed(b"\xff\x00" * 99),
             "expected_output": packed(b"\x00\xff" * 99)}  # fmt: skip
    query = {"base64_encoded": "true", "wait": "true"}
    found = ann.post("/submissions", json=asked, params=query).json()
    assert base64.b64decode(found["stdout"]) == b"\x00\xff" * 99
    assert found["status"]["id"] == 3
    token = found["token"]
    assert ann.get(f"/submissions/{token}").status_code == 400  # no text
    shown = ann.get(f"/submissions/{token}?base64_encoded=true&fields=stdin,status_id").json()
    assert shown == {"stdin": packed(b"\xff\x00" * 99), "status_id": 3}


def test_tokens_are_their_owners(server: Served, ann: httpx.Client) -> None:
    asked = {"source_code": "print(1)", "language_id": PYTHON}
    token = ann.post("/submissions", json=asked).json()["token"]
    found = {}
    while found.get("status", {}).get("id", 1) in {1, 2}:
        found = ann.get(f"/judge0/submissions/{token}").json()
    assert found["stdout"] == "1\n"
    with server.client(BOB) as bob:
        for method in ("GET", "DELETE"):
            assert bob.request(method, f"/submissions/{token}").status_code == 404
        batch = bob.get(f"/submissions/batch?tokens={token}").json()
        assert batch == {"submissions": [None]}
    assert ann.get(f"/submissions/{token}?fields=nothing").json() == {
        "error": "invalid fields: [nothing]"
    }
    gone = ann.delete(f"/submissions/{token}?fields=stdout").json()
    assert gone == {"stdout": "MQo=\n"}
    assert ann.get(f"/submissions/{token}").status_code == 404
    job = ann.post("/v1/run?wait=false", json={"program": {"source": "print(1)"}}).json()["id"]
    assert ann.get(f"/submissions/{job}").status_code == 404  # of another door


def test_one_that_runs_is_not_deleted(ann: httpx.Client) -> None:
    asked = {"source_code": "while True: pass", "language_id": PYTHON, "cpu_time_limit": 3600}
    token = ann.post("/submissions", json=asked).json()["token"]
    until(lambda: ann.get(f"/submissions/{token}?fields=status_id").json() == {"status_id": 2})
    answer = ann.delete(f"/submissions/{token}")
    assert answer.status_code == 400
    assert "status is 2 (Processing)" in answer.json()["error"]
    ann.delete(f"/v1/jobs/{token}")
    found = ann.get(f"/submissions/{token}?fields=status_id,verdict").json()
    assert found == {"status_id": 13, "verdict": "CANCELLED"}


def test_who_hangs_up_wants_no_answer(server: Served, ann: httpx.Client) -> None:
    asked = {"source_code": "while True: pass", "language_id": PYTHON, "cpu_time_limit": 3600}
    with (
        httpx.Client(base_url=server.url, headers={"X-Auth-Token": ANN}, timeout=1) as client,
        pytest.raises(httpx.ReadTimeout),
    ):
        client.post("/submissions?wait=true", json=asked)
    until(lambda: not ann.get("/workers").json()[0]["working"])


def test_batches(ann: httpx.Client) -> None:
    asked = [
        {"source_code": "print(input())", "language_id": PYTHON, "stdin": str(number)}
        for number in range(5)
    ]
    answer = ann.post("/submissions/batch", json={"submissions": [*asked, {"language_id": 1}]})
    assert answer.status_code == 201
    *taken, refused = answer.json()
    assert refused == {
        "source_code": ["can't be blank"], "language_id": ["language with id 1 doesn't exist"],
    }  # fmt: skip
    tokens = ",".join(each["token"] for each in taken)
    found: list[dict[str, Any]] = [{"status_id": 1}]
    while any(each["status_id"] in {1, 2} for each in found):
        query = {"tokens": tokens, "fields": "status_id,stdout"}
        found = ann.get("/submissions/batch", params=query).json()["submissions"]
    assert [each["stdout"] for each in found] == [f"{number}\n" for number in range(5)]
    assert ann.post("/submissions/batch", json={"submissions": []}).status_code == 400
    assert ann.get("/submissions/batch").status_code == 400


@pytest.mark.parametrize(
    ("more", "field", "complaint"),
    [
        ({"language_id": 45}, "language_id", "language with id 45 doesn't exist"),
        ({"language_id": MULTI_FILE, "additional_files": "UEsFBgAAAAAAAAAAAAAAAAAAAAAAAA=="},
         "source_code", "must be blank"),
        ({"language_id": MULTI_FILE, "source_code": ""}, "additional_files", "can't be blank"),
        ({"language_id": None}, "language_id", "can't be blank"),
        ({"source_code": ""}, "source_code", "can't be blank"),
        ({"cpu_time_limit": 3601}, "cpu_time_limit", "must be less than or equal to 3600"),
        ({"cpu_time_limit": 5e-324}, "cpu_time_limit", "must be greater than 0"),
        ({"wall_time_limit": 5e-324}, "wall_time_limit", "must be greater than 0"),
        ({"cpu_time_limit": "fast"}, "cpu_time_limit", "is not a number"),
        ({"cpu_time_limit": "nan"}, "cpu_time_limit", "is not a number"),
        ({"memory_limit": 0}, "memory_limit", "must be greater than 0"),
        ({"memory_limit": 10**400}, "memory_limit", "is not a number"),
        ({"number_of_runs": 1.5}, "number_of_runs", "must be an integer"),
        ({"enable_network": True}, "enable_network", "enabling network is not allowed"),
        ({"callback_url": "http://127.0.0.1/"}, "callback_url", "not one of the hosts"),
        ({"callback_url": "http://example.org:22/"}, "callback_url", "not one of the hosts"),
        ({"callback_url": "http://example.org@127.0.0.1/"}, "callback_url", "not one of the hosts"),
        ({"callback_url": "http://example.org/\r\nX: y"}, "callback_url", "is not a URL"),
        ({"callback_url": "ftp://example.org/"}, "callback_url", "is not a URL"),
        ({"additional_files": "?"}, "additional_files", "is not base64"),
        ({"additional_files": "eA=="}, "additional_files", "no zip archive"),
        ({"command_line_arguments": "'"}, "command_line_arguments", "cannot be split"),
        ({"compiler_options": "-O2"}, "compiler_options", "only allowed for compiled languages"),
        pytest.param(
            {"language_id": CPP, "compiler_options": "-include /etc/passwd"}, "compiler_options",
            "only -std=", marks=pytest.mark.compiler,
        ),
    ],
)  # fmt: skip
def test_what_is_refused_is_named(
    ann: httpx.Client, more: dict[str, Any], field: str, complaint: str
) -> None:
    asked = {"source_code": "print(1)", "language_id": PYTHON, **more}
    answer = ann.post("/submissions", content=json.dumps(asked))
    assert answer.status_code == 422, answer.text
    assert answer.json().keys() == {field}
    assert complaint in answer.json()[field][0]


def test_bodies_that_are_none(ann: httpx.Client) -> None:
    for body in (b"", b"{", b"[]", b"\xff"):
        answer = ann.post("/submissions", content=body)
        assert answer.status_code == 400, answer.text
        assert answer.json()["error"]
    form = {"source_code": "print(1 + 1)", "language_id": "71", "cpu_time_limit": "2.5"}
    assert ann.post("/submissions?wait=true", data=form).json()["stdout"] == "2\n"


def test_the_expected_output_is_nowhere_in_the_cell(ann: httpx.Client) -> None:
    source = """
import os, sys
secret = bytes(b ^ 1 for b in b"rdbsdu,0342")
for top, _, names in os.walk("."):
    for name in names:
        assert secret not in open(os.path.join(top, name), "rb").read()
print(secret.decode() in f"{os.environ} {sys.argv}")
"""
    found = judged(ann, source, expected_output="secret-1253")
    assert found["status"]["id"] == 4
    assert found["stdout"] == "False\n"


def test_several_runs(ann: httpx.Client) -> None:
    found = judged(ann, "print(1)", number_of_runs=3, expected_output="1")
    assert (found["status"]["id"], found["number_of_runs"]) == (3, 3)


@pytest.mark.compiler
def test_what_there_is(ann: httpx.Client) -> None:
    languages = {each["id"]: each["name"] for each in ann.get("/languages").json()}
    assert languages[PYTHON].startswith("Python (3.")
    assert languages[CPP].startswith("C++ (GCC ")
    assert ann.get(f"/judge0/languages/{CPP}").json()["source_file"] == "main.cpp"
    statuses = ann.get("/statuses").json()
    assert [each["id"] for each in statuses] == list(range(1, 15))
    config = ann.get("/config_info").json()
    assert (config["cpu_time_limit"], config["enable_callbacks"]) == (5, True)
    assert "callback_hosts" not in config
    assert int(ann.get("/system_info").json()["CPU(s)"]) > 0
    assert ann.get("/workers").json()[0]["available"] == 2


def test_statuses_have_the_originals_words() -> None:
    assert list(DESCRIPTIONS.values()) == [
        "In Queue", "Processing", "Accepted", "Wrong Answer", "Time Limit Exceeded",
        "Compilation Error", "Runtime Error (SIGSEGV)", "Runtime Error (SIGXFSZ)",
        "Runtime Error (SIGFPE)", "Runtime Error (SIGABRT)", "Runtime Error (NZEC)",
        "Runtime Error (Other)", "Internal Error", "Exec Format Error",
    ]  # fmt: skip
