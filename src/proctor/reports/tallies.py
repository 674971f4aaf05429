"""Samples counted per problem: the unit of all statistics here."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from proctor.reports.records import SampleRecord
from proctor.verdict import Verdict


class Mode(StrEnum):
    """Rules by which a sample passed: lcb_runner's (official) or a contest judge's (standard)."""

    OFFICIAL = "official"
    STANDARD = "standard"


@dataclass(frozen=True, slots=True)
class Tally:
    """Number of one problem's samples per outcome, by one set of rules."""

    problem_id: str
    cluster: str
    """The contest; the problem itself where its contest is not known."""
    platform: str
    difficulty: str
    published: date | None
    scored: int
    """Samples with a verdict of their own."""
    passed: int
    infra_faults: int
    """Samples lost to the model's server or to proctor: they might have passed."""
    task_faults: int
    """Samples lost because the problem is broken."""
    title: str = ""

    @property
    def faults(self) -> int:
        """Samples without a verdict, which count as not passed: none may choose not to count."""
        return self.infra_faults + self.task_faults

    @property
    def samples(self) -> int:
        """All samples; at least one."""
        return self.scored + self.faults

    @property
    def rate(self) -> float:
        """Share of the samples that passed."""
        return self.passed / self.samples

    @property
    def month(self) -> str:
        """YYYY-MM of publication; empty if not known."""
        return self.published.isoformat()[:7] if self.published else ""

    @property
    def stratum(self) -> tuple[str, str]:
        """Platform and difficulty, by which pass rates differ anyway."""
        return self.platform, self.difficulty


def judged_by(record: SampleRecord, mode: Mode) -> Verdict | None:
    """Return the verdict that was recorded by the rules of `mode`."""
    return record.official if mode is Mode.OFFICIAL else record.standard


def verdict_of(record: SampleRecord, mode: Mode) -> Verdict | None:
    """Return the verdict of a sample by the rules of `mode`; None if it was not judged by them.

    If a fault prevented judging, return INFRA_FAULT, or TASK_FAULT if the other rules gave it.
    """
    verdict = judged_by(record, mode)
    if verdict is None and record.fault:
        broken = Verdict.TASK_FAULT in (record.official, record.standard)
        return Verdict.TASK_FAULT if broken else Verdict.INFRA_FAULT
    return verdict


def modes_of(records: Iterable[SampleRecord]) -> tuple[Mode, ...]:
    """Return the rules by which at least one record was judged."""
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
    """Count samples per problem, ordered by problem id; those not judged by `mode` do not count."""
    counter = SampleCounter(mode)
    for record in records:
        counter.add(record)
    return counter.tallies()


class SampleCounter:
    """Counts samples per problem as they come in; keeps one record of each problem."""

    def __init__(self, mode: Mode) -> None:
        """Begin with no samples; verdicts are those by the rules of `mode`."""
        self.mode = mode
        self._judged = False
        self._counts: dict[str, tuple[SampleRecord, Counter[Verdict]]] = {}

    def add(self, record: SampleRecord) -> Verdict | None:
        """Count a sample; return its verdict, None if it was not judged by the rules."""
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
        """True if any sample was judged by these rules; False if all were lost to faults before."""
        return self._judged

    def tallies(self) -> list[Tally]:
        """Return the counts, ordered by problem id."""
        return [_tally(*self._counts[problem_id]) for problem_id in sorted(self._counts)]

    def verdicts(self) -> dict[Verdict, int]:
        """Return samples per verdict, including faults; every verdict that occurs."""
        total = sum((counts for _, counts in self._counts.values()), Counter[Verdict]())
        return {verdict: total[verdict] for verdict in Verdict if total[verdict]}


def with_verdicts(tallies: Iterable[Tally]) -> list[Tally]:
    """Return all tallies, but none where no sample of any problem has a verdict."""
    found = list(tallies)
    return found if any(each.scored for each in found) else []


def samples_each(tallies: Sequence[Tally]) -> int | None:
    """Return the samples per problem if all problems have the same number, else None."""
    numbers = {each.samples for each in tallies}
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
