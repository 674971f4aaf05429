"""Share of verdicts that depend on the speed of the machine that made them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec


@dataclass(frozen=True, slots=True)
class SpeedShare:
    """Counts of judgements whose CPU limits were normalised; see judging/speed.py."""

    normalised: int
    decisive: int
    """Number of these whose verdict could differ without the factor."""
    least: float
    most: float
    """Largest number that limits were multiplied by; `least` is the smallest."""

    def __str__(self) -> str:
        return (
            f"CPU limits were multiplied by {self.least:g} to {self.most:g} for the speed of"
            f" machines: {self.decisive} of {self.normalised} verdicts"
            f" ({self.decisive / self.normalised:.1%}) may be others without"
        )


class _Machine(msgspec.Struct):
    factor: float | None = None
    decisive: bool = False


def speed_share(rows: Iterable[Mapping[str, Any]]) -> SpeedShare | None:
    """Count verdicts in result rows, as `read_results` gives them; None if none was normalised.

    Raises msgspec.ValidationError for a row whose `machine` has another form than proctor's.
    """
    machines = [msgspec.convert(row["machine"], _Machine) for row in rows if row.get("machine")]
    factors = [each.factor for each in machines if each.factor is not None]
    if not factors:
        return None
    decisive = sum(each.decisive for each in machines)
    return SpeedShare(len(factors), decisive, min(factors), max(factors))
