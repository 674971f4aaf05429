"""Answers of HTTP servers that are trusted by half, bounded in size and time as they are read.

HTTP libraries read whatever comes: they unpack a thousand times as much as was sent, in one step
and in any encoding that is named, decode text by any codec of Python's (some of which unpack, too),
and begin their clock anew with each byte. Here a server is asked for plain bytes, an answer in any
other encoding is refused, text is UTF-8, and bytes are counted before they are kept.
"""

import asyncio
import importlib
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, TypeVar

import msgspec

from proctor.errors import ReplyBroken
from proctor.json_values import has_more_values
from proctor.limits import MIB

LONGEST_ANSWER = 256 * MIB
"""Bytes of an answer at most, unless its reader says otherwise."""
LONGEST_ERROR = MIB
"""Bytes of an answer at most whose status promises no content."""
_WITH_CONTENT = (200, 206)
WHOLE = 600.0
"""Seconds for an answer from its first byte on; blanks before it, which say that the server lives,
do not count."""
MOST_VALUES = 1 << 22
"""JSON values of an answer at most: a decoder makes an object of each."""
BOUNDS = "proctor.bounds"
"""Extension of a request with an AnswerBounds of its own."""
MOST_WAIT = 1e6
"""Seconds; a longer wait that a server asks for is none that anybody would wait for."""
T = TypeVar("T")


class AnswerBounds(msgspec.Struct, frozen=True):
    """Bounds on one answer."""

    most: int | None = LONGEST_ANSWER
    """Bytes; None where whoever reads counts them."""
    seconds: float | None = WHOLE
    """Seconds from the first byte on; None where whoever reads has a clock."""


UNBOUNDED = AnswerBounds(None, None)


def bounded(bounds: AnswerBounds | None = None) -> dict[str, Any]:
    """Return arguments for an AsyncClient of httpx, or httpx2, whose answers are then bounded.

    Requests with the extension BOUNDS have bounds of their own. What is refused raises ReplyBroken.
    No cookies are kept.
    """
    usual = bounds or AnswerBounds()

    async def bound(response: Any) -> None:
        _bound(response, response.request.extensions.get(BOUNDS, usual))

    return {
        "event_hooks": {"request": [_ask_for_plain_bytes], "response": [bound]},
        "cookies": CookieJar(DefaultCookiePolicy(allowed_domains=())),
    }


async def within(seconds: float, work: Awaitable[T], where: str) -> T:
    """Await an answer for so many seconds. Raises ReplyBroken if it has not come whole by then."""
    try:
        async with asyncio.timeout(seconds):
            return await work
    except TimeoutError as error:
        raise ReplyBroken(f"{where} has not answered within {seconds:g} s") from error


def decoded(data: bytes, kind: type[T]) -> T:
    """Decode a JSON answer. Raises ValueError if it is not one, or has too many values."""
    if has_more_values(data, MOST_VALUES):
        raise ValueError(f"more than {MOST_VALUES} JSON values")
    try:
        return msgspec.json.decode(data, type=kind)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def innermost(error: BaseException) -> BaseException:
    """Return the reason of an error: clients themselves say no more than that they failed."""
    while not isinstance(error, ReplyBroken):
        context = error.__context__  # httpcore does not name the cause
        reason = error.__cause__ or (context if isinstance(context, OSError) else None)
        if reason is None:
            break
        error = reason
    return error


def beginning(data: bytes, most: int = 200) -> str:
    """Return the beginning of an answer as text, for a message."""
    return data[:most].decode("utf-8", "replace")


def wait_of(retry_after: str) -> float | None:
    """Return the seconds of a header Retry-After; None if it is not a plain number of them."""
    plain = retry_after.isascii() and retry_after.isdigit() and len(retry_after) < 10
    return min(float(retry_after), MOST_WAIT) if plain else None


async def _ask_for_plain_bytes(request: Any) -> None:
    request.headers["accept-encoding"] = "identity"


def _bound(response: Any, bounds: AnswerBounds) -> None:
    """Bound what is read of an answer whose head has come. Raises ReplyBroken."""
    host = response.request.url.host
    for each in response.headers.get_list("content-encoding", split_commas=True):
        if each.strip().lower() not in ("", "identity"):
            raise ReplyBroken(f"{host} answers in the encoding {each[:20]!r}, unasked")
    most, seconds = bounds.most, bounds.seconds
    if response.status_code not in _WITH_CONTENT:
        most, seconds = LONGEST_ERROR, WHOLE
    declared = response.headers.get("content-length", "")
    says = int(declared[:19]) if declared.isascii() and declared[:19].isdigit() else 0
    if most is not None and says > most:
        raise _too_long(host, most)
    response.encoding = "utf-8"
    library = type(response).__module__.partition(".")[0]
    response.stream = _stream_class(library)(response.stream, host, most, seconds)


def _too_long(host: str, most: int) -> ReplyBroken:
    return ReplyBroken(f"{host} answers with more than {most} bytes")


@cache
def _stream_class(library: str) -> Callable[..., Any]:
    """Return a class of streams for a library, which takes those of its own base only."""
    base: Any = importlib.import_module(library).AsyncByteStream

    class BoundedStream(base):  # type: ignore[misc]
        """The bytes of an answer, counted as they come."""

        def __init__(self, stream: Any, host: str, most: int | None, seconds: float | None) -> None:
            self._stream, self._host, self._most, self._seconds = stream, host, most, seconds

        async def __aiter__(self) -> AsyncIterator[bytes]:
            come, until = 0, None
            parts = aiter(self._stream)
            while True:
                try:
                    async with asyncio.timeout_at(until):
                        part = await anext(parts, None)
                except TimeoutError as error:
                    raise ReplyBroken(
                        f"{self._host} has not ended its answer within {self._seconds:g} s"
                    ) from error
                if part is None:
                    return
                come += len(part)
                if self._most is not None and come > self._most:
                    raise _too_long(self._host, self._most)
                if until is None and self._seconds is not None and not part.isspace():
                    until = asyncio.get_running_loop().time() + self._seconds
                yield part

        async def aclose(self) -> None:
            await self._stream.aclose()

    return BoundedStream
