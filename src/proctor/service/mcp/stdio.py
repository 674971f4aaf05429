"""Lines of a client on stdin, looked at before the SDK sees them.

The SDK drops what it cannot read, or takes a request with an odd id for a notification: whoever
waits for the answer waits for ever. Here every request is answered, if only by an error.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import Any

import msgspec

from proctor.service.daemon.stdio import CutLine, LineWriter, lines
from proctor.service.request_ids import NULL, id_in, ids_in
from proctor.text import well_formed_json

_NOT_JSON, _NO_REQUEST = -32700, -32600
"""Codes of JSON-RPC."""
_INTEGERS = 1 << 63
_LONGEST_BEGINNING = 64 << 10
"""Bytes of the message that begins a session, which the SDK keeps for as long as that lasts."""


class _MessageHead(msgspec.Struct):
    """Parts of a message that say what it is."""

    id: Any = msgspec.UNSET
    method: Any = msgspec.UNSET
    params: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class RefusedLine(Exception):
    """A line that the SDK would not answer; it is answered by `answers`."""

    def __init__(self, code: int, why: str, ids: list[msgspec.Raw]) -> None:
        super().__init__(why)
        self.answers = [
            msgspec.json.encode({
                "jsonrpc": "2.0", "id": each, "error": {"code": code, "message": why},
            })
            for each in ids
        ]  # fmt: skip


def vetted(line: bytes, understood: Callable[[bytes], object]) -> str:
    """Return a line as text if the SDK answers it, or need not. Raises RefusedLine.

    `understood` raises ValueError for what the SDK does not understand.
    """
    if isinstance(line, CutLine):
        raise RefusedLine(_NO_REQUEST, "the line is too long", ids_in(line))
    try:
        head = msgspec.json.decode(line, type=_MessageHead)
        text = line.decode()
    except msgspec.ValidationError as error:
        raise RefusedLine(_NO_REQUEST, f"not a message: {error}", ids_in(line)) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        why = str(error) or "nested too deep"
        if well_formed_json(line) != line:
            why = "an escape of half a surrogate pair"
        raise RefusedLine(_NOT_JSON, f"not JSON: {why}", ids_in(line)) from error
    answered = head.result is not msgspec.UNSET or head.error is not msgspec.UNSET
    if head.method is msgspec.UNSET and answered:
        return text  # an answer, to which there is none
    if head.id is not msgspec.UNSET and not _is_id(head.id):
        why = "an id is a text or an integer"
        raise RefusedLine(_NO_REQUEST, why, [id_in(line) or NULL])
    if head.method == "initialize" and len(line) > _LONGEST_BEGINNING:
        why = f"initialize has more than {_LONGEST_BEGINNING} bytes"
        raise RefusedLine(_NO_REQUEST, why, ids_in(line))
    if answered and head.id is not msgspec.UNSET:
        raise RefusedLine(_NO_REQUEST, "a request and an answer in one", ids_in(line))
    try:
        understood(line)
    except (ValueError, RecursionError) as error:
        if head.id is msgspec.UNSET and isinstance(head.method, str):
            return text  # a notification that nobody understands
        why = "not a request of JSON-RPC 2.0, with method and params"
        raise RefusedLine(_NO_REQUEST, why, ids_in(line)) from error
    return text


def _is_id(value: Any) -> bool:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, str) or (whole and abs(value) < _INTEGERS)


class VettedInput:
    """The lines that the SDK may see, in place of its own stdin."""

    def __init__(
        self, source: int, most: int, writer: LineWriter, understood: Callable[[bytes], object]
    ) -> None:
        """Read lines of at most `most` bytes; answer those that are refused."""
        self._lines, self._writer, self._understood = lines(source, most), writer, understood

    async def __aiter__(self) -> AsyncIterator[str]:
        import anyio.to_thread

        following = partial(_next, self._lines, self._writer)
        # In a thread that nobody waits for at the end.
        while (
            line := await anyio.to_thread.run_sync(following, abandon_on_cancel=True)
        ) is not None:
            if not line.strip():
                continue
            try:
                yield vetted(line, self._understood) + "\n"
            except RefusedLine as refused:
                for answer in refused.answers:
                    self._writer.send(answer)


def _next(source: Iterator[bytes], writer: LineWriter) -> bytes | None:
    writer.wait_for_room()
    return next(source, None)


class LineOutput:
    """Takes the SDK's answers, in place of its own stdout."""

    def __init__(self, writer: LineWriter) -> None:
        self._writer = writer

    async def write(self, text: str) -> None:
        """Queue a line."""
        self._writer.send(text.removesuffix("\n").encode("utf-8", "backslashreplace"))

    async def flush(self) -> None:
        """Let others go on; the writer has a thread of its own."""
        await asyncio.sleep(0)
