"""What the judge says of one program on one problem.

This is where words of a program enter: its output, its exceptions, its results' reprs. Outputs are
compared as they are, and all that is then said of them is well-formed text, whatever they held.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from proctor.execution import Isolation
from proctor.text import all_well_formed, well_formed
from proctor.verdict import Verdict


@dataclass(frozen=True, slots=True)
class TestResult:
    """One test that was run."""

    __test__ = False  # not a pytest class

    verdict: Verdict
    cpu: float
    """CPU seconds."""
    wall: float
    """Wall seconds."""
    memory: int
    """Peak bytes."""
    message: str = ""
    """Why, in one sentence. Never holds the expected output in full in standard mode; in official
    mode it is upstream's message, which may."""

    def __post_init__(self) -> None:
        if self.message:
            object.__setattr__(self, "message", well_formed(self.message))


@dataclass(frozen=True, slots=True)
class UpstreamReport:
    """What lcb_runner would have written for this program. Only in official mode."""

    results: tuple[bool | int, ...]
    """True per passed test; then, if the program failed, one code (False, -2, -3, -4)."""
    error_code: int | None
    error_message: str | None
    metadata: Mapping[str, Any]

    def __post_init__(self) -> None:
        if self.error_message:
            object.__setattr__(self, "error_message", well_formed(self.error_message))
        object.__setattr__(self, "metadata", all_well_formed(self.metadata))


@dataclass(frozen=True, slots=True)
class Judgement:
    """Verdict on one program: AC only if every test passed."""

    verdict: Verdict
    score: float
    """Fraction of the problem's tests known to have passed, 0 to 1."""
    tests: tuple[TestResult, ...]
    """The tests that were run, in order; shorter than the problem's if judging stopped early."""
    message: str = ""
    isolation: Isolation | None = None
    """None where nothing was run (no code, no tests)."""
    upstream: UpstreamReport | None = None

    def __post_init__(self) -> None:
        if self.message:
            object.__setattr__(self, "message", well_formed(self.message))

    @classmethod
    def of_tests(cls, results: Sequence[TestResult], total: int, isolation: Isolation) -> Self:
        """Sum up the tests that were run, of so many that there are: the first failure decides."""
        failed = next((result for result in results if not result.verdict.passed), None)
        return cls(
            verdict=Verdict.AC if failed is None else failed.verdict,
            score=sum(result.verdict.passed for result in results) / total,
            tests=tuple(results),
            message="" if failed is None else failed.message,
            isolation=isolation,
        )

    @property
    def passed(self) -> bool:
        """Whether every test passed."""
        return self.verdict.passed
