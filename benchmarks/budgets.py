"""Figures with the budget each has to keep. DESIGN, "Budgets"."""

from collections.abc import Callable
from dataclasses import dataclass


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


def per_second(value: float) -> str:
    return f"{value:,.0f}/s"


def milliseconds(value: float) -> str:
    return f"{value:.2f} ms"


def seconds(value: float) -> str:
    return f"{value:.2f} s"
