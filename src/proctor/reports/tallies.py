"""Samples counted per problem: the unit of all statistics here."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from proctor.reports.records import SampleRecord
from proctor.verdict import Verdict


class Mode(StrEnum):
    """By whose rules a sample passed."""

    OFFICIAL = "official"
    STANDARD = "standard"


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of one problem's samples, by one set of rules."""

    problem_id: str
    cluster: str
    """The contest; where that is not known, the problem itself."""
    platform: str
    difficulty: str
    published: date | None
    scored: int
    """Samples with a verdict that counts."""
    passed: int
    infra_faults: int
    """Samples lost to the model's server or to proctor: they might have passed."""
    task_faults: int
    """Samples lost because the problem is broken."""
    title: str = ""

    @property
    def rate(self) -> float:
        """Share of the scored samples that passed. Not to be asked if none is scored."""
        return self.passed / self.scored

    @property
    def month(self) -> str:
        """YYYY-MM of publication; empty if not known."""
        return f"{self.published:%Y-%m}" if self.published else ""

    @property
    def stratum(self) -> tuple[str, str]:
        """What pass rates differ by anyway: platform and difficulty."""
        return self.platform, self.difficulty


def judged_by(record: SampleRecord, mode: Mode) -> Verdict | None:
    """Verdict that was recorded by the rules of `mode`."""
    return record.official if mode is Mode.OFFICIAL else record.standard


def verdict_of(record: SampleRecord, mode: Mode) -> Verdict | None:
    """Verdict of a sample by the rules of `mode`; None if it was not judged by them.

    A sample without one for a fault is INFRA_FAULT, or TASK_FAULT if the other rules found that.
    """
    verdict = judged_by(record, mode)
    if verdict is None and record.fault:
        broken = Verdict.TASK_FAULT in (record.official, record.standard)
        return Verdict.TASK_FAULT if broken else Verdict.INFRA_FAULT
    return verdict


def modes_of(records: Iterable[SampleRecord]) -> tuple[Mode, ...]:
    """Rules by which at least one record was judged."""
    found: set[Mode] = set()
    for record in records:
        if record.official is not None:
            found.add(Mode.OFFICIAL)
        if record.standard is not None:
            found.add(Mode.STANDARD)
        if len(found) == len(Mode):
            break
    return tuple(mode for mode in Mode if mode in found)


def tally(records: Iterable[SampleRecord], mode: Mode) -> list[Tally]:
    """Count samples per problem, ordered by problem id; those not judged by `mode` do not count.

    Problems with faults only are there too, with `scored` 0: see `scored_only`.
    """
    counting = Counting(mode)
    for record in records:
        counting.add(record)
    return counting.tallies()


class Counting:
    """Samples counted per problem while they come in; keeps one record of each problem."""

    def __init__(self, mode: Mode) -> None:
        """Begin with none."""
        self.mode = mode
        self._judged = False
        self._counts: dict[str, tuple[SampleRecord, Counter[Verdict]]] = {}

    def add(self, record: SampleRecord) -> Verdict | None:
        """Count a sample; returns its verdict, None if it was not judged by the rules."""
        verdict = verdict_of(record, self.mode)
        if verdict is not None:
            self._judged |= judged_by(record, self.mode) is not None
            found = self._counts.get(record.problem_id)
            if found is None:
                found = self._counts[record.problem_id] = (record, Counter())
            found[1][verdict] += 1
        return verdict

    @property
    def judged(self) -> bool:
        """Whether a sample was judged by these rules; one that was lost before may have been."""
        return self._judged

    def tallies(self) -> list[Tally]:
        """What was counted, ordered by problem id."""
        return [_tally(*self._counts[problem_id]) for problem_id in sorted(self._counts)]

    def verdicts(self) -> dict[Verdict, int]:
        """Samples per verdict, faults too; every verdict that occurs."""
        total = sum((counts for _, counts in self._counts.values()), Counter[Verdict]())
        return {verdict: total[verdict] for verdict in Verdict if total[verdict]}


def scored_only(tallies: Iterable[Tally]) -> list[Tally]:
    """Those with at least one sample that counts."""
    return [each for each in tallies if each.scored]


def samples_each(tallies: Sequence[Tally]) -> int | None:
    """Scored samples per problem, if all problems have the same number."""
    numbers = {each.scored for each in tallies}
    return numbers.pop() if len(numbers) == 1 else None


def _tally(first: SampleRecord, verdicts: Counter[Verdict]) -> Tally:
    return Tally(
        problem_id=first.problem_id,
        cluster=first.cluster or f"problem {first.problem_id}",
        platform=first.platform or "unknown",
        difficulty=first.difficulty or "unknown",
        published=first.published,
        scored=sum(count for verdict, count in verdicts.items() if not verdict.is_fault),
        passed=sum(count for verdict, count in verdicts.items() if verdict.passed),
        infra_faults=verdicts[Verdict.INFRA_FAULT],
        task_faults=verdicts[Verdict.TASK_FAULT],
        title=first.title,
    )
