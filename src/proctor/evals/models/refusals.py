"""Refusals of servers as faults: which pass, and what of the words may be shown."""

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
_SHORTEST_SECRET = 6
_PASSING = frozenset({408, 409, 425, 429})
_BUSY = frozenset({429, 503, 529})
"""Statuses of a server that is too busy; 529 is Anthropic's for being overloaded."""


def refusal_of(error: "openai.APIStatusError") -> ModelRefused:
    """Return the fault of an error of the official client, with what the server says."""
    return refusal(
        error.status_code, words_of(error), error.response.headers.get("retry-after", "")
    )


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


def words_of(error: "openai.APIStatusError") -> str:
    """Return the server's message as one line of at most 300 characters."""
    return one_line(error.response.text if error.response.is_closed else str(error))


def one_line(text: str) -> str:
    """Return a text as one line of at most 300 characters."""
    return " ".join(text.split())[:_LONGEST_WORDS]


def secrets_of(values: Iterable[str]) -> list[str]:
    """Return the words of secrets, but for short ones, which could be anything.

    A header may be `Bearer` and a key, and a server may say the key alone.
    """
    return [each for each in " ".join(values).split() if len(each) >= _SHORTEST_SECRET]


@contextmanager
def masking(secrets: Iterable[str]) -> Iterator[None]:
    """Keep secrets out of faults: some servers say them back."""
    try:
        yield
    except ModelFault as fault:
        text = str(fault)
        for secret in secrets:
            text = text.replace(secret, "***")
        fault.args = (text,)
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
