"""Judge0's archives of files, programs with scripts of their own, and callbacks."""

import base64
import io
import json
import zipfile
from typing import Any

import httpx
import pytest
from judge0_client import MULTI_FILE, PYTHON, Called, judged

from waiting import PATIENCE


def zipped(*files: tuple[str, bytes], mode: int = 0) -> str:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in files:
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = mode << 16
            made.writestr(info, data)
    return base64.b64encode(archive.getvalue()).decode()


SUM = b"""
#include <cstdio>
#include "lib/two.hpp"
int main() { int a; std::scanf("%d", &a); std::printf("%d\\n", a + two()); }
"""
SEVERAL = {
    "main.cpp": SUM,
    "lib/two.hpp": b"int two();",
    "lib/two.cpp": b"int two() { return 2; }",
    "compile": b"echo compiling; test -z $(cat) && g++ main.cpp lib/*.cpp -o sum && rm main.cpp",
    "run": b"test -e main.cpp || ./sum; cat lib/two.hpp >&2",
}


def judged_files(client: httpx.Client, files: dict[str, bytes], **more: Any) -> Any:
    return judged(client, "", MULTI_FILE, additional_files=zipped(*files.items()), **more)


@pytest.mark.compiler
def test_a_program_of_several_files_has_its_own_scripts(ann: httpx.Client) -> None:
    found = judged_files(ann, SEVERAL, stdin="40", expected_output="42")
    assert (found["status"]["id"], found["verdict"]) == (3, "AC"), found
    assert found["stdout"] == "42\n"
    assert found["stderr"] == "int two();"
    assert found["compile_output"] == "compiling\n"
    assert found["language"] == {"id": 89, "name": "Multi-file program"}
    found = judged_files(ann, SEVERAL | {"lib/two.cpp": b"int two() { return 2 }"}, stdin="40")
    assert (found["status"]["id"], found["verdict"], found["stdout"]) == (6, "CE", None)
    assert "two.cpp" in found["compile_output"]


def test_which_scripts_are_called(ann: httpx.Client) -> None:
    run = {"run": b"cat made; echo $# $(cat)"}
    assert judged_files(ann, run)["status"]["id"] == 3
    found = judged_files(ann, run, stdin="in", command_line_arguments="a b")
    assert (found["stdout"], found["compile_output"]) == ("0 in\n", None)
    files = {"compile": b"exit 1", "compile.sh": b"echo 1 > made; chmod 0 run; echo x > .hidden"}
    found = judged_files(ann, {**run, **files, "run.sh": b"cat made .hidden"})
    assert found["stdout"] == "1\nx\n"
    assert judged_files(ann, {"compile": b"echo 'exit 3' > run"})["exit_code"] == 3
    found = judged_files(ann, {"readme": b""})
    assert (found["status"]["id"], found["exit_code"]) == (11, 127)


def test_limits_of_scripts(ann: httpx.Client) -> None:
    spin = b"while :; do :; done"
    found = judged_files(ann, {"compile": b"echo ok", "run": spin}, cpu_time_limit=0.3)
    assert (found["status"]["id"], found["verdict"]) == (5, "TLE")
    found = judged_files(ann, {"compile": b"head -c 200M /dev/zero > large", "run": b""})
    assert found["status"]["id"] == 6, found


def test_results_are_sent_where_they_may_be(ann: httpx.Client, called: Called) -> None:
    for path in ["/elsewhere", "/here?a=b"]:
        url = f"http://{called.host}{path}"
        asked = {"source_code": "print('\xe9')", "language_id": PYTHON, "callback_url": url}
        token = ann.post("/submissions", json=asked).json()["token"]
        found, kind, body = called.requests.get(timeout=PATIENCE)
        assert (found, kind) == (path, "application/json")
        sent = json.loads(body)
        assert (sent["token"], sent["status"]["id"]) == (token, 3)
        assert base64.b64decode(sent["stdout"]) == "\xe9\n".encode()
    assert called.requests.empty()  # nobody was redirected


def test_additional_files(ann: httpx.Client) -> None:
    source = "import helper\nprint(helper.X, open('data/in.txt').read())"
    files = zipped(("helper.py", b"X = 4"), ("data/", b""), ("data/in.txt", b"5"))
    assert judged(ann, source, additional_files=files)["stdout"] == "4 5\n"
    files = zipped(("main.py", b"print('not me')"), ("script.py", b""))
    assert judged(ann, "print('me')", additional_files=files)["stdout"] == "me\n"


@pytest.mark.parametrize(
    ("files", "mode", "complaint"),
    [
        ([("../x", b"")], 0, "not a plain relative path"),
        ([("/tmp/x", b"")], 0, "not a plain relative path"),
        ([("a/../../x", b"")], 0, "not a plain relative path"),
        ([("a\\..\\x", b"")], 0, "not a file name"),
        ([("link", b"/etc/passwd")], 0o120777, "not an ordinary file"),
        ([("a", b""), ("a/b", b"")], 0, "file and a directory"),
        ([("bomb", b"\0" * (11 << 20))], 0, "more than 10240 KB"),
        ([(f"f{n}", b"") for n in range(1001)], 0, "more than 1000 files"),
    ],
    ids=["up", "absolute", "through", "backslash", "link", "both", "bomb", "many"],
)
def test_archives_that_want_out_are_refused(
    ann: httpx.Client, files: list[tuple[str, bytes]], mode: int, complaint: str
) -> None:
    asked = {"source_code": "print(1)", "language_id": PYTHON,
             "additional_files": zipped(*files, mode=mode)}  # fmt: skip
    answer = ann.post("/submissions", json=asked)
    assert answer.status_code == 422
    assert complaint in answer.json()["additional_files"][0]


def test_an_archive_that_lies_about_its_sizes(ann: httpx.Client) -> None:
    data = bytearray(base64.b64decode(zipped(("bomb", b"\0" * (64 << 20)))))
    told = (64 << 20).to_bytes(4, "little")
    while (at := data.find(told)) >= 0:
        data[at : at + 4] = (5).to_bytes(4, "little")
    asked = {"source_code": "print(len(open('bomb').read()))", "language_id": PYTHON,
             "additional_files": base64.b64encode(data).decode()}  # fmt: skip
    answer = ann.post("/submissions", json=asked)
    assert answer.status_code == 422, answer.text
