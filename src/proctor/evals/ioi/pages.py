"""A report of points as tables, and as a page of Markdown or HTML."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from proctor.errors import InputError
from proctor.evals.ioi.report import FULL, PointsReport
from proctor.plain_text import plain
from proctor.whole_file import whole_file

_TITLE = "Points"
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}"
    "table{border-collapse:collapse;margin:1rem 0}th,td{padding:.25rem .75rem;text-align:right;"
    "border-bottom:1px solid #8884}th:first-child,td:first-child{text-align:left}"
    ":root{color-scheme:light dark}"
)


@dataclass(frozen=True, slots=True)
class PointsTable:
    """Lines of texts under headings."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def points_table(summary: PointsReport) -> PointsTable:
    """Return the points of each model by task, and its totals by year."""
    rows = []
    for score in summary.tasks:
        name = score.id if score.counts else f"{score.id} (practice)"
        head = (score.model, str(score.year), name, str(score.submissions), f"{score.of:g}")
        rows.append((*head, *(f"{score.points[name]:g}" for name in summary.strategies)))
    for total in summary.years:
        points = []
        for name in summary.strategies:
            medal = total.medals.get(name)
            points.append(f"{total.points[name]:g}{f' {medal}' if medal else ''}")
        head = (total.model, str(total.year), "total", "", f"{total.of:g}/{FULL:g}")
        rows.append((*head, *points))
    headings = ("model", "year", "task", "given", "of", *summary.strategies)
    return PointsTable("By task", headings, tuple(rows))


def subtask_tables(summary: PointsReport) -> Iterator[PointsTable]:
    """Yield a table for each model and task: the best of its submissions by subtask."""
    for score in summary.tasks:
        title = " ".join((*([score.model] if score.model else []), str(score.year), score.id))
        rows = tuple(
            (each.name, f"{each.best:g}", f"{each.of:g}", f"{each.full} of {each.judged}")
            for each in score.subtasks
        )
        yield PointsTable(title, ("subtask", "best", "of", "in full"), rows)


def check(path: Path) -> None:
    """Raise InputError for a name that ends in neither .md nor .html."""
    if path.suffix.lower() not in _WRITERS:
        raise InputError(
            f"ends in neither {' nor '.join(_WRITERS)}", file=str(path), field="--report"
        )


def write(summary: PointsReport, path: Path) -> None:
    """Write the page, Markdown or HTML by the end of its name. Raises InputError."""
    check(path)
    tables = [points_table(summary), *subtask_tables(summary)]
    verdicts = ", ".join(f"{name} {count}" for name, count in summary.verdicts.items())
    lead = f"{summary.submissions} submissions: {verdicts or 'none'}."
    with whole_file(path) as file:
        file.write("".join(_WRITERS[path.suffix.lower()](lead, tables)).encode())


def _markdown(lead: str, tables: Sequence[PointsTable]) -> Iterator[str]:
    yield f"# {_TITLE}\n\n{lead}\n"
    for table in tables:
        rows = [table.headings, ("---",) * len(table.headings), *table.rows]
        lines = ["| " + " | ".join(map(_cell, row)) + " |\n" for row in rows]
        yield f"\n## {_cell(table.title)}\n\n{''.join(lines)}"


def _cell(text: str) -> str:
    one_line = " ".join(plain(text).split())
    return escape(one_line, quote=False).replace("|", "\\|")


def _html(lead: str, tables: Sequence[PointsTable]) -> Iterator[str]:
    yield (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{_TITLE}</title>\n'
        f"<style>{_STYLE}</style>\n<h1>{_TITLE}</h1>\n<p>{escape(lead)}</p>\n"
    )
    for table in tables:
        yield f"<h2>{escape(plain(table.title))}</h2>\n<table>\n{_row('th', table.headings)}"
        yield from (_row("td", row) for row in table.rows)
        yield "</table>\n"


def _row(kind: str, texts: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{kind}>{escape(plain(text))}" for text in texts) + "\n"


_WRITERS = {".md": _markdown, ".html": _html}
