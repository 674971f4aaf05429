"""Tests that take several passes: a Kattis validator leaves the input of the next one.

As in Kattis's problemtools, the validator's input file is that of the pass, and its feedback
directory is kept from pass to pass, except for the file with the next input.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from proctor.execution import Execution, Isolation
from proctor.judgement import TestResult
from proctor.judging import outcome
from proctor.judging.checkers import FEEDBACK, Opinion
from proctor.judging.outcome import Failure
from proctor.problem import Test
from proctor.verdict import Verdict

_NEXT_INPUT = f"{FEEDBACK}/nextpass.in"

Files = Mapping[str, bytes]
"""Files of the feedback directory, by path."""
Once = Callable[[Test, Files], tuple[Execution, Failure | Opinion, Files]]
"""Makes one pass, given the files of the pass before."""


def run(once: Once, test: Test, most: int) -> tuple[TestResult, Isolation]:
    """Run one test in up to `most` passes. Raises what `once` raises."""
    given, feedback = test, dict[str, bytes]()
    done: list[Execution] = []
    while len(done) < most:
        execution, found, files = once(given, feedback)
        done.append(execution)
        whole = most_of(done)
        if isinstance(found, Failure):
            return outcome.failed(test, whole, found), whole.isolation
        if most == 1 or _NEXT_INPUT not in files or found.verdict is Verdict.TASK_FAULT:
            return outcome.result(test, whole, found), whole.isolation
        if found.score == 0:
            return _fault(test, whole, "the validator wants another pass of what it rejects")
        feedback = dict(files)
        given = replace(test, input=feedback.pop(_NEXT_INPUT))
    return _fault(test, most_of(done), f"the validator wants more than {most} passes")


def _fault(test: Test, execution: Execution, message: str) -> tuple[TestResult, Isolation]:
    opinion = Opinion(Verdict.TASK_FAULT, 0.0, message)
    return outcome.result(test, execution, opinion), execution.isolation


def most_of(passes: list[Execution]) -> Execution:
    """Return one execution for several passes: limits hold for each pass, so the maxima."""
    return replace(
        passes[-1],
        cpu=max(each.cpu for each in passes),
        wall=max(each.wall for each in passes),
        memory=max(each.memory for each in passes),
    )
