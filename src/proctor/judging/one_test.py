"""A program run on one test for people to look at; nothing is graded."""

from contextlib import suppress

from proctor.cell import plain_data
from proctor.cell.wire import Kind
from proctor.errors import CompileFailed, InfraFault, InputError
from proctor.judging.assignment import Assignment
from proctor.judging.batch import runner_for
from proctor.judging.environment import JudgingEnvironment, inputs_of
from proctor.judging.grader import OutputGrader
from proctor.judging.runners import compile_submission
from proctor.judging.settings import JudgeSettings
from proctor.judging.standard import DISK, disk_at_once, has_disk, lacked_disk, last_line
from proctor.judging.unjudged import is_plain
from proctor.problem import Batch, Problem, Test
from proctor.program import Program
from proctor.sandbox.cell import TestRun
from proctor.sandbox.clock import ContestClock
from proctor.sandbox.pool import Pool

_DECODED = 1 << 20
"""Bytes of a function's result that is shown as a value; a longer one is shown as it is encoded."""


def output_on(
    test: Test, problem: Problem, program: Program, settings: JudgeSettings, pool: Pool
) -> bytes | None:
    """Run a program once more, on one test, in standard mode; return what it wrote.

    For a function that is the value it returned, in Python. None where there is no output to look
    at: the program does not compile, did not end well, or talks with a partner.
    """
    with suppress(CompileFailed, InputError, InfraFault):
        if is_plain(problem) and program.language == "python":
            inputs = inputs_of(pool)
            return pool.do(
                lambda cell, _: _run(Assignment(cell, problem, program, settings, inputs), test)
            )
        if isinstance(problem.running, Batch):
            environment = JudgingEnvironment(pool)
            built = compile_submission(problem, program, environment)
            limits = problem.limits or settings.limits
            grader = OutputGrader(problem.grading)
            runner = runner_for(problem.running, program, built, limits, grader)
            _, output = runner.once(environment, test)
            return output if isinstance(output, bytes) else None
    return None


def _run(assignment: Assignment, test: Test) -> bytes | None:
    run = _once(assignment, test, disk_at_once(assignment))
    if run is not None and lacked_disk(last_line(run.stderr)) and has_disk(assignment):
        run = _once(assignment, test, DISK)
    if run is None:
        return None
    if assignment.problem.function is None:
        return run.stdout
    if not run.result or len(run.result) > _DECODED:
        return run.result or None
    try:
        return repr(plain_data.decode(run.result)).encode("utf-8", "backslashreplace")
    except ValueError:
        return run.result


def _once(assignment: Assignment, test: Test, disk: int = 0) -> TestRun | None:
    clock = ContestClock(assignment.settings.limits)
    with assignment.serve(Kind.SERVE_FORK, clock, disk) as serving:
        return assignment.run_test(serving, test, clock) if serving.alive else None
