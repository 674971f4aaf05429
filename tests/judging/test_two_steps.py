"""TwoSteps: what goes from the first run to the second, and which of the two counts."""

import pytest
from tasks import problem

from proctor.judgement import Judgement
from proctor.judging.judge import judge
from proctor.problem import Stub, TwoSteps
from proctor.program import Program
from proctor.sandbox.pool import Pool
from proctor.verdict import Verdict

MANAGER = b"""
import sys
import main

number, place = sys.argv[1:]
if number == "0":
    main.first(sys.stdin.buffer.read(), place)
else:
    assert sys.stdin.read() == ""
    main.second(place)
"""
SECOND = """
def second(place):
    with open(place, "rb") as file:
        print(file.read().hex())
"""
FIRST = """
def first(data, place):
    with open(place, "wb") as file:
        file.write(bytes(reversed(data)))
"""


def judged(contest_pool: Pool, source: str, language: str = "python") -> Judgement:
    stubs = {"python": Stub({"manager.py": MANAGER}, "main.py")}
    found = problem("steps", "a\0b\n", b"0a620061\n", TwoSteps(), stubs=stubs)
    return judge(found, Program(source, language), pool=contest_pool)


def test_the_bytes_go_from_one_run_to_the_other(contest_pool: Pool) -> None:
    found = judged(contest_pool, FIRST + SECOND)
    assert found.verdict is Verdict.AC, found.message


PRINTS = """
def first(data, place):
    print("0a620061")
"""
WRITES_AND_PRINTS = """
def first(data, place):
    with open(place, "wb") as file:
        file.write(bytes(reversed(data)))
    print("not for anybody")
"""


@pytest.mark.parametrize(
    ("first", "verdict"), [(PRINTS, Verdict.WA), (WRITES_AND_PRINTS, Verdict.AC)]
)
def test_what_the_first_run_prints_is_not_graded(
    first: str, verdict: Verdict, contest_pool: Pool
) -> None:
    assert judged(contest_pool, first + SECOND).verdict is verdict


@pytest.mark.slow("while True: pass-TLE-CPU")
@pytest.mark.parametrize(
    ("body", "verdict", "said"),
    [
        ("raise ValueError(7)", Verdict.RE, "ValueError: 7"),
        ("while True: pass", Verdict.TLE, "CPU"),
        ("import os; os.remove(place)", Verdict.WA, "its first run left no file"),
        ("import os; os.remove(place); os.mkdir(place)", Verdict.WA, "left no file"),
        ("import os; os.remove(place); os.mkfifo(place)", Verdict.WA, "left no file"),
        pytest.param(
            "import os; os.truncate(place, 1 << 40)",
            Verdict.RE,
            "File too large",
            marks=pytest.mark.namespaces,
        ),
    ],
)
def test_a_first_run_that_fails_decides(
    body: str, verdict: Verdict, said: str, contest_pool: Pool
) -> None:
    second = "\ndef second(place):\n    print('0a620061')\n"
    found = judged(contest_pool, f"def first(data, place):\n    {body}\n" + second)
    assert found.verdict is verdict, found.message
    assert said in found.message


def test_a_second_run_that_fails(contest_pool: Pool) -> None:
    found = judged(contest_pool, FIRST + "\ndef second(place):\n    raise ValueError(8)\n")
    assert found.verdict is Verdict.RE
    assert "ValueError: 8" in found.message


def test_a_language_without_a_manager(contest_pool: Pool) -> None:
    found = judged(contest_pool, "int main() {}", "cpp17")
    assert found.verdict is Verdict.CE
