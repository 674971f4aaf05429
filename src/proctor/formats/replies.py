"""Fenced blocks in models' replies, found as a person would find them, and lcb_runner's own rule.

CommonMark's rules lose programs: models put tags and tokens behind a closing fence, prose before an
opening one, odd spaces before both, forget to close a block, or open another within it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from proctor.errors import InputError
from proctor.languages import registry

_SPACE = " \t\r\f\v\n\ufeff\u00a0\u200b\u200c\u200d\u2060\u3000"
"""Characters around a fence that nobody sees."""
_LEAD = re.compile(rf"(?:[{_SPACE}]|>|[-*+](?=[ \t])|\d{{1,3}}[.)](?=[ \t]))*")
"""Indentation, and the marks of quotes and lists, before a fence."""
_LABEL = re.compile(r"[\s{.]*(?:language-|lang-)?([\w+#-]+)(?:\.([a-z]+)\b)?")
_NEUTRAL = frozenset({"", "code", "solution", "answer", "program", "tool_code", "final", "copy"})
"""Labels that say nothing of a language; Gemini's models call Python tool_code."""
_MARKDOWN = frozenset({"markdown", "md"})


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block."""

    label: str
    """First word behind the fence, in lower case, without marks or version; may be empty."""
    code: str
    """Content, without the indentation or the quote marks of its fence."""
    start: int
    """Offset in the reply of its first line of content."""
    end: int
    """Offset in the reply behind its last line of content."""
    lead: str = ""
    """Text before its opening fence on the line: indentation, marks of a quote or a list."""
    closed: bool = True
    """False if no fence closes it."""


def extract_code(reply: str, language: str = "cpp") -> str | None:
    """Return the source text of the last block of the language; None if there is none.

    A block that is never closed ends with the reply. Blocks in lists, in quotes and in other
    blocks count too, and so does one that is opened before an earlier one of any kind is closed.
    Where no block names the language, the last one that names none is taken.
    """
    found = dict(code_blocks(reply, language))
    return found.get(True, found.get(False))


def code_blocks(reply: str, language: str) -> list[tuple[bool, str]]:
    """Return, of each block that may be a program, whether it names the language, and the source.

    Blocks that name another language are left out.
    """
    names = names_of(language)
    return [
        (each.label in names, each.code)
        for each in blocks(reply, names)
        if each.label in names or is_neutral(each.label)
    ]


def between_last_fences(reply: str, mark: str = "```") -> str:
    """lcb_runner's rule: the lines between the last two that hold ```; "" if there are no two.

    Source: extract_code of lcb_runner/utils/extraction_utils.py, which is also
    the source of `asserted_line` and `stated_value`.
    """
    lines = reply.split("\n")
    fences = [number for number, line in enumerate(lines) if mark in line]
    if len(fences) < 2:
        return ""
    opening, closing = fences[-2:]
    return "\n".join(lines[opening + 1 : closing])


def asserted_line(reply: str, mark: str = "```") -> str:
    """lcb_runner's rule: the last line that begins with "assert", else what is between two fences.

    The fences are the first that says ```python and the next, else the first two; "" if there are
    no two.
    """
    lines = reply.split("\n")
    if stated := [line for line in lines if line.startswith("assert")]:
        return stated[-1]
    fences = [number for number, line in enumerate(lines) if mark in line]
    named = [number for number in fences if "```python" in lines[number].replace("P", "p")]
    if named:
        fences = [number for number in fences if number >= named[0]]
    return "\n".join(lines[fences[0] + 1 : fences[1]]) if len(fences) > 1 else ""


def stated_value(reply: str, *, thinking: bool) -> str:
    """lcb_runner's rule: what follows the first ==, up to [/ANSWER] or the end of the line.

    `thinking` looks only behind the first [ANSWER], if there is one.
    """
    text = reply
    if thinking and "[ANSWER]" in text:
        text = text.split("[ANSWER]")[1].strip()
    if "==" in text:
        text = text.split("==")[1].strip()
    end = "[/ANSWER]" if "[/ANSWER]" in text else "\n"
    return text.split(end)[0].strip()


def names_of(language: str) -> frozenset[str]:
    """Return the labels of a language: names of all languages of the same family."""
    try:
        return _labels(registry.family_names(language))
    except InputError:
        return frozenset({label_of(language)})


@cache
def _labels(names: frozenset[str]) -> frozenset[str]:
    return frozenset(map(label_of, names))


def is_neutral(label: str) -> bool:
    """Return True for a label that names no language."""
    return label in _NEUTRAL


