"""Runs of a submission from input to output, and the grading of what it wrote."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from proctor.execution import Execution, Isolation
from proctor.judgement import TestResult
from proctor.judging import outcome, passes
from proctor.judging.checkers import Opinion
from proctor.judging.environment import JudgingEnvironment
from proctor.judging.grader import OutputGrader
from proctor.judging.outcome import Failure
from proctor.languages.compiler import Built
from proctor.limits import Limits
from proctor.problem import Batch, Test
from proctor.program import Program
from proctor.verdict import Verdict

_WRITTEN = "output_path"
"""File whose path is in the variable that the problem names."""


def runner_for(
    how: Batch, program: Program, built: Built, limits: Limits, grader: OutputGrader
) -> "BatchRunner":
    """Return the runner of a submission that was built from this program."""
    if how.output_variable is not None and how.output_variable not in program.source:
        how = replace(how, output_variable=None)  # most programs then need no own directory
    return BatchRunner(how, built, limits, grader)


@dataclass(frozen=True, slots=True)
class BatchRunner:
    """A submission and how it is run."""

    how: Batch
    built: Built
    limits: Limits
    grader: OutputGrader

    def run(
        self,
        environment: JudgingEnvironment,
        test: Test,
        wrote: Callable[[bytes], object] | None = None,
    ) -> tuple[TestResult, Isolation]:
        """Run one test, in as many passes as its validator asks for.

        `wrote` is called with what is graded, pass by pass. Raises InputError if the test's files
        are gone, InfraFault.
        """
        return passes.run(partial(self._graded, environment, wrote), test, self.grader.passes)

    def _graded(
        self,
        environment: JudgingEnvironment,
        wrote: Callable[[bytes], object] | None,
        test: Test,
        feedback: passes.Files,
    ) -> tuple[Execution, Failure | Opinion, passes.Files]:
        execution, output = self.once(environment, test)
        if isinstance(output, Failure):
            return execution, output, {}
        if wrote is not None:
            wrote(output)
        opinion, files = self.grader.grade(environment, test, output, feedback)
        return execution, opinion, files

    def once(
        self, environment: JudgingEnvironment, test: Test
    ) -> tuple[Execution, bytes | Failure]:
        """Run it once; returns the facts and what it wrote, or why there is nothing to grade."""
        how, limits, data = self.how, self.limits, test.input_bytes()
        files = {how.input_file: data} if how.input_file is not None else {}
        wanted = how.output_file if how.output_variable is None else _WRITTEN
        collect = (wanted,) if wanted is not None else ()
        command = self.built.command(
            test.args, memory=limits.memory, files=files, collect=collect, most=limits.output,
            judged=True,
        )  # fmt: skip
        if how.output_variable is not None:
            place = {how.output_variable: f"{{work}}/{_WRITTEN}"}
            command = replace(command, environment={**command.environment, **place})
        command = outcome.with_files(command, test)
        own = self.built.limits(limits, command, writes=limits.output if collect else 0)
        stdin = b"" if how.input_file is not None else data
        finished = environment.run_submission(command, stdin, own)
        why = outcome.failure(self.built, finished.execution, limits)
        if why is not None:
            return finished.execution, why
        stdout = finished.execution.stdout
        if wanted is None:
            return finished.execution, stdout
        written = finished.files.get(wanted, None if how.output_variable is None else stdout)
        if written is None:
            return finished.execution, Failure(Verdict.WA, f"it wrote no file {wanted}")
        return finished.execution, written
