"""Figures of a run: both modes' scores, by group, with faults as bounds."""

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from proctor.reports.no_program import NoProgramCounter, NoPrograms
from proctor.reports.records import SampleRecord
from proctor.reports.summary import Summary, summary_of, to_json
from proctor.reports.tallies import Mode, SampleCounter
from proctor.reports.uncertainty import Estimate, FaultBounds, fault_bounds, mean_interval
from proctor.verdict import Verdict

_LONGEST = 300
"""Characters of a reason that are shown."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of a run."""

    samples: int
    faults: dict[str, int]
    """Samples without a reply, per kind of fault."""
    task_fault: str
    """First problem that cannot be graded, and the reason; empty if all can."""
    modes: dict[str, Summary]
    intervals: dict[str, Estimate | None]
    """pass@1 with its interval, by mode; None where no sample has a score."""
    no_program: NoPrograms
    """Replies without a program, by the main mode's rules."""
    bounds: dict[str, FaultBounds]
    """By mode, where samples have no verdict."""
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    """US dollars, over `priced` samples; None if there are none."""
    priced: int
    """Samples of which the cost is known."""
    judge_cpu: float

    @property
    def fault_count(self) -> int:
        """Count samples without a reply, or without a verdict in the mode with most such."""
        # A mode's infra_faults include the samples without a reply.
        without = (summary.infra_faults for summary in self.modes.values())
        return max(without, default=sum(self.faults.values()))

    @property
    def main_mode(self) -> str | None:
        """Mode whose score a gate looks at: standard, or else the first; None if there is none."""
        return "standard" if "standard" in self.modes else next(iter(self.modes), None)


def figures(records: Iterable[SampleRecord], modes: Sequence[str], ks: Sequence[int]) -> Figures:
    """Compute figures in these modes, with pass@k for these k; reads the records once."""
    counters = {mode: SampleCounter(Mode(mode)) for mode in modes}
    standard = "standard" in modes or not modes
    without = NoProgramCounter(Mode.STANDARD if standard else Mode(modes[0]))
    faults: Counter[str] = Counter()
    samples = prompt_tokens = completion_tokens = 0
    cpu, task_fault = 0.0, ""
    costs = array("d")
    for record in records:
        samples += 1
        without.add(record)
        prompt_tokens += record.prompt_tokens or 0
        completion_tokens += record.completion_tokens or 0
        cpu += record.judge_cpu
        if record.cost is not None:
            costs.append(record.cost)
        if record.fault and record.official is None and record.standard is None:
            faults[record.fault.partition(":")[0]] += 1
        if not task_fault and record.fault.startswith(Verdict.TASK_FAULT):
            task_fault = _named(record)
        for counter in counters.values():
            counter.add(record)
    tallies = {mode: counter.tallies() for mode, counter in counters.items()}
    found = {mode: fault_bounds(each) for mode, each in tallies.items()}
    return Figures(
        samples=samples,
        faults=dict(faults),
        task_fault=task_fault,
        modes={mode: summary_of(counter, ks) for mode, counter in counters.items()},
        intervals={mode: mean_interval(each) for mode, each in tallies.items()},
        no_program=without.found(),
        bounds={mode: each for mode, each in found.items() if each and each.faults},
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        cost=math.fsum(costs) if costs else None,
        priced=len(costs),
        judge_cpu=cpu,
    )


def _named(record: SampleRecord) -> str:
    """Return the problem of a fault, and the last line of its message."""
    said = record.fault.partition(": ")[2].strip().splitlines()
    return f"{record.problem_id}: {said[-1][:_LONGEST]}" if said else record.problem_id


def to_plain(found: Figures) -> dict[str, Any]:
    """Return the figures as plain JSON values."""
    return {
        "samples": found.samples,
        "model_faults": found.faults,
        "task_fault": found.task_fault,
        **{mode: to_json(summary) for mode, summary in found.modes.items()},
        "intervals": {mode: _interval(each) for mode, each in found.intervals.items()},
        "no_program": _no_program(found.no_program),
        "bounds": {mode: [each.low, each.high] for mode, each in found.bounds.items()},
        "prompt_tokens": found.prompt_tokens,
        "completion_tokens": found.completion_tokens,
        "cost": found.cost,
        "priced": found.priced,
        "judge_cpu": found.judge_cpu,
    }


def _interval(found: Estimate | None) -> dict[str, Any] | None:
    return None if found is None else asdict(found)


def _no_program(found: NoPrograms) -> dict[str, Any]:
    without = found.without
    return {
        "replies": found.replies,
        "count": found.count,
        "reasons": {reason.value: count for reason, count in found.reasons.items()},
        "pass_at_1_of_the_others": None if without is None else without.value,
    }
