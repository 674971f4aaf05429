"""Making a recorded judgement again, once or several times."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from proctor.errors import InputError
from proctor.evals.replaying.comparison import (
    ComparedTest,
    compared_tests,
    differences,
    sentence,
)
from proctor.evals.replaying.recorded import RecordedJudgement, Surroundings, level_of
from proctor.judgement import Judgement
from proctor.judging.judges import Judges
from proctor.problem import Test
from proctor.verdict import Verdict

OutputOn = Callable[[Test], bytes | None]
EXCERPT = 400
"""Bytes of an input or output that are shown."""
GRADED = frozenset({Verdict.AC, Verdict.PA, Verdict.WA, Verdict.PE})
"""Verdicts on what a program has written."""
_STEP = 4096
_BEFORE = 100
"""Bytes shown before the first that differs."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a text, cut to be shown."""

    data: bytes
    start: int
    total: int
    """Bytes of the whole text."""

    @classmethod
    def of(cls, whole: bytes, start: int = 0) -> "Excerpt":
        """Cut out at most EXCERPT bytes that include position `start`, with some bytes before."""
        begin = max(0, start - _BEFORE) if start > EXCERPT - _BEFORE else 0
        return cls(whole[begin : begin + EXCERPT], begin, len(whole))


@dataclass(frozen=True, slots=True)
class ShownTest:
    """A test to look at. It holds what the problem keeps from those who solve it."""

    compared: ComparedTest
    input: Excerpt
    expected: Excerpt | None
    got: Excerpt | None
    """Output of the program in one more run; None where it is not available."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """A recorded judgement and those that were made of it now."""

    recorded: RecordedJudgement
    made: tuple[Judgement, ...]
    now: Surroundings
    tests: tuple[ComparedTest, ...]
    shown: ShownTest | None
    """The first test that differs; else the first that was not passed; None if all were."""

    @property
    def differences(self) -> list[str]:
        """Differences of the first judgement that has any."""
        told = (differences(self.recorded.outcome, each) for each in self.made)
        return next(filter(None, told), [])

    @property
    def fault(self) -> Judgement | None:
        """First judgement with a fault that the recorded one does not have; None without one."""
        faults = (each for each in self.made if each.verdict.is_fault)
        return next((each for each in faults if each.verdict is not self.recorded.outcome.verdict),
                    None)  # fmt: skip

    @property
    def said(self) -> str:
        """One sentence on what differs."""
        if self.fault is not None:
            return f"could not be judged: {self.fault.verdict}, {self.fault.message}"
        return sentence(self.recorded.outcome, self.made)

    @property
    def exit_code(self) -> int:
        """0 if nothing differs, 1 if something does, 125 if it could not be judged."""
        return 125 if self.fault is not None else int(bool(self.differences))


def replay(
    recorded: RecordedJudgement,
    judges: Judges,
    times: int = 1,
    *,
    output_on: OutputOn = lambda _test: None,
    there: Surroundings | None = None,
    progress: Callable[[Verdict], None] = lambda _verdict: None,
) -> Replayed:
    """Judge again, one judgement after another.

    `output_on` runs the program on one test, where that can be done; `there` describes a server
    that judges. Raises PlatformError, InfraFault.
    """
    made = []
    for _ in range(times):
        made.append(_judged(recorded, judges))
        progress(made[-1].verdict)
    if there is None:
        now = Surroundings.now(judges, recorded, made[-1])
    else:
        now = replace(there, isolation=level_of(made[-1]))
    tests = compared_tests(recorded.outcome, made)
    shown = _shown(recorded, made, tests, output_on)
    return Replayed(recorded, tuple(made), now, tuple(tests), shown)


def _judged(recorded: RecordedJudgement, judges: Judges) -> Judgement:
    try:
        future = judges.start(
            recorded.problem, recorded.program, recorded.settings, recorded.subtasks
        )
        return future.result()
    except InputError as error:  # judged as when it was recorded: the problem's own fault
        return Judgement(Verdict.TASK_FAULT, 0.0, (), str(error))


def _shown(
    recorded: RecordedJudgement,
    made: list[Judgement],
    tests: list[ComparedTest],
    output_on: OutputOn,
) -> ShownTest | None:
    compared = next((each for each in tests if each.differs), None)
    compared = compared or next((each for each in tests if not each.passed), None)
    known = recorded.problem.tests_by_name()
    test = None if compared is None else known.get(compared.name)
    if compared is None or test is None:
        return None
    try:
        given = test.input_bytes()
        expected = None if test.output is None else test.output_bytes()
    except InputError:  # a file of the test is gone, as the verdict says
        return None
    got = _official_output(compared, made[-1])
    result = compared.now[-1]
    graded = result is not None and result.verdict in GRADED
    if got is None and graded and recorded.settings.mode == "standard":
        got = output_on(test)
    first = _first_difference(expected or b"", got or b"")
    return ShownTest(
        compared, Excerpt.of(given), None if expected is None else Excerpt.of(expected, first),
        None if got is None else Excerpt.of(got, first),
    )  # fmt: skip


def _first_difference(one: bytes, other: bytes) -> int:
    at = 0
    while at < len(one) and one[at : at + _STEP] == other[at : at + _STEP]:
        at += _STEP
    pairs = zip(one[at : at + _STEP], other[at : at + _STEP], strict=False)
    return next((n for n, (a, b) in enumerate(pairs, at) if a != b), min(len(one), len(other)))


def _official_output(compared: ComparedTest, made: Judgement) -> bytes | None:
    """Return the output that lcb_runner's report has of this test, shortened as upstream does."""
    metadata: Any = {} if made.upstream is None else made.upstream.metadata
    failed = next((at for at, each in enumerate(made.tests) if not each.verdict.passed), None)
    if failed is None or compared.name not in {str(failed), made.tests[failed].name}:
        return None
    output = metadata.get("output")
    return None if output is None else str(output).encode("utf-8", "backslashreplace")
