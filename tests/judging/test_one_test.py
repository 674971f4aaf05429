"""Programs run on one test to be looked at."""

from collections.abc import Iterator

import pytest

from proctor.judging.environment import open_environment
from proctor.judging.one_test import output_on
from proctor.judging.settings import JudgeSettings
from proctor.limits import Limits
from proctor.problem import Batch, Interactive, Problem, Stub, Test
from proctor.program import Program
from proctor.sandbox.pool import Pool

SETTINGS = JudgeSettings(limits=Limits(cpu=1.0))


@pytest.fixture(scope="module")
def cells() -> Iterator[Pool]:
    with open_environment() as pool:
        yield pool


def output(problem: Problem, program: Program, pool: Pool) -> bytes | None:
    return output_on(problem.tests[0], problem, program, SETTINGS, pool)


@pytest.mark.parametrize(
    ("source", "wrote"),
    [
        ("print(input())", b"a b\n"),
        ("import sys; sys.stdout.buffer.write(b'\\xff'); 1 / 0", b"\xff"),
        ("print(1, flush=True)\nwhile True: pass", b"1\n"),
        ("print(", None),
        ("", b""),
    ],
)
def test_what_it_prints(cells: Pool, source: str, wrote: bytes | None) -> None:
    assert output(Problem("p", (Test("a b", "c"),)), Program(source), cells) == wrote


@pytest.mark.parametrize(
    ("body", "returned"),
    [
        ("return [a, (b,), {1: 'é'}]", "[1, ([2],), {1: 'é'}]".encode()),
        ("return '\\ud800'", b"'\\ud800'"),
        ("return a / 0", None),
        ("return object()", b"<object object at 0x"),
    ],
)
def test_what_it_returns(cells: Pool, body: str, returned: bytes | None) -> None:
    problem = Problem("p", (Test("1\n[2]", "3"),), function="f")
    found = output(problem, Program(f"def f(a, b):\n    {body}\n"), cells)
    assert found == returned or (found or b"").startswith(returned or b"none")


@pytest.mark.compiler
def test_with_a_stub_files_and_arguments(cells: Pool) -> None:
    stub = Stub({"main.cpp": b"#include <cstdio>\nint twice(int);\nint main(int, char **v) {"
                             b"int n; std::scanf(\"%d\", &n); std::printf(\"%d %s\", twice(n), v[1]); }"},
                name="own.cpp")  # fmt: skip
    problem = Problem("p", (Test("4", "9", args=("x",)),), stubs={"cpp": stub})
    assert output(problem, Program("int twice(int n) { return 2 * n; }", "cpp17"), cells) == b"8 x"
    assert output(problem, Program("int twice(", "cpp17"), cells) is None
    assert output(problem, Program("print(1)"), cells) is None, "there is no grader for Python"
    files = Problem("p", (Test("4", "9"),), running=Batch("in.txt", "out.txt"))
    writes = "open('out.txt', 'w').write(open('in.txt').read() * 2)"
    assert output(files, Program(writes), cells) == b"44"
    assert output(files, Program("print(1)"), cells) is None


def test_who_talks_with_a_partner_has_no_output(cells: Pool) -> None:
    problem = Problem("p", (Test("1"),), running=Interactive(Program("print(1)")))
    assert output(problem, Program("print(1)"), cells) is None
