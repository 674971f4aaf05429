"""Languages and frameworks by SandboxFusion's names: programs that pass, that fail, and how."""

import base64
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from proctor.languages import registry
from proctor.service.http.sandbox_fusion.convert import LANGUAGES
from served import Served, serving
from waiting import PATIENCE

JUNIT = """
import static org.junit.jupiter.api.Assertions.assertEquals;
import org.junit.jupiter.api.Test;
class SumTest {{ @Test void sum() {{ assertEquals({}, 20 + 22); }} }}
"""
GO_TEST = """
package main
import "testing"
func TestSum(t *testing.T) {{ if {} != 20 + 22 {{ t.Error("not so") }} }}
"""
JEST = """
import {{ expect, test }} from "@jest/globals";
test("sum", () => {{ const sum: number = 20 + 22; expect(sum).toBe({}); }});
"""
VERILOG = """
module tb; initial begin
  $display("%0d", 20 + 22);
  if (20 + 22 != {}) $fatal(1, "not so");
  $finish;
end endmodule
"""
CASES = {
    "pytest": ("def test_sum():\n    assert 20 + 22 == {}\n", "1 passed"),
    "junit": (JUNIT, "1 tests successful"),
    "go_test": (GO_TEST, "ok"),
    "jest": (JEST, ""),
    "D_ut": ("import std.stdio;\nunittest {{ assert(20 + 22 == {}); }}\nvoid main() {{}}\n", ""),
    "verilog": (VERILOG, "42"),
    "R": ("stopifnot(20 + 22 == {})\ncat('fine')", "fine"),
    "racket": ("#lang racket\n(unless (= (+ 20 22) {}) (error 'not-so))\n(display 'fine)", "fine"),
    "scala": ("object It extends App {{ assert(20 + 22 == {}); println(42) }}", "42"),
    "kotlin_script": ('if (20 + 22 != {}) throw Exception("not so")\nprintln(42)', "42"),
}
"""Programs that are right about 42, and what their standard output then holds."""
SLOW = {"jest", "kotlin_script", "scala"}
"""Languages that take seconds: the self-tests show that what is right passes."""
INSTALLED = {found.language.id for found in registry.available()}


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with serving("--cells", "1", "--no-access-log") as served:
        yield served


def run(server: Served, language: str, code: str, **more: object) -> dict[str, Any]:
    if LANGUAGES[language] not in INSTALLED:
        pytest.skip(f"{language} is not installed")
    asked = {"language": language, "code": code, "run_timeout": 40, "compile_timeout": 40, **more}
    answer = httpx.post(f"{server.url}/run_code", json=asked, timeout=PATIENCE).json()
    assert isinstance(answer, dict)
    return answer


@pytest.mark.slow(
    "D_ut-41",
    "D_ut-42",
    "R-41",
    "R-42",
    "go_test-41",
    "go_test-42",
    "jest-41",
    "junit-41",
    "junit-42",
    "kotlin_script-41",
    "pytest-41",
    "pytest-42",
    "racket-41",
    "racket-42",
    "scala-41",
)
@pytest.mark.parametrize(
    ("language", "claim"),
    [(each, n) for each in CASES for n in (41, 42) if n == 41 or each not in SLOW],
)
def test_a_claim_decides(server: Served, language: str, claim: int) -> None:
    code, said = CASES[language]
    found = run(server, language, code.format(claim))
    assert found["status"] == ("Success" if claim == 42 else "Failed"), found
    assert found["run_result"]["status"] == "Finished"
    if claim == 42:
        assert said in found["run_result"]["stdout"]


@pytest.mark.slow
def test_jest_leaves_a_report(server: Served) -> None:
    found = run(server, "jest", JEST.format(41), fetch_files=["jest-report.json"])
    report = json.loads(base64.b64decode(found["files"]["jest-report.json"]))
    (test,) = report["testResults"][0]["testResults"]
    assert (test["status"], test["title"]) == ("failed", "sum")


@pytest.mark.slow
def test_tests_of_a_class_that_has_none_do_not_pass(server: Served) -> None:
    assert run(server, "junit", "class SumTest {}")["status"] == "Failed"


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("bash", "sleep 1000"),
        ("python", "import time; time.sleep(1000)"),
        ("python", "import time\nwhile time.process_time() < 0.7: pass\ntime.sleep(0.9)"),
    ],
)
def test_what_sleeps_and_computes_longer_than_it_may_is_late(
    server: Served, language: str, code: str
) -> None:
    found = run(server, language, code, run_timeout=1)
    assert (found["status"], found["verdict"]) == ("Failed", "ILE")
    assert found["run_result"]["status"] == "TimeLimitExceeded"


@pytest.mark.parametrize(
    ("language", "code", "says"),
    [("bash", "if [", "syntax error"), ("nodejs", "let 1", "SyntaxError")],
)
def test_what_is_not_compiled_there_fails_in_its_run(
    server: Served, language: str, code: str, says: str
) -> None:
    found = run(server, language, code)
    assert (found["status"], found["verdict"], found["compile_result"]) == ("Failed", "CE", None)
    assert says in found["run_result"]["stderr"]
    assert found["run_result"]["return_code"] != 0
    assert run(server, language, "")["compile_result"] is None


def test_what_is_compiled_there_says_so(server: Served) -> None:
    found = run(server, "cpp", "int main() { return x; }")
    assert (found["compile_result"]["return_code"], found["run_result"]) == (1, None)


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("csharp", "class P { static void Main() { Console.WriteLine(Console.ReadLine()); } }"),
        (
            "csharp",
            "#define A\nclass P { static void Main() { System.Console.WriteLine(42); } }",
        ),
        ("php", "<?php echo readline();"),
    ],
)
def test_what_programs_there_need_not_name(server: Served, language: str, code: str) -> None:
    found = run(server, language, code, stdin="42\n")
    assert found["run_result"]["stdout"].strip() == "42", found


def test_files_are_fetched_by_the_names_they_were_asked_for(server: Served) -> None:
    code = "import os\nos.mkdir('a')\nopen('a/b', 'w').write('x')\nopen('c', 'w').write('y')"
    found = run(server, "python", code, fetch_files=["./a/b", "a/../c", "none"])
    files = {name: base64.b64decode(text) for name, text in found["files"].items()}
    assert files == {"./a/b": b"x", "a/../c": b"y"}
    for outside in ("/etc/passwd", "../x"):
        found = run(server, "python", "", fetch_files=[outside])
        assert (found["status"], found["verdict"]) == ("SandboxError", "")


def test_a_program_may_take_away_what_ends_processes(server: Served) -> None:
    found = run(server, "python", "import os, sys\nos._exit = sys.exit = None\nprint(42)")
    assert (found["status"], found["run_result"]["stdout"]) == ("Success", "42\n")
