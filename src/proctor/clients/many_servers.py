"""Many servers for single calls: which there are, which are well, and whose turn it is."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection
from typing import TypeVar

from proctor.clients.http import RETRY_FOR, HttpTransport
from proctor.clients.server_list import ServerList, shown
from proctor.endpoints import LONGEST_PAUSE, Endpoints, EndpointTurn
from proctor.errors import Busy, NotFound, ProctorError, ReplyBroken, Unreachable, UsageError
from proctor.service.http.native.packed_schema import ServerLoad

PATIENCE = 20.0
"""Seconds for which all servers may be away before a call fails."""
_READ_EVERY = 1.0
"""Seconds between two looks at the list."""
_LOOK_EVERY = 5.0
"""Seconds after which the load that a server has reported is old."""
_LOOK_PATIENCE = 10.0
"""Seconds that a server may take to report its load."""
_FIRST_PATIENCE = 2.0
"""Seconds that the first call waits for servers to report their load."""
_PER_PLACE = 1 << 20
"""Most calls at once for each place of a server, which queues them itself."""
_NAMED = 20
"""Most servers whose errors a message names."""
_logger = logging.getLogger(__name__)
T = TypeVar("T")


class ListedServer:
    """A server that is, or was, on the list."""

    def __init__(self, url: str, token: str | None) -> None:
        self.name, self.http = shown(url), HttpTransport(url, token)
        self.places = 1
        self.looked = float("-inf")
        """Monotonic time of the latest look at it."""
        self.error: ProctorError | None = None
        """Reason why it is paused."""

    @property
    def useless(self) -> bool:
        """True if the reason why it is paused does not pass by itself."""
        return isinstance(self.error, UsageError | ReplyBroken)

    @property
    def why(self) -> str:
        """Reason why it is paused, with its name."""
        said = str(self.error)
        return said if said.startswith(self.name) else f"{self.name}: {said}"


class ManyServers:
    """Servers of a list that may change. All of it is used from one event loop."""

    def __init__(self, servers: ServerList, token: str | None) -> None:
        self._list, self._token = servers, token
        self._endpoints = Endpoints()
        self.known: dict[str, ListedServer] = {}
        """Servers by URL, including those that have left the list: sessions may be there."""
        self._looks: set[asyncio.Task[None]] = set()
        self._news = asyncio.Event()
        """Set whenever something may have changed."""
        self._due = float("-inf")

    async def turn(self, avoid: Collection[str] = ()) -> EndpointTurn:
        """Wait for a turn at a server that is well and not in `avoid`.

        One of end, fail and release must follow. Raises the reason why there is no server if it
        does not pass by itself or has lasted for long.
        """
        await self.refresh()
        while True:
            self._news.clear()
            self._start_looks()
            now = time.monotonic()
            turn = self._endpoints.take(now, avoid)
            if turn is not None:
                return turn
            self._raise_if_hopeless(now)
            wait = self._endpoints.next_trial(now)
            try:
                async with asyncio.timeout(1.0 if wait is None else min(wait, 1.0)):
                    await self._news.wait()
            except TimeoutError:
                await self.refresh()

    def end(self, turn: EndpointTurn, error: ProctorError | None = None) -> None:
        """End a turn that was answered, whatever the answer, or that broke off."""
        if isinstance(error, Unreachable | ReplyBroken):
            self.fail(turn, error)
            return
        self._endpoints.succeeded(turn)
        self.known[turn.endpoint].error = None
        self._news.set()

    def fail(self, turn: EndpointTurn, error: ProctorError, pause: float | None = None) -> None:
        """End a turn: the server is broken or busy, and gets a pause, in seconds."""
        server = self.known[turn.endpoint]
        before, server.error = server.error, error
        if server.useless:
            pause = LONGEST_PAUSE
            if str(before) != str(error):
                _logger.warning("left out: %s", server.why)
        self._endpoints.failed(turn, str(error), time.monotonic(), pause)
        self._news.set()

    def release(self, turn: EndpointTurn) -> None:
        """End a turn that says nothing of the server."""
        self._endpoints.released(turn)

    def all_well_are(self, among: Collection[str]) -> bool:
        """Return True if all servers that are well are among these."""
        return set(self._endpoints.well) <= set(among)

    async def asked(self, ask: Callable[[HttpTransport], Awaitable[T]]) -> dict[str, T]:
        """Ask all servers that are well; return answers by URL. Raises if none answers."""
        turn = await self.turn()  # waits until one is well
        self.release(turn)
        urls = self._endpoints.well
        found = await asyncio.gather(
            *(ask(self.known[url].http) for url in urls), return_exceptions=True
        )
        answers: dict[str, T] = {}
        for url, each in zip(urls, found, strict=True):
            if not isinstance(each, BaseException):
                answers[url] = each
            elif not isinstance(each, ProctorError):
                raise each
            else:
                _logger.warning("%s: %s", self.known[url].name, each)
        if not answers:
            raise next(each for each in found if isinstance(each, ProctorError))
        return answers

    async def refresh(self) -> None:
        """Read the list if it is due, and check new servers. Raises its error if none is known."""
        now = time.monotonic()
        if now < self._due:
            return
        try:
            urls = await self._list.read(now)
        except ProctorError as error:
            if not self.known:
                raise
            _logger.warning("the list of servers is as it was: %s", error)
            self._due = now + _LOOK_EVERY
            return
        self._due = now + (_READ_EVERY if self._list.may_change else float("inf"))
        first = not self.known
        for url in urls:
            if url not in self.known:
                self.known[url] = ListedServer(url, self._token)
        self._endpoints.replace({url: self.known[url].places * _PER_PLACE for url in urls}, now)
        if first:
            self._start_looks()
            if self._looks:
                await asyncio.wait(self._looks, timeout=_FIRST_PATIENCE)

    async def close(self) -> None:
        """Close all connections."""
        for look in self._looks:
            look.cancel()
        await asyncio.gather(*self._looks, return_exceptions=True)
        await asyncio.gather(*(each.http.close() for each in self.known.values()))

    def _start_looks(self) -> None:
        """Look at servers that have not been looked at for long, or whose pause is over.

        Whether a server is well again is thus found out by a look, not by a call.
        """
        now = time.monotonic()
        paused = self._endpoints.errors
        for url in self._endpoints.listed:
            server = self.known[url]
            if url not in paused and now - server.looked < _LOOK_EVERY:
                continue
            turn = self._endpoints.take_at(url, now)
            if turn is not None:
                server.looked = now
                look = asyncio.ensure_future(self._look(turn, server))
                self._looks.add(look)
                look.add_done_callback(self._looks.discard)

    async def _look(self, turn: EndpointTurn, server: ListedServer) -> None:
        try:
            async with asyncio.timeout(_LOOK_PATIENCE):
                load = await server.http.ask("GET", "/v1/load", ServerLoad, once=True)
        except NotFound:  # an older server, without this route
            self.end(turn)
        except TimeoutError:
            said = f"{server.name}: has not answered for {_LOOK_PATIENCE:g} s"
            self.fail(turn, Unreachable(said))
        except ProctorError as error:
            self.fail(turn, error)
        except BaseException:
            self.release(turn)
            raise
        else:
            server.places = load.places
            self._endpoints.report(
                turn.endpoint, load.places * _PER_PLACE, load.running + load.waiting
            )
            self.end(turn)

    def _raise_if_hopeless(self, now: float) -> None:
        servers = [self.known[url] for url in self._endpoints.listed]
        failed = [each for each in servers if each.error is not None]
        errors = [each.error for each in servers if each.error is not None]
        useless = bool(servers) and all(each.useless for each in servers)
        busy = next((error for error in errors if isinstance(error, Busy)), None)
        down, patience = self._endpoints.down_since, PATIENCE if busy is None else RETRY_FOR
        if not useless and (down is None or now - down <= patience):
            return
        if busy is not None:
            raise busy
        said = [each.why for each in failed[:_NAMED]]
        if len(failed) > _NAMED:
            said.append(f"and {len(failed) - _NAMED} more")
        message = f"no server answers: {'; '.join(said) or 'the list is empty'}"
        kinds = {type(error) for error in errors}
        raise (kinds.pop() if useless and len(kinds) == 1 else Unreachable)(message)
