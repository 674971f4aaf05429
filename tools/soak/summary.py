"""What a soak comes to, for people and for machines."""

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from supervise import CYCLE, Done

_GROWTH = 0.15
_GROWTH_BYTES = 12 << 20
"""How much larger a worker may be at its end than after its first cycle of shifts: a heap breathes
by some MiB; a leak of a descriptor's worth per job would show in thousands of jobs."""
_SHOWN = 12


@dataclass(slots=True)
class Report:
    """All shifts together."""

    seed: int
    seconds: float = 0.0
    skipped: dict[str, str] = field(default_factory=dict)
    done: list[Done] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    grown: list[str] = field(default_factory=list)

    def add(self, done: list[Done], left: list[str]) -> None:
        """Take in one level's shifts, in order."""
        self.done += done
        self.left += left
        self.left += [f"{_at(one)}: {each}" for one in done for each in one.tally.left]
        long_lived = [one.tally for one in done if one.worker == "first"]
        first, last = long_lived[min(len(CYCLE), len(long_lived)) - 1], long_lived[-1]
        if last.resident > max(first.resident * (1 + _GROWTH), first.resident + _GROWTH_BYTES):
            grown = f"{first.resident >> 20} to {last.resident >> 20} MiB"
            self.grown.append(f"{done[0].level}: the host grew from {grown}")
        if last.descriptors != first.descriptors:
            grown = f"{first.descriptors} to {last.descriptors} descriptors"
            self.grown.append(f"{done[0].level}: the host went from {grown}")

    @property
    def wrong(self) -> list[str]:
        return [f"{_at(one)}: {each}" for one in self.done for each in one.tally.wrong]

    @property
    def broken(self) -> list[str]:
        return [f"{_at(one)}: {each}" for one in self.done for each in one.tally.broken]

    @property
    def clean(self) -> bool:
        return self.jobs > 0 and not (self.wrong or self.broken or self.left or self.grown)

    @property
    def jobs(self) -> int:
        return sum(one.tally.jobs for one in self.done)

    def facts(self) -> dict[str, Any]:
        """Everything, as plain data."""
        verdicts: Counter[str] = Counter()
        faults: Counter[str] = Counter()
        for one in self.done:
            verdicts.update(one.tally.verdicts)
            faults.update(one.tally.faults)
        worked = sum(one.tally.seconds for one in self.done)
        return {
            "clean": self.clean,
            "seed": self.seed,
            "seconds": round(self.seconds, 1),
            "levels": sorted({one.level for one in self.done}),
            "skipped": self.skipped,
            "jobs": self.jobs,
            "jobs_per_second": round(self.jobs / worked, 1) if worked else 0.0,
            "cells": sum(one.tally.cells for one in self.done),
            "verdicts": dict(verdicts.most_common()),
            "faults": dict(faults.most_common()),
            "retried": sum(one.tally.retried for one in self.done),
            "wrong": self.wrong,
            "broken": self.broken,
            "left": self.left,
            "grown": self.grown,
            "resident_mib": [one.tally.resident >> 20 for one in self.done],
        }

    def as_json(self) -> str:
        return json.dumps(self.facts(), indent=1)

    def as_text(self) -> str:
        facts = self.facts()
        lines = [
            f"{facts['jobs']} jobs in {facts['seconds']:.0f} s ({facts['jobs_per_second']}/s a"
            f" worker), {facts['cells']} cells, {', '.join(facts['levels'])}, seed {facts['seed']}",
            f"verdicts: {_counts(facts['verdicts'])}",
            f"faults: {_counts(facts['faults'])}; {facts['retried']} jobs lost two cells and were"
            " begun again",
        ]
        lines += [f"not soaked: {level}: {why}" for level, why in self.skipped.items()]
        for title, items in (
            ("wrong verdicts", self.wrong),
            ("broken promises", self.broken),
            ("left behind", self.left),
            ("not flat", self.grown),
        ):
            lines.append(f"{title}: {len(items) or 'none'}")
            lines += [f"  {item}" for item in items[:_SHOWN]]
        lines.append("clean" if self.clean else "NOT CLEAN")
        return "\n".join(lines)


def tell(done: Done) -> None:
    """Show one shift as it ends."""
    tally = done.tally
    bad = len(tally.wrong) + len(tally.broken) + len(tally.left)
    print(
        f"{_at(done)}: {tally.jobs} jobs, {sum(tally.faults.values())} faults,"
        f" {tally.retried} begun again, {tally.resident >> 20} MiB,"
        f" {'clean' if not bad else f'{bad} PROBLEMS'}",
        flush=True,
    )
    for each in (*tally.wrong, *tally.broken, *tally.left)[:_SHOWN]:
        print(f"  {each}", flush=True)


def _at(one: Done) -> str:
    return f"{one.level}, {one.kind}, {one.worker}"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "none"
