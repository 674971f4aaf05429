"""Numbers of submissions, as Judge0's /statistics reports them."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

from proctor.service.http.judge0.languages import Judge0Language
from proctor.service.http.judge0.schema import DESCRIPTIONS, Judge0Status

_DAYS = 30


@dataclass(slots=True)
class _OfOwner:
    by_language: Counter[int] = field(default_factory=Counter)
    by_status: Counter[Judge0Status] = field(default_factory=Counter)
    by_day: Counter[date] = field(default_factory=Counter)


class SubmissionCounts:
    """Counts of one server's submissions; each owner sees only its own."""

    def __init__(self) -> None:
        self._owners: defaultdict[str, _OfOwner] = defaultdict(_OfOwner)

    def taken(self, owner: str, language: int) -> None:
        """Count a submission that has been taken."""
        mine, today = self._owners[owner], _now().date()
        mine.by_language[language] += 1
        mine.by_day[today] += 1
        for day in [each for each in mine.by_day if each < today - timedelta(_DAYS)]:
            del mine.by_day[day]

    def ended(self, owner: str, status: Judge0Status) -> None:
        """Count a submission that has ended."""
        self._owners[owner].by_status[status] += 1

    def told(self, owner: str, languages: Mapping[int, Judge0Language]) -> dict[str, Any]:
        """Return the answer of /statistics. There is no database, so its size is 0 bytes."""
        mine, now = self._owners.get(owner) or _OfOwner(), _now()
        today = now.date()
        days = [today - timedelta(days) for days in range(1, _DAYS + 1)]
        return {
            "created_at": now.isoformat(),
            "cached_until": now.isoformat(),
            "submissions": {
                "total": mine.by_language.total(),
                "today": mine.by_day[today],
                "last_30_days": {day.isoformat(): mine.by_day[day] for day in days},
            },
            "languages": [
                {"language": {"id": number, "name": languages[number].name}, "count": count}
                for number, count in mine.by_language.most_common()
                if number in languages
            ],
            "statuses": [
                {"status": {"id": int(status), "name": DESCRIPTIONS[status]}, "count": count}
                for status, count in mine.by_status.most_common()
            ],
            "database": {"size_pretty": "0 bytes", "size_in_bytes": 0},
        }


def _now() -> datetime:
    return datetime.now(UTC)
