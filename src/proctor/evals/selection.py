"""The problems of a source that an evaluation takes."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from proctor.errors import InputError
from proctor.evals.settings import Settings
from proctor.evals.stored import ProblemInfo

PLATFORMS = frozenset({"leetcode", "atcoder", "codeforces"})
DIFFICULTIES = frozenset({"easy", "medium", "hard"})
"""Usual names of difficulties, which a source may lack; any other that it lacks is misspelt."""
_LIMIT = re.compile(r"(\d+)(?:-(\d+))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions that all must hold; empty or None for no such condition."""

    platforms: frozenset[str] = frozenset()
    difficulties: frozenset[str] = frozenset()
    first_date: date | None = None
    last_date: date | None = None
    ids: frozenset[str] = frozenset()
    positions: tuple[int, int | None] = (1, None)
    """First and last position, from 1, in what the other conditions leave; None for no end."""

    def reason_against(self, info: ProblemInfo) -> str | None:
        """Why a problem is left out; None if it is not."""
        if self.ids and info.id not in self.ids:
            return "not asked for"
        if self.platforms and info.platform.lower() not in self.platforms:
            return "platform"
        if self.difficulties and info.difficulty.lower() not in self.difficulties:
            return "difficulty"
        if self.first_date is None and self.last_date is None:
            return None
        if info.published is None:
            return "undated"
        after = self.first_date is None or info.published >= self.first_date
        before = self.last_date is None or info.published <= self.last_date
        return None if after and before else "date"


@dataclass(frozen=True, slots=True)
class Selection:
    """Problems taken, and how many were left out for which reason."""

    problems: tuple[ProblemInfo, ...]
    left_out: dict[str, int]


def select(infos: Iterable[ProblemInfo], filters: Filters) -> Selection:
    """Apply the filters. Raises InputError if nothing is left, or a requested id is missing."""
    taken: list[ProblemInfo] = []
    left_out: Counter[str] = Counter()
    absent = set(filters.ids)
    first, last = filters.positions
    position = 0
    platforms, difficulties = set[str](), set[str]()
    for info in infos:
        absent.discard(info.id)
        platforms.add(info.platform.lower())
        difficulties.add(info.difficulty.lower())
        reason = filters.reason_against(info)
        if reason is None:
            position += 1
            if position < first or (last is not None and position > last):
                reason = "limit"
        if reason is None:
            taken.append(info)
        else:
            left_out[reason] += 1
    _check_names(filters.platforms, platforms, PLATFORMS, "--platforms")
    _check_names(filters.difficulties, difficulties, DIFFICULTIES, "--difficulties")
    if absent:
        raise InputError(f"there is no problem {min(absent)!r}", field="--sample-id")
    if not taken:
        why = ", ".join(f"{name} {count}" for name, count in left_out.most_common())
        raise InputError(f"no problem is left to evaluate ({why or 'the source has none'})")
    return Selection(tuple(taken), dict(left_out))


def _check_names(
    wanted: frozenset[str], there: set[str], usual: frozenset[str], option: str
) -> None:
    if unknown := sorted(wanted - there - usual):
        known = ", ".join(sorted(there - {""} or usual))
        raise InputError(f"{unknown[0]!r} is not one of {known}", field=option)


def filters(settings: Settings) -> Filters:
    """Parse a run's conditions. Raises InputError."""
    return Filters(
        platforms=names(settings.platforms),
        difficulties=names(settings.difficulties),
        first_date=day(settings.min_release_date, "--min-release-date")
        if settings.min_release_date
        else None,
        last_date=day(settings.max_release_date, "--max-release-date")
        if settings.max_release_date
        else None,
        ids=frozenset(settings.sample_id),
        positions=positions(settings.limit, "--limit") if settings.limit else (1, None),
    )


def names(text: str) -> frozenset[str]:
    """Parse `a,b`, in lower case."""
    return frozenset(part.strip().lower() for part in text.split(",") if part.strip())


def day(text: str, option: str) -> date:
    """Parse YYYY-MM-DD. Raises InputError."""
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"{text!r} is not a date such as 2024-08-01", field=option) from error


def positions(text: str, option: str) -> tuple[int, int | None]:
    """Parse `N`, the first N, or `A-B`, from A to B, both counted. Raises InputError."""
    found = _LIMIT.fullmatch(text.strip())
    if found is not None:
        first, last = (1, int(found[1])) if found[2] is None else (int(found[1]), int(found[2]))
        if 1 <= first <= last:
            return first, last
    raise InputError(f"{text!r} is neither a number such as 20 nor a range such as 11-20",
                     field=option)  # fmt: skip
