"""The samples as data for the page's own script, in pieces, so that a large run fits in memory.

Data that a problem's samples share is stored once. Rows hold numbers of run and problem.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec
from markupsafe import Markup

from proctor.plain_text import plain
from proctor.reports.figures import RunFigures
from proctor.reports.records import SampleDetail, SampleRecord
from proctor.reports.uncertainty import mean_interval

MOST_MONTHS = 60
"""Most months for which there are release windows: their number grows with the square."""
MOST_DETAILED = 10_000
"""How many samples have their programs and tests in a page: a browser has to hold them."""
_PIECE = 500
"""How many rows are encoded at once."""
PROBLEM_COLUMNS = ("problem", "title", "platform", "difficulty", "released")
SAMPLE_COLUMNS = ("sample", "official", "standard", "limit", "tokens", "cost", "note")


def payload(runs: Sequence[RunFigures], *, rows: bool = True) -> Iterator[Markup]:
    """Yield samples, and pass rates of all release windows, as pieces of JSON inside a script.

    Without `rows` the samples are left out.
    """
    yield Markup('{"rows":[')
    problems: dict[tuple[Any, ...], int] = {}
    separator = ""
    made = _rows(runs if rows else (), problems)
    while batch := list(islice(made, _PIECE)):
        yield _inert(separator, batch)
        separator = ","
    rest = {
        "columns": ("run", *PROBLEM_COLUMNS, *SAMPLE_COLUMNS),
        "runs": [each.run.name for each in runs],
        "problems": list(problems),
        "windows": _windows(runs),
    }
    yield _inert("],", rest)
    yield Markup("}")


def details(runs: Sequence[RunFigures]) -> Iterator[Markup]:
    """Yield programs and messages by number of row; the page reads them when a row is opened."""
    yield Markup("{")
    most = detailed(runs)
    separator = ""
    number = 0
    for each in runs:
        has_any = bool(each.run.details)  # counting them takes a while
        for record in each.run.records:
            if has_any and (most is None or record.sample < most):
                key = (record.problem_id, record.sample)
                detail = each.run.details.get(key, SampleDetail())
                yield _inert(separator, {number: detail})
                separator = ","
            number += 1
    yield Markup("}")


def detailed(runs: Sequence[RunFigures]) -> int | None:
    """Return how many samples of each problem have their programs in the page; None for all."""
    if sum(len(each.run.records) for each in runs) <= MOST_DETAILED:
        return None
    return max(1, MOST_DETAILED // max(1, sum(len(each.tallies) for each in runs)))


def _rows(runs: Sequence[RunFigures], problems: dict[tuple[Any, ...], int]) -> Iterator[list[Any]]:
    for run, each in enumerate(runs):
        for record in each.run.records:
            title = "" if record.title == record.problem_id else record.title
            problem = (
                record.problem_id, title, record.platform, record.difficulty, record.published,
            )  # fmt: skip
            yield [run, problems.setdefault(problem, len(problems)), *_sample(record)]


def _sample(record: SampleRecord) -> tuple[Any, ...]:
    cut_short = "cut short" if record.finish_reason == "length" else ""
    turns = f"{record.turns} turns, {record.stop_reason}" if record.turns is not None else ""
    return (
        record.sample,
        record.official or "",
        record.standard or "",
        None if record.slowest_share is None else round(record.slowest_share, 3),
        record.completion_tokens,
        None if record.cost is None else round(record.cost, 6),
        "; ".join(filter(None, (record.fault, cut_short, turns.removesuffix(", ")))),
    )


def _inert(before: str, content: Any) -> Markup:
    """Return JSON without its brackets, safe inside a script: without `</script` and `<!--`."""
    text = plain(msgspec.json.encode(content).decode())
    return Markup(before + text[1:-1].replace("<", "\\u003c"))  # noqa: S704 - no `<` is left


def _windows(runs: Sequence[RunFigures]) -> dict[str, Any]:
    """Return pass@1 per run from each month to each later one; the page calculates nothing itself.

    `values[run][first][last - first]` is [value, low, high, problems, contests], or null.
    """
    months = sorted({month for each in runs for month in each.months})
    if len(months) > MOST_MONTHS:
        months = []
    values = []
    for each in runs:
        rows = []
        for i, first in enumerate(months):
            row = []
            for last in months[i:]:
                inside = [t for t in each.tallies if first <= t.month <= last]
                e = mean_interval(inside)
                row.append(e and [e.value, e.low, e.high, e.problems, e.clusters])
            rows.append(row)
        values.append(rows)
    return {"months": months, "values": values}
