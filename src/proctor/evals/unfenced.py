"""Programs in replies without a fenced block: bare, in JSON, in tags, as a diff, amid prose.

Each way looks at a bounded part of the reply, and takes only what parses as Python.
"""

import html
import re
from collections.abc import Callable, Iterator, Mapping

from proctor.errors import InputError
from proctor.formats.livecodebench import parse_json
from proctor.languages.python_text import LONGEST, first_module

Fits = Callable[[str], bool]
_TAGS = (
    "python", "code", "solution", "answer", "final_answer", "program", "final_code", "response",
)  # fmt: skip
_PAIRS = re.compile(
    r"<(?P<tag>" + "|".join(_TAGS) + r")\b[^<>\n]{0,100}>|\[(?P<square>PYTHON|CODE|ANSWER)\]"
    r"|\\begin\{(?P<latex>python|code|lstlisting|verbatim|minted)\}(?:\{python\})?",
    re.IGNORECASE,
)
_FIELDS = (
    "code", "solution", "program", "python", "python_code", "source_code", "final_code", "answer",
    "content", "source",
)  # fmt: skip
_BEGINS = re.compile(r"(?:import|from|def|class|async def)\s+\w|@\w|[A-Za-z_]\w*(?:, ?\w+)* ?= ?\S")
_SPAN = re.compile(r"`([^`\n]{3,2000})`")
_TRIED = 8
"""Beginnings and ends that are tried of each kind."""


def found_unfenced(text: str, others: list[str], acts: Fits, fits: Fits) -> tuple[str, str]:
    """Return a program and the rule by which it was found; two empty strings if there is none.

    `others` are the fenced blocks of other languages; `acts` tells if a text is Python that does
    something, `fits` if it is also of the wanted kind. Raises InfraFault.
    """
    for rule, way in _WAYS.items():
        tried = [each for each in way(text, others) if 0 < len(each) <= LONGEST and acts(each)]
        chosen = next(filter(fits, tried), None)
        # Not for parts: in prose, many of them happen to be Python.
        if chosen is None and tried and rule != "part":
            chosen = tried[0]
        if chosen is not None:
            return chosen, rule
    return "", ""


def _in_json(text: str, others: list[str]) -> Iterator[str]:
    """Strings in the fields of a JSON object that usually hold code, the last first."""
    start, end = text.find("{"), text.rfind("}")
    for each in (text, *others, text[start : end + 1] if 0 <= start < end else ""):
        if each.lstrip()[:1] != "{" or len(each) > 4 * LONGEST:
            continue
        try:
            value = parse_json(each)
        except InputError:
            continue
        for name in _FIELDS if isinstance(value, dict) else ():
            held = value.get(name)
            if isinstance(held, str) and held.strip():
                yield _bare_of_fences(held)


def _whole(text: str, _others: list[str]) -> Iterator[str]:
    yield text


def _bare_of_fences(text: str) -> str:
    lines = text.strip().split("\n")
    if lines[0].startswith("```"):
        lines = lines[1:]
    if lines and lines[-1].strip() == "```":
        lines = lines[:-1]
    return "\n".join(lines)


def _in_tags(text: str, _others: list[str]) -> Iterator[str]:
    """Contents of tags that models put code into, the last first, entities decoded if need be."""
    begun = [*_PAIRS.finditer(text)][-_TRIED:]
    for opening in reversed(begun):
        closing = (
            f"</{opening['tag']}>" if opening["tag"]
            else f"[/{opening['square']}]" if opening["square"]
            else f"\\end{{{opening['latex']}}}"
        )  # fmt: skip
        content, _, _ = text[opening.end() : opening.end() + LONGEST].partition(closing)
        content = content.strip("\r\n").removeprefix("<![CDATA[").removesuffix("]]>")
        yield content.strip("\r\n") + "\n"
        if "&" in content:
            yield html.unescape(content).strip("\r\n") + "\n"


def _in_diff(text: str, others: list[str]) -> Iterator[str]:
    """Lines that a unified diff adds and keeps."""
    for each in (*reversed(others), text):
        lines = each.splitlines()
        if not any(line.startswith("+") for line in lines):
            continue
        kept = [
            line[1:] for line in lines
            if line[:1] in {"+", " "} and not line.startswith(("+++ ", "+++\t"))
        ]  # fmt: skip
        yield "\n".join(kept) + "\n"


def _amid_prose(text: str, _others: list[str]) -> Iterator[str]:
    """The first lines that begin like a program, up to where prose goes on; else `code` spans."""
    lines = text[:LONGEST].splitlines(keepends=True)
    begins = [n for n, line in enumerate(lines) if _BEGINS.match(line)][:_TRIED]
    gaps = [n for n, line in enumerate(lines) if not line.strip() or line.startswith("```")]
    for begin in begins:
        ends = [len(lines), *reversed([gap for gap in gaps if gap > begin][-_TRIED:])]
        tried = ["".join(lines[begin:end]) for end in ends]
        whole = first_module(tried)
        if whole is not None:
            yield tried[whole]
            return
    yield from (span[1] + "\n" for span in reversed([*_SPAN.finditer(text)][-_TRIED:]))


_WAYS: Mapping[str, Callable[[str, list[str]], Iterator[str]]] = {
    "json": _in_json,  # JSON is Python, too
    "whole": _whole,
    "tag": _in_tags,
    "diff": _in_diff,
    "part": _amid_prose,
}
