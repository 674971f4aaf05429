"""The charts of the report. Each takes figures and returns SVG; none calculates anything."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from markupsafe import Markup

from proctor.reports.figures import BINS, RunFigures
from proctor.reports.html import texts
from proctor.reports.html.svg import WIDTH, Svg
from proctor.reports.published import PublishedScore
from proctor.reports.uncertainty import Estimate
from proctor.verdict import Verdict

MOST_FITTING = 24
"""Months that a narrow screen can show at once; beyond that the chart is scrolled."""
_ROW = 52.0
_RIGHT = 16.0
_LEFT = 46.0


def series(i: int) -> str:
    """Return the CSS class of the colour of run number `i`."""
    return f"s{i % 6}"


def forest(runs: Sequence[RunFigures], published: Sequence[PublishedScore]) -> Markup:
    """Draw pass@1 of every run and mode with interval and fault bounds; published scores below."""
    rows = sum(len(each.headlines) for each in runs) + len(published)
    svg = Svg(rows * _ROW + 34, "pass@1 with 95 % intervals, one row for each run and rules")

    def x(share: float) -> float:
        return _RIGHT + share * (WIDTH - 2 * _RIGHT)

    for tenth in range(0, 11, 2):
        svg.line(x(tenth / 10), 8, x(tenth / 10), rows * _ROW + 8, "grid")
        svg.text(x(tenth / 10), rows * _ROW + 28, f"{10 * tenth}", "middle tick")
    y = _ROW - 8
    for i, each in enumerate(runs):
        for headline in each.headlines:
            svg.text(_RIGHT, y - 18, f"{_short(each.run.name)}, {headline.mode}", "label")
            lost = headline.bounds
            if lost and lost.high > lost.low:
                tip = f"between {texts.span(lost.low, lost.high)} whatever the lost samples were"
                svg.rect(x(lost.low), y - 11, x(lost.high) - x(lost.low), 22, "bounds", tip)
            if headline.estimate:
                _interval(svg, x, y, headline.estimate, series(i))
            y += _ROW
    for score in published:
        svg.text(_RIGHT, y - 18, f"{_short(score.name)}, published {score.date}", "label")
        if score.low is not None and score.high is not None:
            svg.line(x(score.low), y, x(score.high), y, "whisker published")
        tip = f"{score.name}: {texts.percent(score.pass_at_1)}, {score.source}"
        svg.diamond(x(score.pass_at_1), y, "published", tip)
        y += _ROW
    return svg.markup()


def curve(runs: Sequence[RunFigures]) -> Markup:
    """Draw pass@k against k, evenly spaced, with bands."""
    ks = sorted({k for each in runs for k in each.pass_at_k})
    top, bottom = 12.0, 230.0
    svg = Svg(bottom + 44, f"pass@k for k from {ks[0]} to {ks[-1]}")
    _rate_axis(svg, top, bottom)
    step = (WIDTH - _LEFT - 40) / max(1, len(ks) - 1)
    across = {k: _LEFT + 20 + i * step for i, k in enumerate(ks)}
    for k in ks:
        svg.text(across[k], bottom + 18, str(k), "middle tick")
    svg.text((_LEFT + WIDTH) / 2, bottom + 38, "k, samples drawn", "middle small")

    def y(share: float) -> float:
        return bottom - share * (bottom - top)

    for i, each in enumerate(runs):
        known = {k: e for k, e in each.pass_at_k.items() if e.low is not None}
        upper = [(across[k], y(e.high or 0.0)) for k, e in known.items()]
        lower = [(across[k], y(e.low or 0.0)) for k, e in known.items()]
        if len(known) > 1:
            svg.area(upper, lower, f"band {series(i)}")
        line = [(across[k], y(e.value)) for k, e in each.pass_at_k.items()]
        if len(line) > 1:
            svg.path(line, f"curve {series(i)}")
        for k, e in each.pass_at_k.items():
            tip = f"{each.run.name}, pass@{k}: {texts.said(e)}"
            svg.dot(across[k], y(e.value), f"dot {series(i)}", tip)
    return svg.markup()


def months(runs: Sequence[RunFigures]) -> Markup:
    """Draw pass@1 by month of release: hollow dots for few problems, lines at the cutoffs."""
    names = _calendar({month for each in runs for month in each.months})
    top, bottom = 26.0, 270.0
    svg = Svg(bottom + 62, f"pass@1 by release month, {names[0]} to {names[-1]}")
    _rate_axis(svg, top, bottom)
    band = (WIDTH - _LEFT - _RIGHT) / len(names)
    places = {name: at for at, name in enumerate(names)}
    skip = -(-len(names) // 11)
    for j, name in enumerate(names):
        x = _LEFT + (j + 0.5) * band
        if j % skip == 0:
            svg.text(x, bottom + 17, name[2:].replace("-", "/"), "middle tick")
            n = max(each.months[name].problems if name in each.months else 0 for each in runs)
            svg.text(x, bottom + 38, str(n), "middle small")
    svg.text(_LEFT - 8, bottom + 38, "n", "end small")
    for i, each in enumerate(runs):
        offset = (i - (len(runs) - 1) / 2) * min(9.0, band / (len(runs) + 1))
        for name, estimate in each.months.items():
            x = _LEFT + (places[name] + 0.5) * band + offset
            few = " few" if estimate.problems < texts.FEW else ""
            if estimate.low is not None and estimate.high is not None:
                low, high = (bottom - v * (bottom - top) for v in (estimate.low, estimate.high))
                svg.line(x, low, x, high, f"whisker {series(i)}{few}")
            tip = f"{each.run.name}, {name}: {texts.said(estimate)}"
            svg.dot(x, bottom - estimate.value * (bottom - top), f"dot {series(i)}{few}", tip)
        if each.cutoff is not None:
            _cutoff(svg, each, i, names, band, (top, bottom))
    return svg.markup()


def verdicts(each: RunFigures) -> Markup:
    """Draw the shares of the verdicts as one bar."""
    svg = Svg(46, f"Verdicts of {each.run.name}")
    total = sum(each.verdicts.values())
    x = 0.0
    for verdict, count in each.verdicts.items():
        width = count / total * WIDTH
        tip = f"{verdict}: {texts.number(count)} of {texts.number(total)}"
        svg.rect(x, 6, max(1.0, width - 1.5), 30, f"v {_verdict_class(verdict)}", tip)
        if width > 90:
            text = f"{verdict.replace('_', ' ')} {100 * count / total:.0f} %"
            svg.text(x + 8, 26, text if width > 140 or not verdict.is_fault else "fault", "on-bar")
        x += width
    return svg.markup()


def shares(each: RunFigures, i: int) -> Markup:
    """Draw a histogram of the CPU time of the slowest test as a share of the limit."""
    top, bottom = 22.0, 150.0
    svg = Svg(bottom + 42, f"CPU time of the slowest test of each sample, {each.run.name}")
    most = max(each.shares)
    band = (WIDTH - _LEFT - _RIGHT) / len(each.shares)
    for j, count in enumerate(each.shares):
        x = _LEFT + j * band
        height = count / most * (bottom - top)
        over = " over" if j == BINS else ""
        where = "above the limit" if over else f"{10 * j} to {10 * (j + 1)} % of the limit"
        svg.rect(x + 1, bottom - height, band - 2, height, f"bar {series(i)}{over}",
                 f"{where}: {texts.plural(count, 'sample')}")  # fmt: skip
        if count:
            svg.text(x + band / 2, bottom - height - 5, texts.number(count), "middle small")
        svg.text(x, bottom + 17, "limit" if over else f"{10 * j} %", "middle tick")
    svg.line(_LEFT, bottom, WIDTH - _RIGHT, bottom, "axis")
    svg.line(_LEFT + BINS * band, top - 8, _LEFT + BINS * band, bottom, "cutoff")
    svg.text((_LEFT + WIDTH) / 2, bottom + 36, "of the time limit", "middle small")
    return svg.markup()


def _cutoff(
    svg: Svg, each: RunFigures, i: int, names: list[str], band: float, ys: tuple[float, float]
) -> None:
    """Mark the run's cutoff between months, by its day within the month."""
    assert each.cutoff is not None
    month = each.cutoff.isoformat()[:7]
    if not names[0] <= month <= names[-1]:
        return
    before = names.index(month)
    x = _LEFT + (before + each.cutoff.day / 31) * band
    svg.line(x, ys[0] - 10, x, ys[1], f"cutoff {series(i)}")
    end = x > WIDTH - 150
    svg.text(
        x - 5 if end else x + 5,
        ys[0] - 12,
        f"cutoff {each.cutoff}",
        "end small" if end else "small",
    )


