"""The program in a reply, by a named policy; which rule of it found the program is recorded.

    auto         the default: the block that a person would take; see below
    last-block   the last fenced block of the language; else the last that names no language; else
                 the whole reply, if that is a program
    first-block  the same, but the first
    upstream     lcb_runner's: the lines between the last two that hold a fence
    whole        the reply as it is

All but `upstream` and `whole` look at the answer only: thoughts are taken off first.

`auto` takes the only block there is (rule `block`). Of several it takes the last that defines what
is asked for, a function or class (`defines`), or where a program is asked for the last that reads
and writes (`reads`) or has a `main` (`main`); else the last that is Python and does something
(`parses`); else the last (`last-block`). Excerpts of an earlier block do not count, and blocks that
name the language go before those that name none. A program that only defines is joined with the
later block that calls what it defines (`joined`). Without a block it takes a program that stands
there bare (`whole`), in JSON (`json`), in tags (`tag`), as a diff (`diff`), amid prose (`part`); at
last what lcb_runner would take (`upstream`). The rule is empty where nothing was found.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from proctor.errors import InputError
from proctor.evals.unfenced import found_unfenced
from proctor.formats.replies import Block, between_last_fences, blocks, is_neutral, names_of
from proctor.formats.thoughts import answer
from proctor.languages.python_text import LONGEST, Outline, first_module, outline

DEFAULT = "auto"
_FENCES_TRIED = 8
_LOOKED_AT = 32
"""Blocks of each kind that are looked at, the last ones: a reply may have thousands."""
_MENDED = 4
"""Number of blocks for which other ends are tried: parsing one may take two seconds."""
_READS = re.compile(r"\binput\s*\(|\bstdin\b|\bopen\(0|\bfileinput\b|/dev/stdin")
_WRITES = re.compile(r"\bprint\s*\(|\bstdout\b|\bos\.write\b")
_MAIN = re.compile(r"\bmain\s*\(")
_DEFINES = (
    # A type or modifiers before the name and a body after it; or a word that defines.
    r"^[ \t]{{0,40}}(?!return\b|else\b|await\b|throw\b|new\b)"
    r"(?:[A-Za-z_@][\w:<>,\[\]&*.?]{{0,79}}+[ \t]{{1,9}}+){{1,8}}"
    r"[&*]{{0,3}}{name}[ \t]{{0,9}}+\([^;{{}}]{{0,1200}}+\{{"
    r"|\b(?:def|sub|function|fn|func|fun)[ \t]{{1,9}}{name}\b"
    r"|\b(?:const|let|var|class|struct)[ \t]{{1,9}}{name}\b"
    r"|^[ \t]{{0,40}}{name}[ \t]{{0,9}}(?:\([ \t]{{0,9}}\)|=[ \t]{{0,9}}(?:async|function|\())"
)
"""Pattern of what defines `name` in many languages. Possessive: a long text is read once."""
_PROSE = re.compile(r"[#>*_\- ]{0,6}[A-Z][\w'’*`]{0,40}(?: [\w'’(`*_,.:-]{1,60}){3}")
"""A line that begins like a sentence."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """Program that was taken from a reply."""

    code: str
    """Source text; empty if there is none."""
    rule: str = ""
    """Rule by which it was found; empty if nothing was."""


def extract(
    reply: str, policy: str = DEFAULT, language: str = "python", entry: str | None = None
) -> Extracted:
    """Take the program from a reply; `entry` is the function or class that is asked for.

    None as `entry` stands for a program that reads its input. Raises InputError for an unknown
    policy, and InfraFault.
    """
    rule = _RULES.get(policy)
    if rule is None:
        raise InputError(f"{policy!r} is not one of {', '.join(_RULES)}", field="extraction")
    return rule(reply, language, entry)


def policies() -> tuple[str, ...]:
    """Names of all policies."""
    return tuple(_RULES)


def _auto(reply: str, language: str, entry: str | None) -> Extracted:
    text = answer(reply)
    names = names_of(language)
    found = [each for each in blocks(text, names) if each.code.strip()]
    named = [each for each in found if each.label in names]
    plain = [each for each in found if each.label not in names and is_neutral(each.label)]
    other = [each for each in found if each.label not in names and not is_neutral(each.label)]
    chooser = _Python(text, entry) if "python" in names else _Other(entry)
    groups = [_last(group) for group in (named, plain) if group]
    if len(named) + len(plain) == 1:
        return Extracted(chooser.code(groups[0][0]), "block")
    if groups:
        return chooser.chosen(groups)
    return chooser.unfenced(text, _last(other) if other else [])


def _last(group: Sequence[Block]) -> Sequence[Block]:
    """Return the last blocks of a group within the limits of number and length, at least one."""
    size, number = 0, 0
    for each in reversed(group[-_LOOKED_AT:]):
        size += len(each.code)
        if number and size > LONGEST:
            break
        number += 1
    return group[-number:]


class _Chooser(ABC):
    """Chooses among blocks, by what their code does."""

    def __init__(self, entry: str | None) -> None:
        self._entry = entry

    def code(self, block: Block) -> str:
        """Return the program of a block."""
        return block.code

    def chosen(self, groups: Sequence[Sequence[Block]]) -> Extracted:
        """Choose from groups of blocks, the preferred group first; none of them is empty."""
        # The last block first, since `code` tries other ends for a few blocks only.
        codes = [[self.code(each) for each in reversed(group)] for group in groups]
        sources = [_without_excerpts(each[::-1]) for each in codes]
        for rule, fits in self.wanted():
            for group in sources:
                at = next((n for n in reversed(range(len(group))) if fits(group[n])), None)
                if at is not None:
                    return self.completed(Extracted(group[at], rule), group[at + 1 :])
        return Extracted(sources[0][-1], "last-block")

    def completed(self, chosen: Extracted, _later: Sequence[str]) -> Extracted:
        """Return the chosen program, joined with what it lacks from later blocks."""
        return chosen

    @abstractmethod
    def wanted(self) -> Sequence[tuple[str, Callable[[str], bool]]]:
        """Return rules by preference."""

    def unfenced(self, text: str, _other: Sequence[Block]) -> Extracted:
        """Look for a program where no block is of the language; a label may be wrong."""
        code = between_last_fences(text)
        return Extracted(code, "upstream") if code.strip() else Extracted("")


class _Other(_Chooser):
    """Chooser for languages of which only names are known."""

    def wanted(self) -> Sequence[tuple[str, Callable[[str], bool]]]:
        if self._entry is None:
            return [("main", lambda code: _MAIN.search(code) is not None)]
        defines = re.compile(_DEFINES.format(name=re.escape(self._entry)), re.MULTILINE)
        return [("defines", lambda code: defines.search(code) is not None)]

    def unfenced(self, text: str, other: Sequence[Block]) -> Extracted:
        if not other and "```" not in text and text.lstrip().startswith("#include"):
            return Extracted(text, "whole")
        return super().unfenced(text, other)


class _Python(_Chooser):
    """Chooser for Python, which is parsed."""

    def __init__(self, text: str, entry: str | None) -> None:
        super().__init__(entry)
        self._text = text
        self._outlines: dict[str, Outline | None] = {}
        self._mended = 0

    def code(self, block: Block) -> str:
        tried = _readings(self._text, block)
        self._mended += len(tried) > 1
        if len(tried) == 1 or self._mended > _MENDED:
            return block.code
        return tried[first_module(tried) or 0]

    def wanted(self) -> Sequence[tuple[str, Callable[[str], bool]]]:
        if self._entry is None:
            return [
                ("reads", lambda code: self._reads(code) and _WRITES.search(code) is not None),
                ("reads", self._reads),
                ("parses", self._acts),
            ]
        return [("defines", self._defines), ("last-block", self._may_complete),
                ("parses", self._acts)]  # fmt: skip

    def completed(self, chosen: Extracted, later: Sequence[str]) -> Extracted:
        found = self._outline(chosen.code)
        if self._entry is not None or found is None or found.runs:
            return chosen
        defined = {each.name for each in found.definitions}
        for each in later:
            other = self._outline(each)
            if other is not None and other.runs and defined & other.names:
                return Extracted(f"{chosen.code.rstrip()}\n\n{each}", "joined")
        return chosen

    def unfenced(self, text: str, other: Sequence[Block]) -> Extracted:
        others = [each.code for each in other]
        proven = self._reads if self._entry is None else self._defines
        code, rule = found_unfenced(text, others, self._acts, proven)
        if rule:
            return Extracted(code, rule)
        # A label may be wrong; but code in another language that happens to parse is not Python.
        mislabelled = [each for each in others if proven(each)]
        if mislabelled:
            return Extracted(mislabelled[-1], "parses")
        return Extracted("") if other else super().unfenced(text, other)

    def _outline(self, code: str) -> Outline | None:
        if code not in self._outlines:
            self._outlines[code] = outline(code)
        return self._outlines[code]

    def _acts(self, code: str) -> bool:
        found = self._outline(code)
        return found is not None and found.acts

    def _reads(self, code: str) -> bool:
        return _READS.search(code) is not None and self._outline(code) is not None

    def _defines(self, code: str) -> bool:
        found = self._outline(code)
        return found is not None and self._entry is not None and _has(found, self._entry)

    def _may_complete(self, code: str) -> bool:
        """Return True for the rest of a function that the prompt began, which is not a module."""
        return self._outline(code) is None and code[:1] in {" ", "\t"}


def _has(found: Outline, entry: str) -> bool:
    return any(
        entry == each.name or (each.is_class and entry in each.methods)
        for each in found.definitions
    )


def _without_excerpts(codes: list[str]) -> list[str]:
    """Leave out blocks that only repeat lines of an earlier one, to explain them."""
    kept: list[tuple[str, frozenset[str]]] = []
    for code in codes:
        lines = frozenset(line.strip() for line in code.splitlines() if line.strip())
        if not any(lines < earlier for _, earlier in kept):
            kept.append((code, lines))
    return [code for code, _ in kept]


def _readings(text: str, block: Block) -> list[str]:
    """Return the block's code, then alternatives in case that is not Python.

    A fence within one of its strings ends a block too early; a fence at the end of its last line
    goes unnoticed; prose may follow a block that was never closed.
    """
    code = block.code
    if len(code) > LONGEST:
        return [code]
    tried = [code, *_cut_at_fence(code), *_beyond_quoted_fence(text, block)]
    if not block.closed:
        tried += _cut_at_prose(code)
    return tried


def _cut_at_fence(code: str) -> list[str]:
    lines = code.splitlines(keepends=True)
    at = [number for number, line in enumerate(lines) if line.rstrip().endswith("```")]
    return [
        "".join(lines[:number]) + lines[number].rstrip().removesuffix("```") + "\n"
        for number in at[:_FENCES_TRIED]
    ]


def _beyond_quoted_fence(text: str, block: Block) -> list[str]:
    lead = block.lead
    lines = text[block.start : block.start + LONGEST + 1].splitlines(keepends=True)
    marks = [n for n, line in enumerate(lines) if line.strip()[:3] in {"```", "~~~"}]
    upto = ["".join(lines[:end]) for end in marks[:_FENCES_TRIED]]
    longer = (each for each in upto if block.end - block.start < len(each) <= LONGEST)
    return [each.replace("\r\n", "\n") for each in longer] if not lead.strip() else []


def _cut_at_prose(code: str) -> list[str]:
    lines = code.splitlines(keepends=True)
    gaps = [n for n, line in enumerate(lines[:-1]) if not line.strip()]
    return ["".join(lines[:gap]) for gap in gaps[-_FENCES_TRIED:] if _PROSE.match(lines[gap + 1])]


def _last_block(reply: str, language: str, _entry: str | None) -> Extracted:
    return _block(reply, language, -1)


def _first_block(reply: str, language: str, _entry: str | None) -> Extracted:
    return _block(reply, language, 0)


def _block(reply: str, language: str, which: int) -> Extracted:
    text = answer(reply)
    names = names_of(language)
    found = [each for each in blocks(text, names) if each.label in names or is_neutral(each.label)]
    candidates = [each for each in found if each.code.strip()]
    named = [each for each in candidates if each.label in names]
    if not (named or candidates):
        does = language == "python" and not found and (outline(text) or Outline()).acts
        return Extracted(text, "whole") if does else Extracted("")
    block = (named or candidates)[which]
    code = _Python(text, None).code(block) if language == "python" else block.code
    return Extracted(code, "last-block" if which else "first-block")


def _upstream(reply: str, _language: str, _entry: str | None) -> Extracted:
    code = between_last_fences(reply)
    return Extracted(code, "upstream" if code else "")


def _whole(reply: str, _language: str, _entry: str | None) -> Extracted:
    return Extracted(reply, "whole")


_RULES: Mapping[str, Callable[[str, str, str | None], Extracted]] = {
    DEFAULT: _auto,
    "last-block": _last_block,
    "first-block": _first_block,
    "upstream": _upstream,
    "whole": _whole,
}
