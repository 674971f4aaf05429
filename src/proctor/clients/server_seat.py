"""One server's seat in a fleet: it is looked for, judges while it answers, rests if it fails."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress

from proctor.clients.packed_http import PackedHttp
from proctor.clients.server_line import BREAKS, FleetParts, ServerLine
from proctor.clients.server_list import shown
from proctor.endpoints import FIRST_PAUSE, LONGEST_PAUSE, EndpointTurn
from proctor.errors import (
    PlatformError,
    ProctorError,
    ReplyBroken,
    Unauthorized,
    Unreachable,
    UsageError,
)
from proctor.service.http.native.packed_schema import ServerLoad

_logger = logging.getLogger(__name__)


class ServerSeat:
    """A server that a fleet uses, or tries to."""

    def __init__(self, url: str, parts: FleetParts) -> None:
        self.url, self.name = url, shown(url)
        self.error: ProctorError | None = None
        """Reason why it does not judge at present."""
        self.left_out = False
        """True if the reason does not pass by itself; it is looked at again all the same."""
        self.settled = False
        """True once it is known whether it can judge."""
        self.line: ServerLine | None = None
        """None while it does not judge."""
        self.judged = 0
        self._parts = parts
        self._http = PackedHttp(url, parts.token, parts.silence)
        self._retired = asyncio.Event()
        self._broken = 0
        """Times in a row that it broke off before it had judged anything."""
        self._instances: list[str] = []
        """Ids of the server's starts that have been seen, the latest last."""

    @property
    def why(self) -> str:
        """Reason why it does not judge at present, with its name."""
        said = str(self.error)
        return said if said.startswith(self.name) else f"{self.name}: {said}"

    def retire(self) -> None:
        """Give the server no more judgements; it finishes those that it has."""
        self._retired.set()
        if self.line is not None:
            self.line.retire()

    async def serve(self) -> None:
        """Have the server judge for as long as it is listed."""
        endpoints = self._parts.endpoints
        try:
            while not self._retired.is_set():
                pause = endpoints.next_trial(time.monotonic(), self.url)
                if pause is not None:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(pause):
                            await self._retired.wait()
                    continue
                turn = endpoints.take_at(self.url, time.monotonic())
                if turn is None:
                    return  # no longer listed
                try:
                    load = self._checked(await self._http.load())
                except ProctorError as error:
                    self._refuse(turn, error)
                    continue
                endpoints.succeeded(turn)
                await self._judge(load)
        finally:
            await self._http.close()

    async def version_of(self, language: str) -> str:
        """Return the version of a language's tools there. Raises what the server answers."""
        return (await self._http.language(language)).version

    async def surroundings(self) -> str | None:
        """Return a digest of what verdicts depend on there, besides versions; None if not known."""
        return (await self._http.language("python")).surroundings

    def _checked(self, load: ServerLoad) -> ServerLoad:
        """Return the load unchanged. Raises PlatformError if several servers share the address."""
        if load.instance in self._instances[:-1]:
            raise PlatformError(
                "several servers answer at this address, one after the other: list each, or have"
                " their name looked up with dns+http://NAME:PORT"
            )
        if load.instance not in self._instances:
            self._instances.append(load.instance)
        return load

    def _refuse(self, turn: EndpointTurn, error: ProctorError) -> None:
        """Note why it does not judge."""
        if isinstance(error, UsageError) and not isinstance(error, Unauthorized):
            error = Unauthorized(str(error))  # the server refuses this host name
        self._fail(error, isinstance(error, PlatformError | ReplyBroken | Unauthorized))
        pause = LONGEST_PAUSE if self.left_out else None
        self._parts.endpoints.failed(turn, str(error), time.monotonic(), pause)
        self._parts.wake()

    def _fail(self, error: ProctorError, left_out: bool) -> None:
        before, self.error = self.error, error
        if str(before) != str(error):
            then = "left out" if left_out else "not judging for now"
            _logger.warning("%s: %s", then, self.why)
        self.left_out, self.settled = left_out, True

    async def _judge(self, load: ServerLoad) -> None:
        """Judge until the server is lost or retired."""
        line = self.line = ServerLine(self.url, self._http, load, self._parts)
        self.error, self.left_out, self.settled = None, False, True
        self._parts.dispatcher.sites.add(line.site)
        self._parts.wake()
        lost: ProctorError | None = None
        try:
            await line.run()
        except asyncio.CancelledError:  # the fleet is being closed
            if line.site.tasks:
                await self._http.take_back(f"{self._parts.key}-")
            raise
        except ProctorError as error:
            lost = error
            self._broken = 0 if line.judged else self._broken + 1
            if self._broken >= BREAKS:
                lost = Unreachable(f"broke off {self._broken} times without a judgement: {error}")
            self._fail(lost, self._broken >= BREAKS)
        finally:
            self.line, self.judged = None, self.judged + line.judged
            grown = FIRST_PAUSE * 2.0 ** min(self._broken, 10)
            line.leave(lost, LONGEST_PAUSE if self.left_out else grown)