def _calendar(months: set[str]) -> list[str]:
    """Return all months from the first to the last, so that gaps are seen as gaps."""
    first, last = (12 * int(name[:4]) + int(name[5:]) - 1 for name in (min(months), max(months)))
    return [f"{i // 12:04}-{i % 12 + 1:02}" for i in range(first, last + 1)]


def _interval(
    svg: Svg, x: Callable[[float], float], y: float, estimate: Estimate, colour: str
) -> None:
    if estimate.low is not None and estimate.high is not None:
        svg.line(x(estimate.low), y, x(estimate.high), y, f"whisker {colour}")
        for end in (estimate.low, estimate.high):
            svg.line(x(end), y - 4, x(end), y + 4, f"whisker {colour}")
    svg.dot(x(estimate.value), y, f"dot {colour}", texts.said(estimate), 5.5)


def _rate_axis(svg: Svg, top: float, bottom: float) -> None:
    for fifth, _ in pairwise(range(7)):
        y = bottom - fifth / 5 * (bottom - top)
        svg.line(_LEFT, y, WIDTH - _RIGHT, y, "axis" if fifth == 0 else "grid")
        svg.text(_LEFT - 8, y + 4, f"{20 * fifth}", "end tick")


def _short(name: str) -> str:
    return name if len(name) <= 28 else name[:27] + "…"


def _verdict_class(verdict: Verdict) -> str:
    return f"v-{verdict.lower().replace('_', '-')}"
