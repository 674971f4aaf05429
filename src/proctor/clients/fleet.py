"""Judging on many servers (`proctor serve`), as Judges.

Servers that join are used, work under way on a lost server is given to others
(judging/dispatch.py), and a server that cannot judge is left out, with the reason. A judgement goes
to the server with the most to spare, by the load that servers report and the work sent from here.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass

from proctor.clients.http import http_modules
from proctor.clients.remote_judges import RemoteJudges, agreed_version
from proctor.clients.server_line import ROOM, FleetParts
from proctor.clients.server_list import ServerList
from proctor.clients.server_seat import ServerSeat
from proctor.endpoints import Endpoints
from proctor.errors import (
    PlatformError,
    PoolClosed,
    ProctorError,
    ReplyBroken,
    Unauthorized,
    Unreachable,
)

LOOK_EVERY = 1.0
"""Seconds between two looks at which servers there are."""
PATIENCE = 180.0
"""Seconds for which all servers may be away before waiting judgements fail."""
FIRST_PATIENCE = 30.0
"""Seconds within which the first server must answer."""
SILENCE = 20.0
"""Seconds without a sign of life after which a server counts as gone."""
_NAMED = 20
"""Most servers whose errors a message names."""
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ServerState:
    """A server, and how it is used."""

    url: str
    machine: str
    """Name of the machine in its judgements; empty if it does not judge."""
    places: int
    error: ProctorError | None
    """Reason why it does not judge at present."""
    judged: int


class Fleet(RemoteJudges):
    """Judges on many servers, for `on=` of `judge_many`. Close it, or use `with`.

    Problems go to each server once. Judgements carry the name and
    the CPU model of their machine.
    """

    what = "fleet"

    def __init__(
        self,
        servers: str | Iterable[str],
        *,
        token: str | None = None,
        patience: float = PATIENCE,
        silence: float = SILENCE,
    ) -> None:
        """Begin to look for servers: items of a ServerList, or text with commas between them.

        `token` (else PROCTOR_TOKEN) is sent to all. `patience`: seconds for which all may be away;
        `silence`: seconds without a sign of life after which one counts as gone. Raises InputError,
        UsageError.
        """
        self._list = ServerList(servers)
        http_modules()
        super().__init__()
        self._endpoints = Endpoints()
        shown = token or os.environ.get("PROCTOR_TOKEN") or None
        self._parts = FleetParts(
            secrets.token_hex(8), self._dispatcher, self._endpoints, shown, silence, self._wake_all
        )
        self._seats: dict[str, ServerSeat] = {}
        self._patience = patience
        self._list_error: ProctorError | None = None
        self._looked = self._met = False
        """True once the list was read, and once any server has been there."""
        self._idle = time.monotonic()
        """Latest monotonic time when nothing waited."""
        self._watching = self._thread.wait(self._begin())

    def servers(self) -> list[ServerState]:
        """Return all servers, once it is known of each whether it can judge."""
        self._thread.wait(self._settled())
        return [
            ServerState(
                seat.name,
                "" if seat.line is None else seat.line.site.name,
                0 if seat.line is None else seat.line.site.cells,
                seat.error,
                seat.judged + (0 if seat.line is None else seat.line.judged),
            )
            for seat in self._seats.values()
        ]

    def surroundings(self) -> tuple[str, ...]:
        """Return what verdicts depend on, once for each kind of server. Raises Unreachable."""
        return self._thread.wait(self._surroundings())

    def _wake_all(self) -> None:
        """Give waiting judgements to servers with room, each to the one with the most to spare."""
        now = time.monotonic()
        lines = {url: seat.line for url, seat in self._seats.items()}
        avoid = {url for url, line in lines.items() if line is None or not line.wants(now)}
        while self._dispatcher.waiting and len(avoid) < len(lines):
            turn = self._endpoints.take(now, avoid)
            if turn is None:
                break
            line = lines[turn.endpoint]
            assert line is not None
            tasks = self._dispatcher.take(line.site, 1)
            if tasks:
                line.give(tasks[0], turn)
            else:
                self._endpoints.released(turn)
            if not tasks or line.full:
                avoid.add(turn.endpoint)
        self._give_up_if_hopeless()

    async def _begin(self) -> asyncio.Task[None]:
        watching = asyncio.create_task(self._watch())
        watching.add_done_callback(self._note_end)
        return watching

    async def _watch(self) -> None:
        """Give each server of the list a seat for as long as it is listed."""
        serving: dict[str, asyncio.Task[None]] = {}
        try:
            while True:
                await self._read_list()
                for url, seat in self._seats.items():
                    if url not in serving:
                        serving[url] = asyncio.create_task(seat.serve())
                for url, task in list(serving.items()):
                    if task.done():
                        task.result()
                        del self._seats[url], serving[url]
                self._give_up_if_hopeless()
                await asyncio.sleep(LOOK_EVERY)
        finally:
            for task in serving.values():
                task.cancel()
            await asyncio.gather(*serving.values(), return_exceptions=True)

    async def _read_list(self) -> None:
        try:
            urls = await self._list.read(time.monotonic())
        except ProctorError as error:
            if self._list_error is None:
                _logger.warning("the list of servers is as it was: %s", error)
            self._list_error = error
            self._looked = True
            return
        for url in self._seats.keys() - urls:
            self._seats[url].retire()
        for url in urls:
            if url not in self._seats:
                self._seats[url] = ServerSeat(url, self._parts)
        self._list_error, self._looked = None, True
        lines = {url: self._seats[url].line for url in urls}
        self._endpoints.replace(
            {url: 1 if line is None else ROOM * line.site.cells for url, line in lines.items()},
            time.monotonic(),
        )

    def _give_up_if_hopeless(self) -> None:
        """Fail all waiting judgements with the reason if no server will judge soon."""
        now = time.monotonic()
        self._met = self._met or any(seat.line is not None for seat in self._seats.values())
        if not self._dispatcher.waiting:
            self._idle = now
        elif (error := self._hopeless(self._idle)) is not None:
            self._dispatcher.fail_all(error)

    def _hopeless(self, since: float) -> ProctorError | None:
        """Return why waiting since that time is hopeless; None if it is not."""
        seats = self._seats.values()
        judged = any(seat.judged or seat.line is not None for seat in seats)
        wrong = [seat for seat in seats if isinstance(seat.error, Unauthorized)]
        if wrong and not judged:
            return Unauthorized(wrong[0].why)
        down = self._endpoints.down_since
        patience = self._patience if self._met else min(self._patience, FIRST_PATIENCE)
        all_left_out = bool(seats) and all(seat.left_out for seat in seats)
        if all_left_out or (down is not None and time.monotonic() - max(down, since) > patience):
            return self._nobody()
        return None

    def _nobody(self) -> ProctorError:
        """Return the error that names each server and why it does not judge."""
        failed = [seat for seat in self._seats.values() if seat.error is not None]
        said = [seat.why for seat in failed[:_NAMED]]
        if len(failed) > _NAMED:
            said.append(f"and {len(failed) - _NAMED} more")
        if self._list_error is not None:
            said.append(str(self._list_error))
        message = f"no server judges: {'; '.join(said) or 'the list is empty'}"
        for kind in (Unauthorized, PlatformError, ReplyBroken):
            if failed and all(isinstance(seat.error, kind) for seat in failed):
                return kind(message)
        return Unreachable(message)

    async def _settled(self) -> None:
        """Wait until it is known of each server whether it can judge."""
        while not self._watching.done():
            if self._looked and all(seat.settled for seat in self._seats.values()):
                return
            await asyncio.sleep(LOOK_EVERY / 20)

    async def _judging(self) -> list[ServerSeat]:
        """Wait until it is known which servers judge; return them. Raises why, if none does."""
        since = time.monotonic()
        await self._settled()
        while not self._dispatcher.sites and not self._watching.done():
            if (error := self._hopeless(since)) is not None:
                raise error
            await asyncio.sleep(LOOK_EVERY / 20)
        return [seat for seat in self._seats.values() if seat.line is not None]

    async def _versions(self, language: str) -> str:
        asked = [each.version_of(language) for each in await self._judging()]
        return await agreed_version(asked, self._nobody)

    async def _surroundings(self) -> tuple[str, ...]:
        asked = [each.surroundings() for each in await self._judging()]
        found = set(await asyncio.gather(*asked))
        return () if None in found else tuple(sorted(each for each in found if each is not None))

    def _note_end(self, watching: asyncio.Task[None]) -> None:
        failed = None if watching.cancelled() else watching.exception()
        self._end_all(
            PoolClosed("the fleet was closed")
            if failed is None
            else Unreachable(f"the fleet has ended: {failed!r}")
        )

    async def _end(self) -> None:
        self._watching.cancel()
        await asyncio.gather(self._watching, return_exceptions=True)
