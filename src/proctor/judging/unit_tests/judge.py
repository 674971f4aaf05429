"""Judging Python functions by test code, asserts or a reference to compare with.

Elsewhere such tests run in the submission's own process, where it can end the process with success,
replace what the tests use, or return something that calls itself equal to anything. Here they run
in a cell of their own and call the submission's functions through pipes; what comes back is plain
data. So nothing is judged but what the functions return.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

import msgspec

from proctor.grading import Convention
from proctor.judgement import Judgement, TestResult
from proctor.judging.judges import Judges
from proctor.judging.settings import JudgeSettings
from proctor.limits import Limits
from proctor.problem import Interactive, Problem, Test
from proctor.program import Program
from proctor.verdict import Verdict

_TEST = "tests"
_TESTS_MORE = 5.0
"""CPU seconds that the tests may use beyond the submission's: what it returns costs them more to
read and compare than it cost to make."""


class Reference(msgspec.Struct, frozen=True):
    """A function known to be right, and inputs that both get.

    Results must be equal; where the right one is a float, or a list of such, or where there is a
    `tolerance`, they may differ by tolerance (1e-6 if that is 0) + 1e-7 times the right one. A
    function `oracle(arguments, result)` in `code` may accept others, and one
    `arguments_from_json(arguments)` makes the values that are handed over, such as tuples.
    """

    code: str
    function: str
    inputs: tuple[str, ...]
    """Each a JSON list of lists of arguments."""
    tolerance: float = 0.0


class UnitTests(msgspec.Struct, frozen=True):
    """Tests of a Python module's functions."""

    names: tuple[str, ...]
    """Functions that the test code may call."""
    code: str = ""
    """Test code, run as a module's; an exception is a failure."""
    check: str = ""
    """Function with which `check`, defined by `code`, is called (HumanEval); empty for no call."""
    reference: Reference | None = None
    solution: str = ""
    """A module known to pass, if there is one."""


@dataclass(frozen=True, slots=True)
class UnitTestJudge:
    """Judges submissions in cells, and their tests in others."""

    judges: Judges

    def judge(self, tests: UnitTests, source: str, limits: Limits) -> Judgement:
        """Judge a module; `limits` are those of all tests together.

        Tests that fail before the submission has returned anything, or that end otherwise than
        tests do, are a TASK_FAULT if they do so with the known solution too; without one, with a
        module that defines nothing. Raises InputError, PlatformError.
        """
        if not source.strip():
            return Judgement(Verdict.NC, 0.0, (), "there is no code")
        started = self.judges.start(problem_of(tests, limits), beside(source), JudgeSettings())
        return judgement_of(started.result())


def problem_of(
    tests: UnitTests, limits: Limits, files: Mapping[str, bytes] | None = None
) -> Problem:
    """Return the problem that `beside` of a module solves if the module passes the tests.

    `limits` are those of all tests together, `files` lie beside the test code.
    """
    test = Test(msgspec.json.encode(tests), name=_TEST)
    partner = _partner()
    if files:
        partner = replace(partner, files={**files, **partner.files})
    return Problem(
        id="unit tests",
        tests=(test,),
        limits=limits,
        running=Interactive(partner, Convention.KATTIS, cpu=limits.cpu + _TESTS_MORE),
        accepted=beside(tests.solution, files),
    )


@cache
def _partner() -> Program:
    return Program(_text("partner.py"), files={"plain_data.py": _plain_data()})


def beside(source: str, files: Mapping[str, bytes] | None = None) -> Program:
    """Return a program that answers calls of a module's functions; `files` lie beside it."""
    own = {"plain_data.py": _plain_data(), "solution.py": Program(source).encoded()}
    return Program(_text("callee.py"), files={**(files or {}), **own})


def own_texts() -> frozenset[str]:
    """Return proctor's own source texts that are put beside a submission in its program."""
    return frozenset({_text("callee.py"), _plain_data().decode()})


@cache
def _text(name: str) -> str:
    return files("proctor.judging.unit_tests.in_cell").joinpath(name).read_text("utf-8")


@cache
def _plain_data() -> bytes:
    return files("proctor.cell").joinpath("plain_data.py").read_bytes()


def judgement_of(found: Judgement) -> Judgement:
    """Return the judgement of a module, given that of `beside` it."""
    results = tuple(
        TestResult(each.verdict, each.cpu, each.wall, each.memory, _said(each))
        for each in found.tests
    )
    message = next((each.message for each in results), found.message)
    score = float(found.verdict.passed)
    return Judgement(found.verdict, score, results, message, found.isolation)


def _said(result: TestResult) -> str:
    """Return the message of a run; of broken tests, the log."""
    return result.log if result.verdict.is_fault else result.message
