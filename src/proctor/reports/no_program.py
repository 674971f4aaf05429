"""Replies in which no program was found: how many, why, and the score without them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from proctor.reports.records import SampleRecord
from proctor.reports.tallies import Mode, SampleCounter, with_verdicts
from proctor.reports.uncertainty import Estimate, mean_interval

WORTH_A_WARNING = 0.02
"""Share of replies without a program above which a score says little of the model."""


class Reason(StrEnum):
    """Why a reply holds no program."""

    CONTENT_FILTER = "content-filter"
    CUT_SHORT = "cut-short"
    EMPTY = "empty"
    ONLY_IN_REASONING = "only-in-reasoning"
    REFUSAL = "refusal"
    NO_BLOCK = "no-block"

    @property
    def words(self) -> str:
        """The reason in words."""
        return _WORDS[self]


_KNOWN = {each.value: each for each in Reason}
_WORDS = {
    Reason.CONTENT_FILTER: "withheld by the server's content filter",
    Reason.CUT_SHORT: "cut short at the token limit",
    Reason.EMPTY: "empty",
    Reason.ONLY_IN_REASONING: "with code in the reasoning only",
    Reason.REFUSAL: "refused",
    Reason.NO_BLOCK: "without any code",
}


@dataclass(frozen=True, slots=True)
class NoPrograms:
    """Replies of a run in which no program was found. They count as failures."""

    replies: int
    """Number of all replies."""
    reasons: Mapping[Reason, int]
    """Number of those without a program by reason, the most frequent first."""
    without: Estimate | None
    """pass@1 of the other replies: an upper bound of what the model could do, since it leaves out
    its failures to answer; None if there are no others."""

    @property
    def count(self) -> int:
        """Number of replies without a program."""
        return sum(self.reasons.values())

    @property
    def share(self) -> float:
        """Share of the replies that hold no program, 0 to 1."""
        return self.count / self.replies if self.replies else 0.0

    @property
    def many(self) -> bool:
        """True if they are so many that the score needs a warning."""
        return self.share > WORTH_A_WARNING

    @property
    def words(self) -> str:
        """Counts by reason in words: `3 cut short at the token limit, 1 empty`."""
        return ", ".join(f"{count} {reason.words}" for reason, count in self.reasons.items())


class NoProgramCounter:
    """Counts samples as they come in."""

    def __init__(self, mode: Mode) -> None:
        """Begin with no samples; they pass by the rules of `mode`."""
        self._replies = 0
        self._reasons: Counter[Reason] = Counter()
        self._others = SampleCounter(mode)

    def add(self, record: SampleRecord) -> None:
        """Count a sample; one that ended in a fault before there was a reply does not count."""
        if record.no_program:
            # A file may have been written by a later version, which knows more reasons.
            self._reasons[_KNOWN.get(record.no_program, Reason.NO_BLOCK)] += 1
        else:
            self._others.add(record)
        self._replies += bool(record.no_program or not record.fault)

    def found(self) -> NoPrograms:
        """Return the counts so far."""
        return NoPrograms(
            self._replies,
            dict(self._reasons.most_common()),
            mean_interval(with_verdicts(self._others.tallies())),
        )
