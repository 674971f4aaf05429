"""Figures with the budget each has to keep. DESIGN, "Budgets"."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

COUNTS = {
    "isolated run": (114.0, 101.1, 6.0),
    "forked test": (170.2, 50.2, 3.6),
    "official test": (3.3, 25.2, 1.1),
    "fast test": (2.3, 45.1, 1.1),
    "/run_code request": (90.1, 124.5, 11.7),
}
"""Page faults, system calls and context switches of each kind of job, as they are now.

`make counts` prints what they have become: put lower figures here.
"""
MARGINS = (1.1, 1.08, 1.35)
"""Factors above COUNTS from which a budget is not kept.

Processes differ a little in where things lie, and who has to wait for whom is partly luck.
"""
CELL_MB = 12.5
"""Private memory of an idle cell: a quarter more than the 10.0 of November 2026."""


class MissingError(Exception):
    """A part that cannot be measured here, and why."""


@dataclass(frozen=True)
class Line:
    """One line of the report."""

    what: str
    measured: str
    budget: str = ""
    kept: bool | None = None
    """None where there is no budget, or no way to tell."""


def at_most(what: str, value: float, budget: float, form: Callable[[float], str]) -> Line:
    return Line(what, form(value), f"≤ {form(budget)}", value <= budget)


def at_least(what: str, value: float, budget: float, form: Callable[[float], str]) -> Line:
    return Line(what, form(value), f"≥ {form(budget)}", value >= budget)


def times(value: float) -> str:
    return f"{value:.2f} ×"


def spread_times(spread: Sequence[float]) -> str:
    """Form a ratio with its tenth and ninetieth percentile."""
    low, middle, high = spread
    return f"{middle:.2f} × ({low:.2f}–{high:.2f})"


def per_second(value: float) -> str:
    return f"{value:,.0f}/s"


def milliseconds(value: float) -> str:
    return f"{value:.2f} ms"


def seconds(value: float) -> str:
    return f"{value:.2f} s"
