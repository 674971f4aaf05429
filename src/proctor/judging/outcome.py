"""A submission's run: its files, and the meaning of its facts before its output is graded."""

from dataclasses import dataclass, replace

from proctor.execution import Execution, LimitHit
from proctor.judgement import TestResult
from proctor.judging.checkers import Opinion
from proctor.judging.standard import OVERRUN, last_line
from proctor.languages.compiler import Built
from proctor.limits import Limits
from proctor.problem import Test, content_bytes
from proctor.sandbox import process_limit
from proctor.sandbox.command import Command
from proctor.verdict import Verdict

_TAIL = 4096


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a run failed, whatever it printed."""

    verdict: Verdict
    message: str


def failure(built: Built, execution: Execution, limits: Limits) -> Failure | None:
    """Return why a run failed, or None if it ended as it should; `limits` without its runtime's."""
    if execution.limit is not None:
        return Failure(*OVERRUN[execution.limit])
    if execution.ok:
        return None
    said = execution.stderr[-_TAIL:].decode("utf-8", "replace")
    if any(word in said for word in built.found.language.run.out_of_memory):
        return Failure(*OVERRUN[LimitHit.MEMORY])
    most = limits.processes + built.found.language.run.processes
    at_limit = process_limit.note(execution.stderr, most)
    if execution.signal is not None:
        return Failure(Verdict.RE, f"ended by signal {execution.signal}{at_limit}")
    last = last_line(execution.stderr)
    said = f", and said: {last}" if last else ""
    return Failure(Verdict.RE, f"ended with exit code {execution.exit_code}{said}{at_limit}")


def with_files(command: Command, test: Test) -> Command:
    """Return the command with the test's own files beside, or instead of, the program's.

    Raises InputError if they are gone.
    """
    if not test.files:
        return command
    own = {name: content_bytes(content) for name, content in test.files.items()}
    return replace(command, files={**command.files, **own})


def result(test: Test, execution: Execution, opinion: Opinion) -> TestResult:
    """Put together what is known of a test whose output was graded."""
    return TestResult(
        opinion.verdict, execution.cpu, execution.wall, execution.memory, opinion.message,
        test.name, opinion.score, opinion.log,
    )  # fmt: skip


def failed(test: Test, execution: Execution, why: Failure) -> TestResult:
    """Put together what is known of a test whose run failed."""
    return TestResult(
        why.verdict, execution.cpu, execution.wall, execution.memory, why.message, test.name
    )
