"""Cost of a run: dollars, tokens, seconds."""

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from proctor.reports.records import SampleRecord
from proctor.reports.tallies import Mode, verdict_of
from proctor.reports.uncertainty import Estimate, ratio_interval


@dataclass(frozen=True, slots=True)
class Expense:
    """Sums over all samples, including those lost to faults: they were paid for."""

    samples: int
    priced: int
    """Number of samples whose cost is known; `cost` is over these."""
    cost: float | None
    """US dollars; None if no sample has a price."""
    per_solved: Estimate | None
    """US dollars per problem that a sample solved; None unless every sample has a price."""
    prompt_tokens: int | None
    completion_tokens: int | None
    reasoning_tokens: int | None
    median_completion: float | None
    """Median of completion tokens per sample."""
    model_seconds: tuple[float, float]
    """Median and 95th percentile over samples."""
    judge_cpu: float
    """CPU seconds of judging, over all samples."""
    cut_short: int
    """Number of replies that ended at the token limit."""
    turns: float | None
    """Mean number of an agent's turns; None for single shots."""


class ExpenseCounter:
    """Adds up the cost of samples as they come in; of each sample a few numbers are kept."""

    def __init__(self, mode: Mode) -> None:
        """Begin with no samples; a problem is solved by the rules of `mode`."""
        self._mode = mode
        self._samples = 0
        self._cut_short = 0
        self._judge_cpu = 0.0
        self._costs = array("d")
        self._prompt = array("q")
        self._completion = array("q")
        self._reasoning = array("q")
        self._seconds = array("d")
        self._turns = array("q")
        self._problems: dict[str, _ProblemExpense] = {}

    def add(self, record: SampleRecord) -> None:
        """Count a sample."""
        self._samples += 1
        self._cut_short += record.finish_reason == "length"
        self._judge_cpu += record.judge_cpu
        for values, value in (
            (self._prompt, record.prompt_tokens),
            (self._completion, record.completion_tokens),
            (self._reasoning, record.reasoning_tokens),
            (self._turns, record.turns),
        ):
            if value is not None:
                values.append(value)
        if record.cost is not None:
            self._costs.append(record.cost)
        if record.model_seconds:
            self._seconds.append(record.model_seconds)
        found = self._problems.get(record.problem_id)
        if found is None:
            cluster = record.cluster or f"problem {record.problem_id}"
            found = self._problems[record.problem_id] = _ProblemExpense(cluster)
        found.cost += record.cost or 0.0
        verdict = verdict_of(record, self._mode)
        found.solved |= verdict is not None and verdict.passed

    def expense(self) -> Expense:
        """Return the sums so far."""
        return Expense(
            samples=self._samples,
            priced=len(self._costs),
            cost=math.fsum(self._costs) if self._costs else None,
            per_solved=self._per_solved() if len(self._costs) == self._samples else None,
            prompt_tokens=_sum(self._prompt),
            completion_tokens=_sum(self._completion),
            reasoning_tokens=_sum(self._reasoning),
            median_completion=percentile(self._completion, 0.5) if self._completion else None,
            model_seconds=(percentile(self._seconds, 0.5), percentile(self._seconds, 0.95)),
            judge_cpu=self._judge_cpu,
            cut_short=self._cut_short,
            turns=sum(self._turns) / len(self._turns) if self._turns else None,
        )

    def _per_solved(self) -> Estimate | None:
        problems = self._problems.values()
        return ratio_interval(
            [each.cost for each in problems],
            [float(each.solved) for each in problems],
            [each.cluster for each in problems],
        )


@dataclass(slots=True)
class _ProblemExpense:
    cluster: str
    cost: float = 0.0
    solved: bool = False


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least `share` of them do not exceed; 0 without any."""
    if not values:
        return 0.0
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def _sum(values: Sequence[int]) -> int | None:
    return sum(values) if values else None
