"""Results as HTML for notebooks: one small table each, bounded, with every text escaped.

Colours are inherited or readable on light and dark alike, and nothing is loaded from anywhere.
"""

from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice

from proctor.text import well_formed

MOST_ROWS = 50
"""Rows of a table at most; the number of those left out is said below it."""
MOST_TEXT = 300
"""Characters of a cell at most."""
MOST_OUTPUT = 2000
"""Characters or bytes of an output at most."""
_BORDER = "border:1px solid rgba(128,128,128,.4)"
_TABLE = "border-collapse:collapse;color:inherit;font:inherit"
_CELL = f"{_BORDER};padding:.15em .6em;text-align:left;vertical-align:top"
_GOOD, _BAD, _FAULT = "#2e9e5b", "#d9534f", "#c98a1b"
_COLOURS = {"AC": _GOOD, "PA": _FAULT, "SK": "inherit", "TASK_FAULT": _FAULT, "INFRA_FAULT": _FAULT}


def safe(text: object) -> str:
    """Return HTML that shows any text literally; the end of a long text is cut."""
    whole = str(text)
    if len(whole) > MOST_TEXT:
        whole = f"{whole[:MOST_TEXT]}... ({len(whole):,} characters)"
    return escape(well_formed(whole))


def coloured(verdict: str) -> str:
    """Return a verdict or other ending in bold: a pass green, a fault amber, all else red."""
    colour = _COLOURS.get(verdict, _BAD)
    return f'<b style="color:{colour}">{safe(verdict)}</b>'


def unbroken(text: str) -> str:
    """Return a number with its unit, both on one line."""
    return safe(text).replace(" ", "&nbsp;")


def good_or_bad(word: str, *, good: bool) -> str:
    """Return a word in bold, green or red."""
    return f'<b style="color:{_GOOD if good else _BAD}">{safe(word)}</b>'


def paragraph(*pieces: str) -> str:
    """Return pieces of HTML in a line; empty ones are left out."""
    return f"<div>{' &middot; '.join(filter(None, pieces))}</div>"


def output(name: str, content: str | bytes) -> str:
    """Return the beginning of a text under its name; nothing for an empty one."""
    if not content:
        return ""
    unit = "characters" if isinstance(content, str) else "bytes"
    size = f" ({len(content):,} {unit})" if len(content) > MOST_OUTPUT else ""
    cut = content[:MOST_OUTPUT]
    text = escape(well_formed(cut if isinstance(cut, str) else cut.decode("utf-8", "replace")))
    return f'<div>{safe(name)}{size}</div><pre style="margin:.2em 0 .4em 1em">{text}</pre>'


def table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], total: int, of: str = "rows"
) -> str:
    """Return a table of cells that are HTML already; `total` says how many rows there are."""
    lines = [_row("th", map(safe, headings))]
    lines += [_row("td", cells) for cells in islice(rows, MOST_ROWS)]
    rest = total - MOST_ROWS
    more = f"<div>and {rest:,} more {safe(of)}</div>" if rest > 0 else ""
    return f'<table style="{_TABLE}">{"".join(lines)}</table>{more}'


def _row(tag: str, cells: Iterable[str]) -> str:
    return "<tr>" + "".join(f'<{tag} style="{_CELL}">{each}</{tag}>' for each in cells) + "</tr>"
