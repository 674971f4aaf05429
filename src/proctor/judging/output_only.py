"""Submissions that are outputs, not programs."""

from proctor.judgement import TestResult
from proctor.judging.environment import JudgingEnvironment
from proctor.judging.grader import OutputGrader
from proctor.problem import Test
from proctor.program import Program
from proctor.verdict import Verdict

_NAMES = ("{}", "{}.out", "{}.txt", "{}.ans", "output_{}.txt")
"""Names of the file for a test; the last is CMS's."""


def run(
    grader: OutputGrader, environment: JudgingEnvironment, submission: Program, test: Test
) -> TestResult:
    """Grade the file that was handed in for a test. Raises InputError, InfraFault."""
    output = _file(submission, test.name)
    if output is None:
        return TestResult(Verdict.WA, message=f"there is no file {test.name}.out", name=test.name)
    opinion, _ = grader.grade(environment, test, output)
    return TestResult(
        opinion.verdict,
        message=opinion.message,
        name=test.name,
        score=opinion.score,
        log=opinion.log,
    )


def _file(submission: Program, name: str) -> bytes | None:
    for pattern in _NAMES:
        wanted = pattern.format(name)
        if wanted == submission.name:
            return submission.encoded()
        if wanted in submission.files:
            return submission.files[wanted]
    if not submission.files and not submission.name:
        return submission.encoded()
    return None
