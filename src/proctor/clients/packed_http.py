"""Requests of packed judgements to one server."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import quote

import msgspec

from proctor.bounded_http import WHOLE
from proctor.clients.http import HttpTransport, Repeatable, Unsent
from proctor.clients.remote_errors import broken, error_of
from proctor.errors import (
    InputError,
    NotFound,
    PlatformError,
    ProctorError,
    ReplyBroken,
    Unreachable,
)
from proctor.judgement import Judgement
from proctor.judging.packed import count_values, unpack
from proctor.limits import MIB
from proctor.program import Program
from proctor.service.http.native.packed_schema import (
    ANSWERS,
    PACKED,
    FrameReader,
    LanguageVersion,
    PackedAnswer,
    PackedRequest,
    ServerLoad,
    judgements_path,
    problem_path,
)
from proctor.version import __version__

_MOST_VALUES = 1 << 20
"""Values of one judgement at most."""
_TAKE_BACK_PATIENCE = 2.0
"""Seconds."""


class PackedHttp(HttpTransport):
    """A server that judges packed problems. Each request is one attempt."""

    def __init__(self, url: str, token: str | None, patience: float) -> None:
        """`patience`: seconds to wait for answers that need no work of the server."""
        super().__init__(url, token, attempts=1)
        self._patience = patience

    async def load(self) -> ServerLoad:
        """Return the server's identity and load.

        Raises PlatformError for a server of another version, and what `ask` raises.
        """
        try:
            async with asyncio.timeout(self._patience):
                found = await self._load()
        except TimeoutError as error:
            raise Unreachable(f"has not answered for {self._patience:g} s") from error
        except NotFound as error:
            raise await self._too_old() from error
        if found.version != __version__:
            raise _another(found.version)
        return found

    async def _load(self) -> ServerLoad:
        try:
            return await self._get("/v1/load", ServerLoad)
        except Unsent:
            raise
        except Unreachable:  # perhaps only an idle connection had been closed
            return await self._get("/v1/load", ServerLoad)

    async def _too_old(self) -> PlatformError | ReplyBroken:
        ready = await self._get("/readyz", dict[str, str])
        if version := ready.get("version"):
            return _another(version)
        return broken(self._url, ready)

    async def language(self, language: str) -> LanguageVersion:
        """Return the server's LanguageVersion of a language. Raises NoLanguage, InputError."""
        named = Program("", language).language  # checked, since it could lead to another path
        return await self._get(f"/v1/languages/{quote(named)}", LanguageVersion)

    async def put(self, digest: str, data: bytes) -> None:
        """Send a packed problem for the server to keep. Raises InputError, Busy."""
        await self.ask("PUT", problem_path(digest), dict[str, str], data)

    async def judge(
        self,
        requests: Sequence[PackedRequest],
        take: Callable[[list[PackedAnswer]], None],
    ) -> None:
        """Request judgements; `take` is called with answers as they come, [] for a sign of life.

        Raises Busy, InputError, ReplyBroken, Unreachable if the connection breaks.
        """
        body = msgspec.msgpack.encode(requests)

        async def attempt() -> None:
            headers = {"Content-Type": PACKED}
            async with self._streamed("/v1/judgements", body, headers) as answer:
                if answer.status_code != 200 or answer.headers.get("content-type") != ANSWERS:
                    if answer.status_code != 200:
                        await answer.aread()
                        self._decoded(answer, dict[str, str])
                    raise broken(self._url, answer.headers.get("content-type"))
                await self._take_frames(answer, take)

        try:
            await self._attempted(attempt, keyed=True)
        except Repeatable as failed:
            raise failed.error from failed.__cause__

    async def _take_frames(self, answer: Any, take: Callable[[list[PackedAnswer]], None]) -> None:
        """Take the answers in frames. Raises ReplyBroken, also for a frame that does not end."""
        frames, loop = FrameReader(), asyncio.get_running_loop()
        try:
            async with asyncio.timeout(None) as clock:
                async for part in answer.aiter_raw():
                    take(list(frames.answers(part)))
                    if not frames.begun:
                        clock.reschedule(None)
                    elif clock.when() is None:
                        clock.reschedule(loop.time() + WHOLE)
        except TimeoutError as error:
            raise broken(self._url, f"a frame that does not end within {WHOLE:g} s") from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise broken(self._url, error) from error

    async def take_back(self, beginning: str) -> None:
        """Cancel judgements whose keys have this beginning, if the server is reached at once."""
        with suppress(ProctorError, TimeoutError):
            async with asyncio.timeout(_TAKE_BACK_PATIENCE):
                await self.ask("DELETE", judgements_path(beginning), dict[str, int])


def outcome_of(answer: PackedAnswer) -> Judgement | ProctorError:
    """Return the judgement or the error that a server answers. Raises ReplyBroken for neither."""
    if answer.error is not None:
        return error_of(answer.error)
    try:
        if len(answer.judgement) > MIB:
            count_values(answer.judgement, _MOST_VALUES)
        return unpack(answer.judgement, Judgement)
    except InputError as error:
        raise ReplyBroken(str(error)) from error


def _another(version: str) -> PlatformError:
    return PlatformError(f"it has proctor {version}, and this is {__version__}: install the same")
