"""Refusals of servers as faults: which pass, and what of the words may be shown."""

import json
import math
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from proctor.errors import ModelFault, ModelRefused

if TYPE_CHECKING:
    import openai

_LONGEST_WORDS = 300
"""Characters of a server's words that are shown, at most."""
_LOOKED_THROUGH = 1 << 16
"""Characters of which a line is made: each word of a text is an object."""
_SHORTEST_SECRET = 6
_PASSING = frozenset({408, 409, 425, 429})
_BUSY = frozenset({429, 503, 529})
"""Statuses of a server that is too busy; 529 is Anthropic's for being overloaded."""


def refusal_of(error: "openai.APIStatusError", secrets: Iterable[str]) -> ModelRefused:
    """Return the fault of an error of the official client, with what the server says."""
    words = one_line(refusal_text(error), secrets)
    return refusal(error.status_code, words, error.response.headers.get("retry-after", ""))


def refusal(status: int, words: str, retry_after: str) -> ModelRefused:
    """Return the fault of an answer with an error's status.

    `words` are what the server said; `retry_after` is that header, or empty.
    """
    return ModelRefused(
        f"the server answers {status}: {words or 'nothing more'}",
        passing=status in _PASSING or status >= 500,
        retry_after=_seconds(retry_after),
        busy=status in _BUSY,
    )


def refusal_text(error: "openai.APIStatusError") -> str:
    """Return the whole of a server's message, which may say secrets back."""
    return error.response.text if error.response.is_closed else str(error)


def one_line(text: str, secrets: Iterable[str], most: int = _LONGEST_WORDS) -> str:
    """Return the start of a text as one line of so many characters, with secrets masked.

    They are masked first: of one that is cut, the rest would not be known any more.
    """
    line = " ".join(masked(text, secrets)[:_LOOKED_THROUGH].split())[:most]
    return line.encode("utf-8", "replace").decode()  # a server may send half a surrogate pair


def masked(text: str, secrets: Iterable[str]) -> str:
    """Return a text with `***` in place of secrets."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return text


def secrets_of(values: Iterable[str]) -> list[str]:
    """Return the words of secrets, but for short ones, which could be anything; the longest first.

    A header may be `Bearer` and a key, and a server may say the key alone, or escaped in JSON.
    """
    words = {each for each in " ".join(values).split() if len(each) >= _SHORTEST_SECRET}
    words |= {json.dumps(each)[1:-1] for each in words}
    return sorted(words, key=lambda word: (-len(word), word))


@contextmanager
def masking(secrets: Iterable[str]) -> Iterator[None]:
    """Keep secrets out of faults: some servers say them back."""
    try:
        yield
    except ModelFault as fault:
        fault.args = (masked(str(fault), secrets),)
        raise


def _seconds(asked: str) -> float | None:
    """Return the seconds of a Retry-After: a number or a date (RFC 9110, 10.2.3); else None."""
    try:
        seconds = float(asked)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(asked).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
