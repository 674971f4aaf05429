"""Sandboxes of E2B's API: sessions of the engine, and the data that clients gave for them."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from proctor.errors import InputError, NotFound, ProctorError
from proctor.limits import GIB, MIB, Limits
from proctor.service.admission import RequestContext
from proctor.service.engine import Engine
from proctor.service.http.e2b.command_input import CommandInput
from proctor.service.http.e2b.contexts import CodeContexts
from proctor.service.jobs import size_of
from proctor.service.owned_session import OwnedSession
from proctor.service.sessions import MAX_IDLE

ENVD_VERSION = "0.5.2"
"""Version of E2B's daemon that clients are told: they then request nothing that is missing here."""
TIMEOUT = 300.0
"""Seconds without use after which a sandbox ends, where its client names none."""
LIMITS = Limits(cpu=3600.0, memory=2 * GIB, output=64 * MIB, processes=64, disk=512 * MIB)
"""Limits of sandboxes; clients end an execution that takes too long by hanging up."""
MOST_KEPT = 256 << 10
"""Bytes, about, of a sandbox's metadata, and of its variables, which are kept as long as it is."""
_USUAL = frozenset({"base", "code-interpreter-v1", "code-interpreter-beta"})
"""Templates that stand for the server's usual packages."""


class NewSandbox(msgspec.Struct, frozen=True, rename="camel"):
    """Body of POST /sandboxes, as far as it has an effect."""

    template_id: str = msgspec.field(name="templateID", default="base")
    timeout: float = TIMEOUT
    metadata: dict[str, str] = {}
    env_vars: dict[str, str] = {}


class KeepRequest(msgspec.Struct, frozen=True):
    """Body of POST /sandboxes/ID/timeout and /connect."""

    timeout: float | None = None
    """Seconds without use after which the sandbox ends; None to leave them unchanged."""


@dataclass(slots=True)
class CommandUnderWay:
    """A command that has not ended."""

    config: Mapping[str, Any]
    running: asyncio.Task[Any]
    """Task that awaits its end."""
    stdin: CommandInput | None = None


@dataclass(slots=True)
class Sandbox:
    """An open sandbox."""

    session: OwnedSession
    template: str
    metadata: Mapping[str, str]
    variables: Mapping[str, str]
    timeout: float
    """Seconds without use after which it ends."""
    contexts: CodeContexts
    commands: dict[int, CommandUnderWay] = field(default_factory=dict)
    """Commands under way by number."""
    executions: int = 0
    """Cells that were run."""
    _last: int = 0

    def new_number(self) -> int:
        """Return a number for a command."""
        self._last += 1
        return self._last

    def told(self) -> dict[str, Any]:
        """Return the sandbox as lists and details show it."""
        limits = self.session.limits
        started = datetime.fromtimestamp(self.session.opened, UTC)
        return {
            "templateID": self.template, "sandboxID": self.session.id, "clientID": "proctor",
            "alias": self.template, "envdVersion": ENVD_VERSION, "state": "running",
            "startedAt": started.isoformat(), "metadata": dict(self.metadata),
            "endAt": (datetime.now(UTC) + timedelta(seconds=self.timeout)).isoformat(),
            "cpuCount": 1, "memoryMB": limits.memory // MIB,
            "diskSizeMB": (limits.disk or 0) // MIB, "domain": None,
        }  # fmt: skip


class Sandboxes:
    """The sandboxes of all owners."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._open: dict[str, Sandbox] = {}

    async def open(self, context: RequestContext, asked: NewSandbox) -> Sandbox:
        """Open a sandbox. Raises NotFound for an unknown template, and what Sessions.open does."""
        sets = self._engine.package_sets.names
        template = asked.template_id
        if template not in _USUAL and template not in sets:
            known = ", ".join([*sorted(_USUAL), *sets])
            raise NotFound(f"there is no template {template!r} (there are: {known})")
        for name, given in (("metadata", asked.metadata), ("envVars", asked.env_vars)):
            if size_of(given) > MOST_KEPT:
                raise InputError(f"{name} has at most {MOST_KEPT} bytes")
        session = await self._engine.sessions.open(
            context, LIMITS, _checked(asked.timeout), template if template in sets else None
        )
        made = Sandbox(
            session, template, asked.metadata, asked.env_vars, asked.timeout, CodeContexts(session)
        )
        self._open[session.id] = made
        return made

    def get(self, owner: str, identity: str) -> Sandbox:
        """Return a sandbox of this owner. Raises NotFound, SessionEnded."""
        try:
            session = self._engine.sessions.get(owner, identity)
        except ProctorError:
            self._forget_ended()
            raise
        if session.id not in self._open:
            raise NotFound(f"there is no sandbox {identity!r}")
        return self._open[session.id]

    def all(self, owner: str) -> list[Sandbox]:
        """Return an owner's sandboxes, the oldest first."""
        self._forget_ended()
        mine = self._engine.sessions.all(owner)
        return [self._open[each.id] for each in mine if each.id in self._open]

    async def close(self, owner: str, identity: str) -> None:
        """End a sandbox. Raises NotFound, SessionEnded."""
        self.get(owner, identity)
        await self._engine.sessions.close(owner, identity)
        self._forget_ended()

    def keep(self, sandbox: Sandbox, asked: KeepRequest) -> None:
        """Set the seconds without use after which a sandbox ends. Raises InputError."""
        sandbox.timeout = _checked(sandbox.timeout if asked.timeout is None else asked.timeout)
        self._engine.sessions.keep(sandbox.session, sandbox.timeout)

    def _forget_ended(self) -> None:
        for identity in [key for key, each in self._open.items() if each.session.why is not None]:
            del self._open[identity]


def _checked(timeout: float) -> float:
    if not 0 < timeout <= MAX_IDLE:
        raise InputError(f"timeout must be more than 0 and at most {MAX_IDLE:g} seconds")
    return timeout
