"""Tests that stand in one source with the program, and run in its process."""

import hashlib
from asyncio import Future, ensure_future
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from proctor.errors import InfraFault
from proctor.evals.benchmark_file.evaluation import NOTHING, Answers
from proctor.evals.benchmark_file.expressions import Expression, FieldError, Names, value_of
from proctor.grading import Comparison, Match
from proctor.judgement import Judgement
from proctor.limits import Limits
from proctor.problem import Problem, Test
from proctor.program import Program
from proctor.verdict import Verdict

SOLUTION_FAILS = "the row's own solution fails the tests, too"
LAST_LINE = Comparison(Match.LAST_LINE)
_ENDED = "a test failed, or the program ended before its tests did"
_INTEGRITY = "tests in the program's own process, which can pretend to have passed them"
TRIED = "0" * 32
"""Stands for `passed` where a source is tried."""
_LONGEST = 300
"""Characters of a compiler's first error that a message has."""


@dataclass(frozen=True, slots=True)
class SameProcessTests:
    """Tests of one row."""

    id: str
    source: Expression
    names: Names
    """Values that the template sees, besides `program` and `passed`."""
    limits: Limits
    solution: str = ""
    """Program known to pass; empty if there is none."""

    def check(self, known: Answers = NOTHING) -> None:
        """Raise FieldError for a template that cannot be used; `known` may have its text.

        It is tried on the solution; without one on an empty program, which it may reject.
        """
        answer = known.get(self.source.field, {"error": ""})
        try:
            if "error" in answer:
                text = self._text(self.solution, TRIED)
            else:
                text = value_of(answer, self.source.field, self.names)
        except FieldError as error:
            if self.solution or error.in_file:
                raise
        else:
            if TRIED not in text:
                raise FieldError(self.source.field, "does not print `passed`", in_file=True)

    def made(self, program: str) -> tuple[Problem, str]:
        """Return a problem, and the whole source that solves it if the program passes its tests.

        The line that the source must print depends on the program, so that it cannot be known
        beforehand. Raises FieldError.
        """
        content = f"{self.id}\0{program}".encode("utf-8", "surrogatepass")
        passed = hashlib.sha256(content).hexdigest()[:32]
        test = Test("", passed)
        problem = Problem(
            self.id, (test,), limits=self.limits, grading=LAST_LINE, integrity=_INTEGRITY
        )
        return problem, self._text(program, passed)

    def _text(self, program: str, passed: str) -> str:
        return self.source.rendered({**self.names, "program": program, "passed": passed})


@dataclass(frozen=True, slots=True)
class SameProcessJudge:
    """Judges programs by tests in their own process."""

    judged: Callable[[Problem, Program], Awaitable[Judgement]]
    """Judges one program."""
    language: str
    tried: dict[str, Future[str]] = field(default_factory=dict)
    """Reason why a row's own solution failed, by the row's id; empty if it passed."""

    async def judge(self, tests: SameProcessTests, program: str) -> Judgement:
        """Judge a program; the verdict is TASK_FAULT if the row's own solution fails the tests.

        That holds for a program that passes, too: a row counts for all programs, or for none.
        """
        judgement = await self._judge(tests, program)
        if judgement.verdict.is_fault or not tests.solution.strip():
            return judgement
        try:
            failure = await self._failure(tests)
        except InfraFault as error:
            self.tried.pop(tests.id, None)
            return replace(judgement, verdict=Verdict.INFRA_FAULT, message=str(error))
        if not failure:
            return judgement
        message = f"{SOLUTION_FAILS}: {failure}"
        return replace(judgement, verdict=Verdict.TASK_FAULT, score=0.0, message=message)

    async def _failure(self, tests: SameProcessTests) -> str:
        """Return why the row's own solution fails; empty if it passes."""
        known = self.tried.get(tests.id)
        if known is None:
            known = self.tried[tests.id] = ensure_future(self._tried(tests))
        return await known

    async def _tried(self, tests: SameProcessTests) -> str:
        # Tests may depend on chance, so one failure does not decide.
        made = await self._judge(tests, tests.solution)
        if not made.verdict.passed:
            made = await self._judge(tests, tests.solution)
        if made.verdict is Verdict.INFRA_FAULT:
            raise InfraFault(made.message)
        return "" if made.verdict.passed else f"{made.verdict}, {made.message}"

    async def _judge(self, tests: SameProcessTests, program: str) -> Judgement:
        try:
            problem, source = tests.made(program)
        except FieldError as error:  # the template took the solution, so the program is to blame
            message = f"no source can be made of it: {error.message}"
            return Judgement(Verdict.CE, 0.0, (), message, compiled=False)
        found = await self.judged(problem, Program(source, self.language))
        if found.verdict is Verdict.WA:
            return replace(found, message=f"{_ENDED}: {found.message}")
        if found.verdict is Verdict.CE and (said := _first_error(found.compiler_output)):
            return replace(found, message=f"{found.message}: {said}")
        return found


def _first_error(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    found = next((line for line in lines if "error" in line.lower()), next(iter(lines), ""))
    return found[:_LONGEST]
