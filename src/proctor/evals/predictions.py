"""Predicted values and calls in replies: how they are found."""

import re
from collections.abc import Iterator

from proctor.formats.replies import blocks, code_blocks
from proctor.formats.thoughts import answer

THINKING = "step-by-step"
"""Prompt that asks for thoughts before the prediction."""
LONGEST_SPLIT = 1 << 16
"""Longest answer that is split, in characters; longer ones are left as they are."""
_OPEN, _CLOSE = "[ANSWER]", "[/ANSWER]"
_TOKEN = re.compile(r"['\"()\[\]{}]|[=!<>]?==?")
_STRINGS = {quote: re.compile(rf"{quote}(?:\\.|[^{quote}\\\n])*+{quote}") for quote in "'\""}


def tagged(reply: str, policy: str, *, any_label: bool = False) -> str:
    """Return the text between [ANSWER] and [/ANSWER], the last one or the first, by policy.

    Where there are no such tags, the last fenced block, else the last line. Blocks that name
    another language than Python count with `any_label` only.
    """
    text = answer(reply)
    _, *parts = text.split(_OPEN)
    if not parts and _CLOSE in text:
        parts = [text]  # the prompt, or a server, already had the opening tag
    found = [part.split(_CLOSE)[0].strip() for part in parts]
    found = [part for part in found if part] or [text]
    said = found[0 if policy == "first-block" else -1]
    if any_label:
        held = [each.code for each in blocks(said, frozenset()) if each.code.strip()]
    else:
        held = [code for _, code in code_blocks(said, "python") if code.strip()]
    if held:
        said = held[-1]
    elif not parts:
        said = next((line for line in reversed(said.splitlines()) if line.strip()), "")
    said = said.strip()
    return said.strip("`").strip() if said.startswith("`") else said


def sides(text: str) -> tuple[str, str | None]:
    """Split at the first == that is in no bracket and no string, without `assert`."""
    depth = 0
    for token in _tokens(text) if len(text) <= LONGEST_SPLIT else ():
        if token[0] in {"(", "[", "{"}:
            depth += 1
        elif token[0] in {")", "]", "}"}:
            depth -= 1
        elif token[0] == "==" and depth == 0:
            return _stated(text[: token.start()]), text[token.end() :].strip()
    return _stated(text), None


def _tokens(text: str) -> Iterator[re.Match[str]]:
    """Yield brackets and signs of comparison outside of strings, and quotes that begin none.

    Where a quote begins no string, as in "don't", none of its kind up to the line's end does.
    """
    at, dead = 0, dict.fromkeys(_STRINGS, 0)
    while token := _TOKEN.search(text, at):
        at, quote = token.end(), token[0]
        if quote in _STRINGS and token.start() >= dead[quote]:
            if string := _STRINGS[quote].match(text, token.start()):
                at = string.end()
                continue
            dead[quote] = text.find("\n", at) % (len(text) + 1)  # -1 is the end
        yield token


def _stated(text: str) -> str:
    return re.sub(r"^\s*assert\b", "", text).strip()


def assertion(text: str, *, first: bool) -> str:
    """Return the last assertion in the last block that has one (or the first), else in any line."""
    held = [code for _, code in code_blocks(text, "python") if code.strip()]
    for block in held if first else reversed(held):
        lines = block.splitlines()
        at = [number for number, line in enumerate(lines) if line.lstrip().startswith("assert")]
        if at:
            # An assertion may go over several lines, so all that follow are taken.
            return "\n".join(lines[at[0 if first else -1] :]).strip()
    lines = [line.strip("` \t") for line in text.splitlines()]
    stated = [line for line in lines if line.startswith("assert")]
    if stated:
        return stated[0 if first else -1]
    return held[0 if first else -1].strip() if held else ""
