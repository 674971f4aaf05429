"""Figures as text for readers."""

from proctor.reports.uncertainty import Estimate

FEW = 10
"""Number of problems below which a figure is shown in grey."""


def percent(share: float | None) -> str:
    """Return a share as percentage, 0.4371 as 43.7 %; None as a dash."""
    return "–" if share is None else f"{100 * share:.1f}\N{NO-BREAK SPACE}%"


def points(share: float | None) -> str:
    """Return a difference of shares in percentage points with its sign."""
    return "–" if share is None else f"{100 * share:+.1f}".replace("-", "−")


def span(low: float | None, high: float | None) -> str:
    """Return an interval of shares as percentages."""
    if low is None or high is None:
        return "no interval"
    return f"{100 * low:.1f} to {100 * high:.1f}\N{NO-BREAK SPACE}%"


def said(estimate: Estimate) -> str:
    """Return value, interval, problems and contests in one line."""
    return f"{percent(estimate.value)} ({span(estimate.low, estimate.high)}), {size(estimate)}"


def size(estimate: Estimate) -> str:
    """Return the number of problems and contests."""
    problems = plural(estimate.problems, "problem")
    if estimate.clusters == estimate.problems:
        return problems
    return f"{problems} in {plural(estimate.clusters, 'contest')}"


def n(estimate: Estimate) -> str:
    """Return the number of problems and contests in short."""
    if estimate.clusters == estimate.problems:
        return f"n = {number(estimate.problems)}"
    return f"n = {number(estimate.problems)}, {plural(estimate.clusters, 'contest')}"


def plural(count: int, noun: str) -> str:
    """Return a count and its noun, in the plural unless it is one."""
    return f"{number(count)} {noun}{'' if count == 1 else 's'}"


def number(value: float | None) -> str:
    """Return a count with thin spaces between thousands."""
    return "–" if value is None else f"{value:,.0f}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def dollars(value: float | None) -> str:
    """Return US dollars, with more digits for small amounts."""
    if value is None:
        return "–"
    return f"${value:,.2f}" if value >= 1 else f"${value:.4f}"


def p_value(value: float | None) -> str:
    """Return a p-value with as many digits as mean something."""
    if value is None:
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
