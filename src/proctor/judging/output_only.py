"""Submissions that are outputs, or outputs for some of the tests and a program for the others."""

from collections.abc import Mapping
from dataclasses import replace

from proctor.judgement import TestResult
from proctor.judging.environment import JudgingEnvironment
from proctor.judging.grader import OutputGrader
from proctor.problem import Batch, Test
from proctor.program import Program
from proctor.verdict import Verdict

_NAMES = ("{}", "{}.out", "{}.txt", "{}.ans", "output_{}.txt")
"""Names of the file for a test; the last is CMS's."""


def run(
    grader: OutputGrader, environment: JudgingEnvironment, output: bytes | None, test: Test
) -> TestResult:
    """Grade what was handed in for a test, None if nothing was. Raises InputError, InfraFault."""
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


def whole(submission: Program, name: str) -> bytes | None:
    """Return the output for a test from a submission that is nothing but outputs."""
    if submission.name in _names(name) or not (submission.files or submission.name):
        return submission.encoded()
    return beside(submission.files, name)


def beside(files: Mapping[str, bytes], name: str) -> bytes | None:
    """Return the output for a test that is among a submission's files."""
    return next((files[each] for each in _names(name) if each in files), None)


def without_outputs(how: Batch, submission: Program) -> Program:
    """Return the program alone, as it is compiled."""
    outputs = {each for name in how.outputs for each in _names(name)}
    files = {name: data for name, data in submission.files.items() if name not in outputs}
    return replace(submission, files=files)


def _names(test: str) -> list[str]:
    return [pattern.format(test) for pattern in _NAMES]
