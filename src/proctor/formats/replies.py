"""Programs in models' replies: fenced blocks as CommonMark has them, and lcb_runner's own rule."""

from collections.abc import Iterator

from markdown_it import MarkdownIt

from proctor.errors import InputError
from proctor.languages import registry

_DEPTH = 8
"""Blocks within blocks that are looked into."""


def extract_code(reply: str, language: str = "cpp") -> str | None:
    """Source text of the last block of the language; None if there is none.

    A block that is never closed ends with the reply. Blocks in lists, in quotes and in other
    blocks count too, and so does one that is opened before an earlier one of any kind is closed.
    Where no block names the language, the last one that names none is taken.
    """
    blocks = dict(code_blocks(reply, language))
    return blocks.get(True, blocks.get(False))


def code_blocks(reply: str, language: str) -> list[tuple[bool, str]]:
    """All blocks that may hold a program of the language: whether they name it, and the source.

    Blocks that name another language are left out.
    """
    names = _names(language)
    return [
        (_label(info) in names, code)
        for info, code in _blocks(reply, names, _DEPTH)
        if _label(info) in names or not info.strip()
    ]


def between_last_fences(reply: str) -> str:
    """lcb_runner's rule: the lines between the last two that hold ```; "" if there are no two.

    Source: extract_code of lcb_runner/utils/extraction_utils.py.
    """
    lines = reply.split("\n")
    fences = [number for number, line in enumerate(lines) if "```" in line]
    if len(fences) < 2:
        return ""
    opening, closing = fences[-2:]
    return "\n".join(lines[opening + 1 : closing])


def _names(language: str) -> frozenset[str]:
    """Names that models write behind a fence: those of all languages of the same family."""
    try:
        family = registry.get(language).family
    except InputError:
        return frozenset({_label(language)})
    kin = (each for each in registry.languages().values() if each.family == family)
    return frozenset(_label(name) for each in kin for name in each.names)


def _label(info: str) -> str:
    """First word behind a fence, without version: `c++` of `C++17 {.numberLines}`."""
    words = info.strip().lower().replace("{", " ").replace(".", " ").replace(",", " ").split()
    if not words:
        return ""
    word = words[0]
    for stem in ("c++", "cpp"):
        if word.startswith(stem) and word.removeprefix(stem).isalnum():
            return stem
    return word


def _blocks(text: str, names: frozenset[str], depth: int) -> Iterator[tuple[str, str]]:
    """Info and content of every fenced block, in order of their ends."""
    for token in _PARSER.parse(text):
        if token.type != "fence":
            continue
        inner = _reopened(token.content, names) if depth else None
        if inner is None:
            yield token.info, token.content
        else:
            before, rest = inner
            yield token.info, before
            yield from _blocks(rest, names, depth - 1)


def _reopened(content: str, names: frozenset[str]) -> tuple[str, str] | None:
    """A block's content before and from a line that opens one of the language.

    No program has such a line; but a model may quote Markdown, or forget to close a block.
    """
    lines = content.splitlines(keepends=True)
    for number, line in enumerate(lines):
        bare = line.strip()
        mark = bare[:1]
        if bare[:3] in {"```", "~~~"} and _label(bare.lstrip(mark)) in names:
            return "".join(lines[:number]), "".join(lines[number:])
    return None


def _parser() -> MarkdownIt:
    """Blocks only. A reply is no page: tags such as <think> do not hide what follows, and deep
    indentation makes no block of its own."""  # noqa: D205, D209
    return MarkdownIt("commonmark").disable(["html_block", "code", "inline"])


_PARSER = _parser()
