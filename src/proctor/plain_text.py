"""Untrusted text as it may be shown to people: none of its control characters takes effect.

Escape sequences move the cursor, set titles and fill clipboards; controls of writing direction make
text look different from what it is.
"""

import re

_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but for tab and newline, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # writing direction
    "\u2028\u2029\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"  # lines, notes, surrogates, tags
)


def plain(text: str) -> str:
    """Return text whose controls, but for tabs and ends of lines, are replacement characters."""
    return _OBEYED.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def plain_json(encoded: str) -> str:
    """Return JSON with its control characters escaped, so that its meaning stays the same."""
    return _OBEYED.sub(lambda found: _escaped(found[0]), encoded)


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
