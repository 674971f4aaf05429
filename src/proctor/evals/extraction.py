"""The program in a reply, by a named policy that goes into the record.

    last-block   the default: the last fenced block of the language; else the last that names no
                 language; else the whole reply, if that is a program
    first-block  the same, but the first
    upstream     lcb_runner's: the lines between the last two that hold a fence
    whole        the reply as it is

All but `upstream` and `whole` look at the answer only: thoughts in tags are taken off first.
"""

import re
from collections.abc import Callable, Mapping

from proctor.errors import InputError
from proctor.formats.replies import between_last_fences, code_blocks
from proctor.languages.python_text import LONGEST, first_module, outline

DEFAULT = "last-block"
_TAG = re.compile(r"<(/?)(?:think|thinking|thought|reasoning|reflection)>", re.IGNORECASE)
_FENCES_TRIED = 8


def extract(reply: str, policy: str = DEFAULT, language: str = "python") -> str:
    """Source text, "" if there is none. Raises InputError for an unknown policy."""
    rule = _RULES.get(policy)
    if rule is None:
        raise InputError(f"{policy!r} is none of {', '.join(_RULES)}", field="extraction")
    return rule(reply, language)


def policies() -> tuple[str, ...]:
    """Names of all policies."""
    return tuple(_RULES)


def answer(reply: str) -> str:
    """The reply without thoughts in tags; "" if it ends while still thinking.

    Some servers cut the opening tag off, so what is before a closing one is thought, too.
    """
    kept: list[str] = []
    at, thinking = 0, False
    for tag in _TAG.finditer(reply):
        if tag[1]:
            if not thinking:
                kept.clear()
            at, thinking = tag.end(), False
        elif not thinking:
            kept.append(reply[at : tag.start()])
            at, thinking = tag.start(), True
    if thinking and not "".join(kept).strip():
        return ""
    return "".join(kept) + reply[at:]


def _last_block(reply: str, language: str) -> str:
    return _block(reply, language, -1)


def _first_block(reply: str, language: str) -> str:
    return _block(reply, language, 0)


def _block(reply: str, language: str, which: int) -> str:
    text = answer(reply)
    blocks = code_blocks(text, language)
    named = [code for is_named, code in blocks if is_named and code.strip()]
    found = named or [code for _, code in blocks if code.strip()]
    if not found:
        return text if language == "python" and not blocks and _is_program(text) else ""
    code = found[which]
    return _beyond_quoted_fence(text, code) if language == "python" else code


def _beyond_quoted_fence(text: str, code: str) -> str:
    """The whole program where a fence within one of its strings seemed to end it."""
    # Backwards, since rfind takes quadratic time where find does not.
    behind = text[::-1].find(code[::-1])
    if behind < 0 or len(code) > LONGEST:
        return code
    start = len(text) - behind - len(code)
    lines = text[start : start + LONGEST + 1].splitlines(keepends=True)
    marks = [n for n, line in enumerate(lines) if line.strip()[:3] in {"```", "~~~"}]
    upto = ["".join(lines[:end]) for end in marks[:_FENCES_TRIED]]
    tried = [code, *(each for each in upto if len(code) < len(each) <= LONGEST)]
    return tried[first_module(tried) or 0] if len(tried) > 1 else code


def _is_program(text: str) -> bool:
    """True if text without a fence is Python that does something; one word is Python, too."""
    found = outline(text)
    return found is not None and found.acts


def _upstream(reply: str, _language: str) -> str:
    return between_last_fences(reply)


def _whole(reply: str, _language: str) -> str:
    return reply


_RULES: Mapping[str, Callable[[str, str], str]] = {
    DEFAULT: _last_block,
    "first-block": _first_block,
    "upstream": _upstream,
    "whole": _whole,
}
