"""Tests that stand in one source with the program, and run in its process."""

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from proctor.evals.benchmark_file.expressions import FieldError, Names, Template
from proctor.judgement import Judgement
from proctor.limits import Limits
from proctor.problem import Comparison, Match, Problem, Test
from proctor.program import Program
from proctor.verdict import Verdict

LAST_LINE = Comparison(Match.LAST_LINE)
_ENDED = "a test failed, or the program ended before its tests did"
_INTEGRITY = "tests in the program's own process, which can pretend to have passed them"
_TRIED = "0" * 32


@dataclass(frozen=True, slots=True)
class SameProcessTests:
    """Tests of one row."""

    id: str
    source: Template
    names: Names
    """Values that the template sees, besides `program` and `passed`."""
    limits: Limits
    solution: str = ""
    """Program known to pass; empty if there is none."""

    def check(self) -> None:
        """Raise FieldError for a template that is of no use: it is tried on the solution."""
        if _TRIED not in self._text(self.solution, _TRIED):
            raise FieldError(self.source.field, "does not print `passed`", in_file=True)

    def made(self, program: str) -> tuple[Problem, str]:
        """Return the problem and the whole source that pass if the program does.

        The line that the source must print is the program's own, so that no other can have it
        by heart. Raises FieldError.
        """
        content = f"{self.id}\0{program}".encode("utf-8", "surrogatepass")
        passed = hashlib.sha256(content).hexdigest()[:32]
        test = Test("", passed)
        problem = Problem(
            self.id, (test,), limits=self.limits, grading=LAST_LINE, integrity=_INTEGRITY
        )
        return problem, self._text(program, passed)

    def _text(self, program: str, passed: str) -> str:
        return self.source.text({**self.names, "program": program, "passed": passed})


@dataclass(frozen=True, slots=True)
class SameProcessJudge:
    """Judges programs by tests in their own process."""

    judged: Callable[[Problem, Program], Awaitable[Judgement]]
    """Judges one program."""
    language: str
    failures: dict[str, str] = field(default_factory=dict)
    """Words on the solutions that were tried, by the row's id; empty for those that pass."""

    async def judge(self, tests: SameProcessTests, program: str) -> Judgement:
        """Judge a program; a failure of tests that their own solution fails is a TASK_FAULT.

        Raises FieldError for a program that the template does not take.
        """
        judgement = await self._judge(tests, program)
        settled = judgement.verdict.passed or judgement.verdict.is_fault
        if settled or not tests.solution.strip():
            return judgement
        if tests.id not in self.failures:
            tried = await self._judge(tests, tests.solution)
            if not tried.verdict.passed:  # tests that toss coins are not to decide by one toss
                tried = await self._judge(tests, tests.solution)
            if tried.verdict is Verdict.INFRA_FAULT:
                return tried
            passed = tried.verdict.passed
            self.failures[tests.id] = "" if passed else f"{tried.verdict}, {tried.message}"
        if not (failure := self.failures[tests.id]):
            return judgement
        message = f"the row's own solution fails the tests, too: {failure}"
        return replace(judgement, verdict=Verdict.TASK_FAULT, message=message)

    async def _judge(self, tests: SameProcessTests, program: str) -> Judgement:
        problem, source = tests.made(program)
        found = await self.judged(problem, Program(source, self.language))
        if found.verdict is not Verdict.WA:
            return found
        return replace(found, message=f"{_ENDED}: {found.message}")
