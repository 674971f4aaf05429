"""Submissions that are outputs, not programs."""

from proctor.judging.contest.arena import Arena
from proctor.judging.contest.judgement import ContestTestResult
from proctor.judging.contest.referee import Referee
from proctor.problem import Test
from proctor.program import Program
from proctor.verdict import Verdict

_ENDINGS = ("", ".out", ".txt", ".ans")


def run(referee: Referee, arena: Arena, submission: Program, test: Test) -> ContestTestResult:
    """Grade the file that was handed in for a test. Raises InputError, InfraFault."""
    output = _file(submission, test.name)
    if output is None:
        return ContestTestResult(
            test.name, Verdict.WA, 0.0, message=f"there is no file {test.name}.out"
        )
    opinion, _ = referee.grade(arena, test, output)
    return ContestTestResult(
        test.name, opinion.verdict, opinion.score, message=opinion.message, log=opinion.log
    )


def _file(submission: Program, name: str) -> bytes | None:
    for ending in _ENDINGS:
        if name + ending == submission.name:
            return submission.encoded()
        if name + ending in submission.files:
            return submission.files[name + ending]
    if not submission.files and not submission.name:
        return submission.encoded()
    return None
