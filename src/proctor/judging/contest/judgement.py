"""What the judge says of one submission to a contest problem."""

from dataclasses import dataclass

from proctor.execution import Isolation
from proctor.verdict import Verdict


@dataclass(frozen=True, slots=True)
class ContestTestResult:
    """One test that was run."""

    name: str
    verdict: Verdict
    score: float
    """0 to 1."""
    cpu: float = 0.0
    """CPU seconds, of the slowest process of the submission."""
    wall: float = 0.0
    memory: int = 0
    """Peak bytes."""
    message: str = ""
    """What the checker, or the judge, says to the author of the submission."""
    log: str = ""
    """What it says to the author of the problem: of a fault, the failing program's output."""


@dataclass(frozen=True, slots=True)
class SubtaskResult:
    """One subtask. A fault, of the task or of proctor, leaves its points unknown (None)."""

    name: str
    verdict: Verdict
    score: float | None
    """0 to 1."""
    points: float | None
    """Rounded to the problem's precision."""
    of: float
    tests: tuple[str, ...]
    """Tests of it that were run, those of the subtasks it depends on included."""


@dataclass(frozen=True, slots=True)
class ContestJudgement:
    """Verdict and points of one submission."""

    verdict: Verdict
    points: float | None
    """None if a fault has left any subtask without a score."""
    of: float
    tests: tuple[ContestTestResult, ...]
    subtasks: tuple[SubtaskResult, ...]
    message: str = ""
    compiled: bool = True
    """Whether it compiled, or needed no compiling."""
    compiler_output: str = ""
    isolation: Isolation | None = None
    integrity: str = ""
    """Whose the grading is, if not proctor's."""

    @property
    def passed(self) -> bool:
        """Whether it got all points."""
        return self.verdict.passed
