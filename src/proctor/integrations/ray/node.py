"""The actor that judges on one node: a pool of cells, and nothing that is not there on any server.

What it is sent and what it answers are bytes, numbers and text: see `judging.packed`.
"""

from __future__ import annotations

import asyncio
import os
import platform
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from proctor.errors import InfraFault, ProctorError
from proctor.execution import Isolation
from proctor.judgement import Judgement, Machine
from proctor.judging.environment import start_cells
from proctor.judging.judge import PoolJudges
from proctor.judging.packed import pack, unpack
from proctor.judging.remote import KeptProblems, Payload
from proctor.languages.pools import GROWTH_DELAY, open_pool
from proctor.sandbox.machine import cpus
from proctor.service.http.problem_details import problem_of
from proctor.version import __version__

GATHER = 0.02
"""Seconds that a finished judgement waits for others, to be sent with them."""


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """A node, as its actor found it."""

    id: str
    """Ray's id of the node."""
    host: str
    cpu: str
    """CPU model; empty if it is not known."""
    cells: int
    level: str
    """Isolation level of its cells."""
    gaps: tuple[str, ...]
    """Guarantees that are not in full force there, and why."""
    python: str
    """Version of Python that programs run under."""
    kernel: str
    surroundings: str
    """Digest of what verdicts depend on there, see Judges; empty if it is not known."""
    proctor: str = ""
    """Version; the default is not left out when packed, since the other end has another."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Outcome of one judgement: either `judgement` or `error`, packed."""

    id: int
    judgement: bytes = b""
    error: bytes = b""
    """ProblemDetails as MessagePack."""


class NodeActor:
    """Judges on one node. An actor with asyncio: `take` and `finished` run side by side."""

    def __init__(self, node: str, cells: int, pool: dict[str, Any]) -> None:
        """`pool` are further arguments of `open_pool`."""
        self._node, self._cells, self._options = node, cells, pool
        self._problems = KeptProblems()
        self._machine = Machine(node, cpus.model())
        self._judges: PoolJudges | None = None
        self._answers: list[Answer] = []
        self._some = asyncio.Event()

    async def open(self) -> tuple[bytes, bytes]:
        """Open the pool and prove that it isolates; returns NodeFacts, or else why it cannot.

        Both are MessagePack; the second as in `Answer.error`.
        """
        try:
            return pack(await asyncio.to_thread(self._open)), b""
        except ProctorError as error:
            return b"", packed_error(error)

    def _open(self) -> NodeFacts:
        pool = open_pool(cells=self._cells, growth_delay=GROWTH_DELAY, **self._options)
        self._judges = PoolJudges(pool)
        start_cells(pool)
        isolation: Isolation = pool.do(lambda cell, _queued: cell.isolation)
        return NodeFacts(
            self._node, platform.node(), self._machine.cpu, pool.cells, isolation.level,
            tuple(f"{name}: {each.gap}" for name, each in isolation.guarantees.items() if each.gap),
            self._judges.version_of("python"), os.uname().release,
            "".join(self._judges.surroundings()), __version__,
        )  # fmt: skip

    async def version_of(self, language: str) -> tuple[str, bytes]:
        """Return the version of a language's tools, or an error as in `Answer.error`."""
        try:
            if self._judges is None:
                raise InfraFault("the node has no pool")
            return await asyncio.to_thread(self._judges.version_of, language), b""
        except ProctorError as error:
            return "", packed_error(error)

    async def take(
        self, tasks: list[tuple[int, str, bytes]], digests: list[str], *problems: bytes
    ) -> list[str]:
        """Begin judgements: id, digest of the problem, packed Payload each.

        `digests` and `problems` are those that this node did not have. Returns the digests of
        problems that it has forgotten for them.
        """
        for digest, data in zip(digests, problems, strict=True):
            self._problems.add(digest, data)
        loop = asyncio.get_running_loop()

        def note(identity: int, done: Future[Judgement]) -> None:
            loop.call_soon_threadsafe(self._note, identity, done)

        for identity, digest, payload in tasks:
            self._start(digest, payload).add_done_callback(
                lambda done, identity=identity: note(identity, done)  # type: ignore[misc]
            )
        return self._problems.shrink()

    async def finished(self) -> list[Answer]:
        """Wait for at least one judgement, and return all that were made since the last call."""
        await self._some.wait()
        await asyncio.sleep(GATHER)
        self._some.clear()
        answers, self._answers = self._answers, []
        return answers

    def _start(self, digest: str, payload: bytes) -> Future[Judgement]:
        try:
            what = unpack(payload, Payload)
            problem = self._problems.get(digest)
            if self._judges is None or problem is None:
                raise InfraFault("the node has no pool, or not the problem")
            return self._judges.start(problem, what.program, what.settings, what.subtasks)
        except ProctorError as error:
            refused: Future[Judgement] = Future()
            refused.set_exception(error)
            return refused

    def _note(self, identity: int, done: Future[Judgement]) -> None:
        error = done.exception()
        if error is None:
            judgement = replace(done.result(), machine=self._machine)
            answer = Answer(identity, pack(judgement))
        else:
            if not isinstance(error, ProctorError):
                error = InfraFault(f"internal error: {error!r}")
            answer = Answer(identity, error=packed_error(error))
        self._answers.append(answer)
        self._some.set()


def packed_error(error: ProctorError) -> bytes:
    """Return an error as ProblemDetails in MessagePack."""
    return msgspec.msgpack.encode(problem_of(error))
