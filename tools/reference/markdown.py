"""Tables and texts in Markdown."""

import re
from collections.abc import Iterable, Sequence

_CODE = re.compile(
    r"(?<![\w`/-])("
    r"'[^' ]*[^']*\{[^']*'"
    r"|pip install '[^']+'"
    r"|proctor (?:judge|run|serve|doctor|eval|ioi|solve|profiles|languages|daemon|resume|report"
    r"|image)(?: (?:ioi|score|build|--[a-z-]+|[A-Z]{2,}(?:\.\.\.)?))*"
    r"|--[a-z][a-z0-9-]*"
    r"|[A-Z]+(?:_[A-Z]+)+"
    r"|\{\w+\}"
    r")(?![\w`])"
)
"""Commands, options, variables and quoted values in a text, which is plain for terminals."""


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; bars in cells are escaped."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines
    ).replace("|  |", "| |")


def prose(text: str) -> str:
    """Return plain text as Markdown: options, variables and commands in it are code."""
    text = " ".join(text.split())
    text = re.sub(r"([*<>])", r"\\\1", text)
    return _CODE.sub(r"`\1`", text)


def code(text: str) -> str:
    """Return a text as code; nothing for none."""
    return f"`{text}`" if text else ""


def fenced(language: str, lines: Iterable[str]) -> str:
    """Return a block of code."""
    return "\n".join([f"```{language}", *lines, "```"])
