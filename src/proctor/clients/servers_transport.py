"""The transport over many servers: each call goes to the one with the most to spare.

What can be repeated is tried elsewhere when a server breaks off or is busy, by the rules that hold
for one server (http.py). A session stays with its server, which its id names.
"""

import asyncio
import hashlib
from collections.abc import Sequence

import msgspec

from proctor.clients.http import HttpSessions, Repeatable, Unsent, http_modules
from proctor.clients.many_servers import ManyServers
from proctor.clients.server_list import ServerList, shown
from proctor.clients.transport import Call, Result
from proctor.errors import Busy, NoLanguage, NotFound, ProctorError
from proctor.execution import Strength
from proctor.service.http.native.schema import Capabilities, GuaranteeJson, LanguageJson
from proctor.service.http.native.session_schema import (
    ExecuteRequestJson,
    ExecuteResult,
    FileState,
    SessionRequest,
    SessionState,
)

_ATTEMPTS = 8
"""Most attempts at one call, not counting those of which nothing was begun."""
_TAG = 8
"""Hex digits before a session's own id that tell its server."""
_STRENGTHS = (Strength.NONE, Strength.PARTIAL, Strength.FULL)


class ServersTransport:
    """A transport to several servers, which may join and leave."""

    def __init__(self, servers: ServerList, token: str | None) -> None:
        http_modules()
        self._servers = ManyServers(servers, token)

    async def call(self, call: Call[Result]) -> Result:
        """Send a call to a server, and to another if it fails and can be repeated."""
        servers, begun, lacking = self._servers, 0, set[str]()
        while True:
            turn = await servers.turn(lacking)
            http = servers.known[turn.endpoint].http
            try:
                found = await http.once(call)
            except Repeatable as failed:
                servers.fail(turn, failed.error, failed.wait)
                begun += not isinstance(failed.error, Unsent | Busy)
                if begun >= _ATTEMPTS:
                    raise failed.error from failed.__cause__
            except NoLanguage:
                servers.end(turn)
                lacking.add(turn.endpoint)
                if servers.all_well_are(lacking):
                    raise
            except ProctorError as error:
                servers.end(turn, error)
                raise
            except asyncio.CancelledError:
                servers.release(turn)
                await http.cancel(call)
                raise
            else:
                servers.end(turn)
                return found

    async def sessions(self) -> "ServersSessions":
        """Return the sessions of all servers, which outlive this client."""
        await self._servers.refresh()
        return ServersSessions(self._servers)

    async def languages(self) -> list[LanguageJson]:
        """Return the languages that any server has; versions that differ are joined by `; `."""
        found: dict[str, LanguageJson] = {}
        for languages in (await self._servers.asked(lambda http: http.languages())).values():
            for each in languages:
                known = found.get(each.id, each)
                version = _joined([*known.version.split("; "), each.version])
                found[each.id] = msgspec.structs.replace(known, version=version)
        return list(found.values())

    async def capabilities(self) -> Capabilities:
        """Return what holds wherever a call goes, and the load of all servers together."""
        return merged(list((await self._servers.asked(lambda http: http.capabilities())).values()))

    async def close(self) -> None:
        """Close the connections."""
        await self._servers.close()


class ServersSessions:
    """Sessions on many servers: one route for each operation, on the server that has it."""

    def __init__(self, servers: ManyServers) -> None:
        self._servers = servers

    async def open(self, request: SessionRequest) -> SessionState:
        """Open a session on the server with the most to spare. Raises Busy if none has room."""
        servers, full = self._servers, set[str]()
        while True:
            turn = await servers.turn(full)
            try:
                state = await HttpSessions(servers.known[turn.endpoint].http, once=True).open(
                    request
                )
            except Busy:
                servers.end(turn)
                full.add(turn.endpoint)
                if servers.all_well_are(full):
                    raise
            except Unsent as error:
                servers.fail(turn, error)
            except ProctorError as error:
                servers.end(turn, error)
                raise
            except BaseException:
                servers.release(turn)
                raise
            else:
                servers.end(turn)
                return _tagged(turn.endpoint, state)

    async def all(self) -> list[SessionState]:
        """List one's own sessions on all servers that answer, the oldest first."""
        found = await self._servers.asked(lambda http: HttpSessions(http).all())
        tagged = [_tagged(url, each) for url, some in found.items() for each in some]
        return sorted(tagged, key=lambda each: each.opened)

    async def state(self, identity: str) -> SessionState:
        """Return the state of a session."""
        url, sessions, own = self._at(identity)
        return _tagged(url, await sessions.state(own))

    async def execute(self, identity: str, request: ExecuteRequestJson) -> ExecuteResult:
        """Run a cell, a program or a command, once."""
        _, sessions, own = self._at(identity)
        return await sessions.execute(own, request)

    async def files(self, identity: str) -> list[FileState]:
        """List the files of the workspace."""
        _, sessions, own = self._at(identity)
        return await sessions.files(own)

    async def read(self, identity: str, path: str) -> bytes:
        """Return the content of a file."""
        _, sessions, own = self._at(identity)
        return await sessions.read(own, path)

    async def write(self, identity: str, path: str, content: bytes) -> FileState:
        """Write a file."""
        _, sessions, own = self._at(identity)
        return await sessions.write(own, path, content)

    async def close(self, identity: str) -> SessionState:
        """End a session."""
        url, sessions, own = self._at(identity)
        return _tagged(url, await sessions.close(own))

    def _at(self, identity: str) -> tuple[str, HttpSessions, str]:
        """Return a session's server, the sessions there, and its id there. Raises NotFound."""
        tag, dash, own = identity.partition("-")
        for url, server in self._servers.known.items():
            if dash and tag == _tag(url):
                return url, HttpSessions(server.http), own
        raise NotFound(
            f"there is no session {identity!r} of yours: no server of the list opened it"
        )


def merged(found: Sequence[Capabilities]) -> Capabilities:
    """Return what holds on all servers, and their load together.

    A guarantee is as strong as where it is weakest; sets of packages are those that all have.
    """
    guarantees: dict[str, GuaranteeJson] = {}
    nothing = GuaranteeJson(Strength.NONE, "", "")
    for name in found[0].guarantees:
        given = [each.guarantees.get(name, nothing) for each in found]
        guarantees[name] = min(given, key=lambda each: _STRENGTHS.index(each.strength))
    return Capabilities(
        _joined([each.version for each in found]),
        _joined([each.isolation for each in found]),
        guarantees,
        sum(each.places for each in found),
        sum(each.waiting for each in found),
        sum(each.running for each in found),
        tuple(
            name
            for name in found[0].package_sets
            if all(name in each.package_sets for each in found)
        ),
    )


def _joined(texts: Sequence[str]) -> str:
    return "; ".join(dict.fromkeys(texts))


def _tag(url: str) -> str:
    return hashlib.sha256(shown(url).encode()).hexdigest()[:_TAG]


def _tagged(url: str, state: SessionState) -> SessionState:
    return msgspec.structs.replace(state, id=f"{_tag(url)}-{state.id}")