def label_of(info: str) -> str:
    """Return the language in what follows a fence: `c++` of `C++17 {.numberLines}`."""
    found = _LABEL.match(info.strip(_SPACE).lower())
    if found is None:
        return ""
    word, ending = found[1], found[2]
    if ending in {"py", "cpp", "cc", "cxx", "java", "rs", "go", "js", "ts"}:
        return ending  # the label is the name of a file
    for stem in ("c++", "cpp"):
        if word.startswith(stem) and word.removeprefix(stem).isalnum():
            return stem
    unversioned = re.sub(r"-?\d{1,3}\Z", "", word)
    return unversioned if unversioned in {"python", "py"} else word


def blocks(reply: str, names: frozenset[str]) -> Iterator[Block]:
    """Find every fenced block, in order; `names` are labels of the language that is looked for."""
    return _Scanner(reply, names).blocks()


@dataclass(slots=True)
class _Open:
    """A block whose closing fence has not come yet."""

    label: str
    mark: str
    lead: str
    start: int


class _Scanner:
    def __init__(self, reply: str, names: frozenset[str]) -> None:
        self._reply = reply
        self._names = names
        self._open: _Open | None = None
        self._around = 0
        """Number of Markdown blocks around the open one; their closing fences open nothing."""

    def blocks(self) -> Iterator[Block]:
        at = 0
        for line in self._reply.splitlines(keepends=True):
            end = at + len(line)
            if "```" in line or "~~~" in line:
                yield from self._fence(line, at, end)
            at = end
        if self._open is not None:
            yield self._block(self._open, at, closed=False)

    def _fence(self, line: str, at: int, end: int) -> Iterator[Block]:
        bare = line.strip(_SPACE)
        behind = _LEAD.match(line)
        assert behind is not None
        rest = line[behind.end() :].rstrip(_SPACE)
        mark = rest[:1] * (len(rest) - len(rest.lstrip(rest[:1]))) if rest[:1] in "`~" else ""
        tail = rest[len(mark) :]
        if len(mark) < 3:
            if self._open is None:
                self._open_behind_text(bare, end)
            return
        if self._open is None:
            inline = self._inline(mark, tail, at + behind.end())
            if inline is not None:
                yield inline
            elif self._around and not tail:
                self._around -= 1
            elif "`" not in tail:
                self._open = _Open(label_of(tail), mark, behind[0], end)
            return
        opened = self._open
        if mark[0] != opened.mark[0]:
            return
        named = label_of(tail) in self._names
        if not named and _closes(tail) and len(mark) < len(opened.mark):
            return
        yield self._block(opened, at, closed=True)
        self._open = None
        if named or not _closes(tail):
            self._around += opened.label in _MARKDOWN
            self._open = _Open(label_of(tail), mark, behind[0], end)

    def _open_behind_text(self, bare: str, end: int) -> None:
        """Open a block whose fence follows text, as in `Here it is: ```python`."""
        before, fence, info = bare.rpartition("```")
        if not fence or "`" in before:
            return
        if label_of(info) in self._names or (not info and before.rstrip()[-1:] in {":", ">"}):
            self._open = _Open(label_of(info), "```", "", end)

    def _inline(self, mark: str, tail: str, at: int) -> Block | None:
        """Return the block of one line, as in ```python print(1)```."""
        if mark[0] != "`" or not tail.endswith(mark) or len(tail) == len(mark):
            return None
        content = tail.removesuffix(mark)
        word = content.split(maxsplit=1)[0] if content.strip() else ""
        label = label_of(word) if label_of(word) in self._names else ""
        code = content.strip().removeprefix(word).strip() if label else content.strip()
        return Block(label, code, at + len(mark), at + len(mark) + len(content))

    def _block(self, opened: _Open, end: int, *, closed: bool) -> Block:
        content = self._reply[opened.start : end]
        code = _without_lead(content, opened.lead)
        return Block(opened.label, code, opened.start, end, opened.lead, closed)


def _closes(tail: str) -> bool:
    """Return True if what follows a fence is not an info string: nothing, a tag, a full stop."""
    found = tail.strip(_SPACE)
    return not found or not (found[0].isalnum() or found[0] in "{._") or found == "."


def _without_lead(content: str, lead: str) -> str:
    """Take the fence's indentation off, and its quote marks if all lines have them."""
    content = content.replace("\r\n", "\n")
    if not lead.strip("\n"):
        return content
    lines = content.splitlines(keepends=True)
    depth = lead.count(">")
    quote = re.compile(rf"\s*(?:> ?){{{depth}}}")
    if depth and all(quote.match(line) for line in lines if line.strip()):
        return "".join(quote.sub("", line, count=1) for line in lines)
    width = len(lead)
    return "".join(line[min(width, len(line) - len(line.lstrip(" \t"))) :] for line in lines)
