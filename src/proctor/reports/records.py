"""What reports and statistics are made from: one record per sample, whoever produced it."""

from dataclasses import dataclass
from datetime import date

from proctor.verdict import Verdict


@dataclass(frozen=True, slots=True)
class SampleRecord:
    """One generation for one problem, judged."""

    problem_id: str
    sample: int
    """Number among the problem's samples, from 0."""
    title: str = ""
    """Of the problem; errata may name it by this."""
    cluster: str = ""
    """What its problem shares with others: the contest. Empty: nothing known."""
    platform: str = ""
    difficulty: str = ""
    published: date | None = None
    official: Verdict | None = None
    """By lcb_runner's rules; None if not judged by them."""
    standard: Verdict | None = None
    """By a contest judge's rules; None if not judged by them."""
    earlier_official: tuple[Verdict, ...] = ()
    """Verdicts of earlier rounds of judging, the oldest first."""
    earlier_standard: tuple[Verdict, ...] = ()
    fault: str = ""
    """Why there is no verdict, or none that counts: a fault of the model's server, of the task or
    of proctor."""
    program: str = ""
    """Digest of the program: equal for equal ones. Empty: no program, or nothing known."""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost: float | None = None
    """US dollars."""
    model_seconds: float = 0.0
    judge_cpu: float = 0.0
    """CPU seconds that its tests took."""
    slowest_share: float | None = None
    """CPU of its slowest test as a share of the limit."""
    finish_reason: str = ""
    turns: int | None = None
    """Of an agent; None for a single shot."""
    stop_reason: str = ""
    """Of an agent."""
