"""A submission that is run twice, of which the second run knows only what the first one wrote.

As in CMS: the task's manager is compiled with the submission. Its arguments are 0 or 1, the number
of the run, and the name of a file, which the first run writes and the second reads. The first gets
the input on stdin; what the second prints is graded. In CMS the file is a named pipe and both run
at once. Here the second starts when the first has ended, and gets no more than the bytes: so
nothing can be passed the other way.
"""

from dataclasses import dataclass, replace

from proctor.execution import Isolation
from proctor.judgement import TestResult
from proctor.judging import outcome
from proctor.judging.environment import JudgingEnvironment
from proctor.judging.grader import OutputGrader
from proctor.judging.outcome import Failure
from proctor.judging.passes import most_of
from proctor.languages.compiler import Built
from proctor.limits import Limits
from proctor.problem import Test
from proctor.sandbox.command import Finished
from proctor.verdict import Verdict

_FILE = "fifo"
"""CMS's name for it. It is there from the beginning, as a pipe would be."""


@dataclass(frozen=True, slots=True)
class TwoStepsRunner:
    """A submission and how it is run."""

    built: Built
    limits: Limits
    """Limits of each run."""
    grader: OutputGrader

    def run(self, environment: JudgingEnvironment, test: Test) -> tuple[TestResult, Isolation]:
        """Run one test. Raises InputError if its files are gone, InfraFault."""
        first = self._run(environment, "0", test.input_bytes(), b"")
        facts = first.execution
        message = first.files.get(_FILE)
        why = outcome.failure(self.built, facts, self.limits)
        if why is None and message is None:
            why = Failure(
                Verdict.WA, "its first run left no file, or too large a one, to the second"
            )
        if why is not None or message is None:
            assert why is not None
            return outcome.failed(test, facts, why), facts.isolation
        second = self._run(environment, "1", b"", message)
        facts = most_of([facts, second.execution])
        why = outcome.failure(self.built, second.execution, self.limits)
        if why is not None:
            return outcome.failed(test, facts, why), facts.isolation
        opinion, _ = self.grader.grade(environment, test, second.execution.stdout)
        return outcome.result(test, facts, opinion), facts.isolation

    def _run(
        self, environment: JudgingEnvironment, number: str, stdin: bytes, message: bytes
    ) -> Finished:
        collect = (_FILE,) if number == "0" else ()
        command = self.built.command(
            (number, _FILE),
            memory=self.limits.memory,
            collect=collect,
            most=self.limits.output,
            judged=True,
        )
        command = replace(command, files={**command.files, _FILE: message})
        writes = self.limits.output if collect else 0
        limits = self.built.limits(self.limits, command, writes=writes)
        return environment.run_submission(command, stdin, limits)
