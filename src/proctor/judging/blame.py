"""Blame for a checker, interactor or manager that failed: the submission's, or the task's.

Most of them stumble over some output. If that made a task's fault, a program could choose not to be
counted, and garbage would be better than a wrong answer. So it is a fault of the task only if it
comes without the submission, too: the test is tried once more with what is known to be good.
"""

from dataclasses import dataclass, replace

from proctor.errors import CompileFailed, InputError, NoLanguage
from proctor.grading import Checker
from proctor.judgement import TestResult
from proctor.judging.environment import JudgingEnvironment
from proctor.judging.points import CRASHES
from proctor.judging.runners import Graders, compile_submission, runner_of
from proctor.limits import Limits
from proctor.problem import Communication, Interactive, OutputOnly, Problem, Test
from proctor.verdict import Verdict

_ACCEPTED, _ANSWER = "another submission", "the jury's answer"
_NOTHING = "nothing known to be good can be tried, so the submission is to blame"


@dataclass(frozen=True, slots=True)
class Blame:
    """Means to try a test of one problem without the submission."""

    problem: Problem
    graders: Graders
    environment: JudgingEnvironment
    limits: Limits
    """Limits of an accepted submission."""

    def settle(self, test: Test, result: TestResult) -> TestResult:
        """Return a result in which a TASK_FAULT is certainly the task's; else it is WA.

        Raises InputError if the test's files are gone, InfraFault.
        """
        if result.verdict is not Verdict.TASK_FAULT:
            return result
        known = self._accepted(test) or self._answer(test)
        if known is None:
            why = f"{result.message}; {_NOTHING}"
        elif known[1] is Verdict.TASK_FAULT:
            return replace(result, message=f"{result.message}; with {known[0]} it fails, too")
        else:
            why = f"{result.message}; with {known[0]} it does not fail"
        return replace(result, verdict=Verdict.WA, score=0.0, message=why)

    def _accepted(self, test: Test) -> tuple[str, Verdict] | None:
        """Return the verdict on an accepted submission; None if there is none, or it fails here."""
        program, running = self.problem.accepted, self.problem.running
        if program is None or isinstance(running, OutputOnly):
            return None
        try:
            built = compile_submission(self.problem, program, self.environment)
        except (CompileFailed, InputError, NoLanguage):
            return None
        run = runner_of(running, program, built, self.limits, self.graders, self.environment)
        verdict = run(test)[0].verdict
        # Too slow for this machine, say: then it shows nothing.
        return None if verdict in CRASHES else (_ACCEPTED, verdict)

    def _answer(self, test: Test) -> tuple[str, Verdict] | None:
        """Return the grader's verdict on the test's own answer; None if that is no output."""
        running = self.problem.running
        talks = isinstance(running, Communication) and not running.graded
        if talks or isinstance(running, Interactive):
            return None
        answer, grader = test.output_bytes(), self.graders.output
        # Where any right output will do, the answer is often an empty file.
        if isinstance(grader.grading, Checker) and not answer.strip():
            return None
        return _ANSWER, grader.grade(self.environment, test, answer)[0].verdict
