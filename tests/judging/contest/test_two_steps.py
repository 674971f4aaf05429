"""TwoSteps: what goes from the first run to the second, and which of the two counts."""

import pytest
from tasks import problem

from proctor.judgement import Judgement
from proctor.judging.contest.arena import Arena
from proctor.judging.contest.judge import judge_contest
from proctor.problem import Stub, TwoSteps
from proctor.program import Program
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


def judged(arena: Arena, source: str, language: str = "python") -> Judgement:
    stubs = {"python": Stub({"manager.py": MANAGER}, "main.py")}
    found = problem("steps", "a\0b\n", b"0a620061\n", TwoSteps(), stubs=stubs)
    return judge_contest(found, Program(source, language), arena)


def test_the_bytes_go_from_one_run_to_the_other(arena: Arena) -> None:
    found = judged(arena, FIRST + SECOND)
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
    first: str, verdict: Verdict, arena: Arena
) -> None:
    assert judged(arena, first + SECOND).verdict is verdict


@pytest.mark.parametrize(
    ("body", "verdict", "said"),
    [
        ("raise ValueError(7)", Verdict.RE, "ValueError: 7"),
        ("while True: pass", Verdict.TLE, "CPU"),
        ("import os; os.remove(place)", Verdict.WA, "its first run left no file"),
        ("import os; os.remove(place); os.mkdir(place)", Verdict.WA, "left no file"),
        ("import os; os.remove(place); os.mkfifo(place)", Verdict.WA, "left no file"),
        ("import os; os.truncate(place, 1 << 40)", Verdict.RE, "File too large"),
    ],
)
def test_a_first_run_that_fails_decides(
    body: str, verdict: Verdict, said: str, arena: Arena
) -> None:
    second = "\ndef second(place):\n    print('0a620061')\n"
    found = judged(arena, f"def first(data, place):\n    {body}\n" + second)
    assert found.verdict is verdict, found.message
    assert said in found.message


def test_a_second_run_that_fails(arena: Arena) -> None:
    found = judged(arena, FIRST + "\ndef second(place):\n    raise ValueError(8)\n")
    assert found.verdict is Verdict.RE
    assert "ValueError: 8" in found.message


def test_a_language_without_a_manager(arena: Arena) -> None:
    found = judged(arena, "int main() {}", "cpp17")
    assert found.verdict is Verdict.CE
