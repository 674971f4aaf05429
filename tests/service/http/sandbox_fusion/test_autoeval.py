"""Rows of AutoEvalDataset that come along."""

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest

import needs
from language_here import need
from proctor.service.http.sandbox_fusion import autoeval
from served import Served, serving

pytest.importorskip("sandbox_fusion.models", reason=needs.package("sandbox-fusion"))

import requests
import sandbox_fusion as client


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with serving("--cells", "1", "--sessions", "0") as served:
        client.set_endpoint(served.url)
        yield served


pytestmark = [pytest.mark.package("sandbox-fusion"), pytest.mark.usefixtures("server")]
QUESTION = "Write add."
RIGHT = "```python\ndef add(a, b): return a + b\n```"
TEST = "assert add(1, 2) == int(open('three.txt').read())"


def row(language: str = "python", code: str = TEST, **more: Any) -> dict[str, Any]:
    labels = {"programming_language": language, **more}
    three = base64.b64encode(b"3").decode()
    return {
        "id": 3,
        "content": QUESTION,
        "labels": labels,
        "test": {"code": code, "asset": {"three.txt": three}},
    }


def submit(reply: str, given: dict[str, Any], **extra: Any) -> client.EvalResult:
    config = client.TestConfig(dataset_type="AutoEvalDataset", provided_data=given, extra=extra)
    asked = client.SubmitRequest(dataset="mine", id=0, completion=reply, config=config)
    return client.submit(asked, max_attempts=1)


def prompt(given: dict[str, Any], **config: Any) -> str:
    told = client.TestConfig(dataset_type="AutoEvalDataset", provided_data=given, **config)
    asked = client.GetPromptByIdRequest(dataset="mine", id=0, config=told)
    return str(client.get_prompt_by_id(asked).prompt)


def test_the_program_and_its_test_are_run_as_one() -> None:
    found = submit(RIGHT, row())
    assert found.accepted
    assert found.extracted_code == "def add(a, b): return a + b"
    assert found.full_code == f"{found.extracted_code}\n{TEST}"
    (only,) = found.tests
    assert only.exec_info.run_result.return_code == 0
    assert not submit(RIGHT.replace("+", "-"), row()).accepted
    assert not submit("I do not know.", row()).accepted


def test_rows_as_they_lie_in_tables() -> None:
    """Labels, tests and files are texts of JSON there, and a file may be null."""
    given = row()
    given["test"]["asset"] = json.dumps({**given["test"]["asset"], "none.txt": None})
    given = {**given, "labels": json.dumps(given["labels"]), "test": json.dumps(given["test"])}
    assert submit(RIGHT, given).accepted


def test_a_test_says_where_the_program_goes() -> None:
    reply = "```python\ndef add(a, b): return a + b\nif __name__ == '__main__': 1 / 0\n```"
    assert not submit(reply, row(code=f"#<INSERT>\n{TEST}"), mode="official").accepted
    assert submit(reply, row(code=f"#<INSERT>\n{TEST}")).accepted, "its main part is not run"
    assert submit(reply, row(code=TEST)).accepted  # before the test its main part is left out
    quoted = submit(RIGHT, row(code="source = #<INSERT>\nexec(source)\n" + TEST), repr_code=True)
    assert quoted.accepted


def test_a_program_that_ends_early_lacks_the_flag() -> None:
    reply = "```python\nimport os\nos._exit(0)\n```"
    assert submit(reply, row(), mode="official").accepted, "as upstream"
    assert not submit(reply, row(), mode="official", append_flag=True).accepted
    assert submit(RIGHT, row(), mode="official", append_flag=True).accepted


def test_go_has_its_imports_first() -> None:
    need("go-test")
    code = 'package main\nimport (\n\t"testing"\n)\nfunc TestAdd(t *testing.T) {\n\tif add(1, 2) != 3 { t.Fatal() }\n}'
    reply = '```go\npackage main\nimport "fmt"\nfunc add(a, b int) int { fmt.Println(a); return a + b }\n```'
    found = submit(reply, row("go", code, execution_language="go_test"))
    assert found.accepted, found
    assert found.full_code.startswith('package main\n\nimport "fmt"\nimport "testing"\n')


