"""Grading one output: by comparison here, or by a checker in a cell of its own."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from proctor.formats.packages.validator_flags import comparison
from proctor.grading import Checker, Comparison, Convention, Grading
from proctor.judging import checkers
from proctor.judging.checkers import COLLECTED, FEEDBACK, Opinion
from proctor.judging.comparison import compare
from proctor.judging.environment import JudgingEnvironment
from proctor.languages.compiler import Built
from proctor.limits import GIB, MIB, Limits
from proctor.problem import Test
from proctor.verdict import Verdict

LIMITS = Limits(cpu=20.0, memory=2 * GIB, output=64 * MIB, stack=256 * MIB)
"""Limits of a checker, interactor or manager, above what a correct one uses."""
WRITES = 64 * MIB  # bytes a checker may write
INPUT, OUTPUT, ANSWER = "input.txt", "output.txt", "answer.txt"


@dataclass(frozen=True, slots=True)
class OutputGrader:
    """How outputs of one problem are graded, with the checker compiled if there is one."""

    grading: Grading
    checker: Built | None = None

    @property
    def passes(self) -> int:
        """How often a submission may have to run for one test."""
        return self.grading.passes if isinstance(self.grading, Checker) else 1

    def grade(
        self,
        environment: JudgingEnvironment,
        test: Test,
        output: bytes,
        feedback: Mapping[str, bytes] | None = None,
    ) -> tuple[Opinion, Mapping[str, bytes]]:
        """Grade one output; return the opinion and the files of the feedback directory.

        `feedback` are the directory's files after the previous pass. Raises InputError if the
        test's files are gone, InfraFault.
        """
        if isinstance(self.grading, Comparison):
            return _compared(self.grading, test, output), {}
        assert self.checker is not None
        return _checked(environment, self.grading, self.checker, test, output, feedback or {})


def prepare(
    environment: JudgingEnvironment, grading: Grading, tolerance: float | None
) -> OutputGrader:
    """Return a problem's grader, with its checker compiled.

    `tolerance` applies where the problem states no comparison. Raises CompileFailed, InputError,
    NoLanguage, InfraFault.
    """
    if isinstance(grading, Checker):
        return OutputGrader(grading, environment.compile_grader(grading.program))
    if grading.decimals and tolerance is not None:
        grading = replace(grading, absolute=tolerance, relative=tolerance)
    return OutputGrader(grading)


def _compared(how: Comparison, test: Test, output: bytes) -> Opinion:
    if test.output is None:
        return Opinion(Verdict.TASK_FAULT, 0.0, "the test has no answer to compare with")
    found = compare(output, test.output_bytes(), comparison(test.flags, how))
    if found is None:
        return Opinion(Verdict.AC, 1.0)
    return Opinion(Verdict.WA, 0.0, found)


def _checked(
    environment: JudgingEnvironment,
    grading: Checker,
    checker: Built,
    test: Test,
    output: bytes,
    feedback: Mapping[str, bytes],
) -> tuple[Opinion, Mapping[str, bytes]]:
    files = {
        **feedback,
        INPUT: test.input_bytes(),
        ANSWER: test.output_bytes(),
    }
    stdin = b""
    flags = (*grading.flags, *test.flags)
    match grading.convention:
        case Convention.KATTIS:
            stdin, args = output, (INPUT, ANSWER, FEEDBACK + "/", *flags)
        case Convention.SCORE | Convention.PRINTED | Convention.HUSTOJ:
            files[OUTPUT], args = output, (INPUT, ANSWER, OUTPUT, *flags)
        case Convention.QDUOJ:
            files[OUTPUT], args = output, (INPUT, OUTPUT, *flags)
            stdin = files[INPUT]
        case _:
            files[OUTPUT], args = output, (INPUT, OUTPUT, ANSWER, *flags)
    kattis = grading.convention is Convention.KATTIS
    command = checker.command(
        args,
        memory=LIMITS.memory,
        files=files,
        collect=COLLECTED if kattis else (),
        directories=(FEEDBACK,) if kattis else (),
    )
    limits = checker.limits(LIMITS, command, writes=WRITES)
    finished = environment.run_grader(command, stdin, limits)
    found = checkers.opinion(grading.convention, finished.execution, finished.files, full=test.full)
    return found, finished.files
