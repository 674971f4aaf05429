"""Figures as people read them."""

from proctor.reports.intervals import Estimate

FEW = 10
"""Problems below which a figure is shown in grey."""


def percent(share: float | None) -> str:
    """0.4371 -> 43.7 %; a dash for what is not there."""
    return "–" if share is None else f"{100 * share:.1f}\N{NO-BREAK SPACE}%"


def points(share: float | None) -> str:
    """A difference of shares, in percentage points with its sign."""
    return "–" if share is None else f"{100 * share:+.1f}".replace("-", "−")


def span(low: float | None, high: float | None) -> str:
    """An interval of shares."""
    if low is None or high is None:
        return "no interval"
    return f"{100 * low:.1f} to {100 * high:.1f}\N{NO-BREAK SPACE}%"


def said(estimate: Estimate) -> str:
    """Value, interval, problems and contests in one line."""
    return f"{percent(estimate.value)} ({span(estimate.low, estimate.high)}), {size(estimate)}"


def size(estimate: Estimate) -> str:
    """Problems and contests."""
    problems = plural(estimate.problems, "problem")
    if estimate.clusters == estimate.problems:
        return problems
    return f"{problems} in {plural(estimate.clusters, 'contest')}"


def n(estimate: Estimate) -> str:
    """The same where there is little room."""
    if estimate.clusters == estimate.problems:
        return f"n = {number(estimate.problems)}"
    return f"n = {number(estimate.problems)}, {plural(estimate.clusters, 'contest')}"


def plural(count: int, noun: str) -> str:
    """Count and noun."""
    return f"{number(count)} {noun}{'' if count == 1 else 's'}"


def number(value: float | None) -> str:
    """A count with thin spaces between thousands."""
    return "–" if value is None else f"{value:,.0f}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def dollars(value: float | None) -> str:
    """US dollars, with more digits where they are few."""
    if value is None:
        return "–"
    return f"${value:,.2f}" if value >= 1 else f"${value:.4f}"


def p_value(value: float | None) -> str:
    """A p-value, not more exact than anyone should read it."""
    if value is None:
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
