"""Scores that others published, supplied by the user, to be shown beside one's own.

A TOML file::

    [[score]]
    name = "Some model"
    pass_at_1 = 0.437
    source = "https://example.org/leaderboard"
    date = 2025-04-01
    problems = "2024-08 to 2025-02"
"""

import tomllib
from datetime import date
from pathlib import Path

import msgspec

from proctor.errors import InputError


class PublishedScore(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One published score and its source."""

    name: str
    pass_at_1: float
    """Share, 0 to 1."""
    source: str
    date: date
    problems: str = ""
    """The problems it is on, in words."""
    low: float | None = None
    """Lower end of its 95 % interval, as a share, if one was published; `high` is the upper end."""
    high: float | None = None

    def __post_init__(self) -> None:
        """Refuse percentages."""
        for value in (self.pass_at_1, self.low, self.high):
            if value is not None and not 0 <= value <= 1:
                raise ValueError(f"a share from 0 to 1 is wanted, not {value}")


class _File(msgspec.Struct, forbid_unknown_fields=True):
    score: tuple[PublishedScore, ...] = ()


def read_published(path: Path) -> tuple[PublishedScore, ...]:
    """Read published scores. Raises InputError with file and field for anything else."""
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), _File).score
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"no published scores: {error}", file=str(path)) from error
