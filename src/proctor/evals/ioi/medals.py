"""Medal thresholds by year. Data, not ours: give them in a file.

TOML or JSON, a table per year with points for each medal::

    [2024]
    gold = 359.71
    silver = 236.19
    bronze = 123.62
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import InputError

Thresholds = Mapping[str, float]
"""Least points by medal."""


def load_thresholds(path: Path) -> dict[int, Thresholds]:
    """Read a file of thresholds. Raises InputError with file and field."""
    try:
        data = path.read_bytes()
        content: Any = (
            msgspec.json.decode(data) if path.suffix == ".json" else tomllib.loads(data.decode())
        )
        years = msgspec.convert(content, dict[str, dict[str, float]])
        return {int(year): dict(medals) for year, medals in years.items()}
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
    except ValueError as error:  # broken text, another shape, a year that is no number
        raise InputError(
            f"{error}; there must be a table per year with points by medal", file=str(path)
        ) from error


def medal(points: float, thresholds: Thresholds) -> str | None:
    """Return the medal with the highest threshold that the points reach."""
    reached = [name for name in thresholds if points >= thresholds[name]]
    return max(reached, key=thresholds.__getitem__, default=None)