def test_jest_tells_each_test() -> None:
    need("jest")
    code = "test('right', () => expect(a).toBe(1));\ntest('wrong', () => expect(a).toBe(2));"
    reply = "```javascript\nlet a = 1;\n```"
    found = submit(reply, row("javascript", code, execution_language="jest"))
    assert not found.accepted
    assert [(each["test"], each["passed"]) for each in found.extra["jest_cases"]] == [
        ("right", True), ("wrong", False)
    ]  # fmt: skip


def test_prompts() -> None:
    given = row(fewshot="Example.", context="Known.")
    assert prompt(row()) == QUESTION
    assert prompt(given) == f"Known.\n\nQuestion:{QUESTION}\n\nAnswer:\n"
    rule = "-" * 16
    long = f"Known.\n\n{rule}\n\nExample.\n\n问题：{QUESTION}\n\n答案：\n"
    assert prompt(given, is_fewshot=True, locale="zh") == long
    template = {"prompt_template": "$question [$locale] $else"}
    assert prompt(given, extra=template, locale="en") == f"{QUESTION} [en] $else"
    with pytest.raises(Exception, match="no examples"):
        prompt(row(), is_fewshot=True)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (row("java"), "'java' is not served"),
        (row(execution_language="cobol"), "labels.execution_language"),
        ({**row(), "labels": {}}, "no labels.programming_language"),
        ({**row(), "test": {"code": "", "asset": {"x": "not base64"}}}, "test.asset.x"),
        ({**row(), "test": {"code": "", "asset": {"../x": ""}}}, "plain relative path"),
    ],
)
def test_what_is_not_served_is_said(given: dict[str, Any], said: str) -> None:
    config = {"dataset_type": "AutoEvalDataset", "provided_data": given}
    asked = {"dataset": "mine", "id": 0, "completion": RIGHT, "config": config}
    answer = requests.post(f"{client.config.SANDBOX_ENDPOINT}/submit", json=asked)
    assert answer.status_code == 400
    assert said in answer.json()["detail"]


@pytest.mark.namespaces
def test_files_by_absolute_paths_in_the_working_directory() -> None:
    url = client.config.SANDBOX_ENDPOINT
    one = base64.b64encode(b"1").decode()
    asked = {
        "language": "python",
        "code": "import shutil\nshutil.copy('a/in', '/box/work/out')",
        "files": {"/box/work/a/in": one, "./b": one},
        "fetch_files": ["/box/work/out", "out", "./a/../b", "/box/work/absent"],
    }
    files = requests.post(f"{url}/run_code", json=asked).json()["files"]
    assert files == {"/box/work/out": one, "out": one, "./a/../b": one}
    for path in ("/etc/passwd", "/box/work/../x", "/box/work", "../x", "/box/workx/y"):
        for named in ({"files": {path: one}}, {"fetch_files": [path]}):
            answer = requests.post(
                f"{url}/run_code", json={**asked, "files": {}, "fetch_files": [], **named}
            )
            assert answer.json()["status"] == "SandboxError", path


@pytest.mark.namespaces
def test_programs_have_a_loopback_interface_of_their_own() -> None:
    url = client.config.SANDBOX_ENDPOINT
    code = (
        "import socket\nlistener = socket.create_server(('', 8377))\n"
        "socket.create_connection(('localhost', 8377)).sendall(b'hello')\n"
        "print(listener.accept()[0].recv(9), open('/dev/shm/x', 'w').write('y'))\n"
    )
    for _ in range(2):
        found = requests.post(f"{url}/run_code", json={"language": "python", "code": code}).json()
        assert found["run_result"]["stdout"] == "b'hello' 1\n", found


def test_a_report_that_the_program_has_spoiled_has_no_tests() -> None:
    """It may nest too deeply to be read, or be no text."""
    for report in (b'{"testResults":' + b"[" * 100_000, b'{"testResults": "\xff"}', b""):
        assert autoeval._jest_cases(report) == []
