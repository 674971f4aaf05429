"""The actor that judges on one node: a pool of cells that judges like that of any server.

What it is sent and what it answers are bytes, numbers and text: see `judging.packed`.
"""

from __future__ import annotations

import asyncio
import os
import platform
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

import msgspec
import ray

from proctor.errors import InfraFault, PlatformError, ProctorError
from proctor.execution import Isolation
from proctor.json_values import convert_json
from proctor.judgement import Judgement, Machine
from proctor.judging.environment import start_cells
from proctor.judging.judge import PoolJudges
from proctor.judging.judges import Judges
from proctor.judging.packed import pack, unpack
from proctor.judging.remote import KeptProblems, Payload
from proctor.judging.speed import NormalisedJudges, Speed
from proctor.languages.pools import GROWTH_DELAY, open_pool
from proctor.sandbox.machine import cpus
from proctor.sandbox.pool import Pool
from proctor.service.http.problem_details import problem_of
from proctor.version import __version__

GATHER = 0.25
"""Seconds that an answer waits for others at most, to be sent with them: a message costs both ends
about a millisecond of CPU. Where cells would run out of work meanwhile, none waits."""


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """A node, as its actor found it."""

    id: str
    """Ray's id of the node."""
    address: str
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
    """Version of proctor there; the default is empty, so that packing never omits a version."""


class Answer(NamedTuple):
    """Outcome of one judgement: either `judgement` or `error`, packed."""

    id: int
    judgement: bytes = b""
    error: bytes = b""
    """ProblemDetails as MessagePack."""


class NodeActor:
    """Judges on one node. An actor with asyncio: `take` and `finished` run side by side."""

    def __init__(self, cells: int, pool: dict[str, Any], speed: str | None) -> None:
        """`pool` are further arguments of `open_pool`.

        `speed`: that of the machine whose CPU limits are to hold; None for each node's own.
        """
        self._node = str(ray.get_runtime_context().get_node_id())
        self._address: str = ray.util.get_node_ip_address()
        self._cells, self._options, self._reference = cells, pool, speed
        self._problems = KeptProblems()
        self._machine = Machine(self._node, cpus.model())
        self._pool: Pool | None = None
        self._judges: Judges | None = None
        self._answers: list[Answer] = []
        self._under_way = 0
        self._enough, self._due = 1, asyncio.Event()

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
        self._pool, judges = pool, PoolJudges(pool)
        self._judges = judges
        start_cells(pool)
        if self._reference is not None:
            own, reference = Speed.of(pool), Speed.read(self._reference)
            self._judges = NormalisedJudges(judges, own, reference, self._machine)
        isolation: Isolation = pool.do(lambda cell, _queued: cell.isolation)
        return NodeFacts(
            self._node, self._address, platform.node(), self._machine.cpu,
            pool.cells, isolation.level,
            tuple(f"{name}: {each.gap}" for name, each in isolation.guarantees.items() if each.gap),
            judges.version_of("python"), os.uname().release,
            "".join(self._judges.surroundings()), __version__,
        )  # fmt: skip

    async def speed(self) -> tuple[str, bytes]:
        """Measure how fast the node is: Speed as text, or an error as in `Answer.error`."""
        try:
            if self._pool is None:
                raise InfraFault("the node has no pool")
            return str(await asyncio.to_thread(Speed.of, self._pool)), b""
        except ProctorError as error:
            return "", packed_error(error)

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
        """Begin judgements; each is an id, the digest of its problem, and a packed Payload.

        `digests` and `problems` are those that this node did not have. Returns the digests of
        problems that it has dropped to make room.
        """
        for digest, data in zip(digests, problems, strict=True):
            self._problems.add(digest, data)
        loop = asyncio.get_running_loop()

        def note(identity: int, done: Future[Judgement]) -> None:
            loop.call_soon_threadsafe(self._note, identity, done)

        self._under_way += len(tasks)
        for identity, digest, payload in tasks:
            self._start(digest, payload).add_done_callback(
                lambda done, identity=identity: note(identity, done)  # type: ignore[misc]
            )
        return self._problems.shrink()

    async def finished(self, enough: int) -> list[Answer]:
        """Return the judgements made since the last call, once there are `enough` or they are due.

        They are due when cells have nothing else to do, and GATHER seconds after the first of them.
        """
        self._enough = enough
        self._look()
        await self._due.wait()
        self._due.clear()
        answers, self._answers = self._answers, []
        return answers

    def _look(self, *, late: bool = False) -> None:
        """Set `_due` if answers are due."""
        enough = len(self._answers) >= self._enough or self._under_way <= self._cells
        if self._answers and (late or enough):
            self._due.set()

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
            found = done.result()
            answer = Answer(identity, pack(replace(found, machine=found.machine or self._machine)))
        else:
            if not isinstance(error, ProctorError):
                error = InfraFault(f"internal error: {error!r}")
            answer = Answer(identity, error=packed_error(error))
        self._answers.append(answer)
        self._under_way -= 1
        if len(self._answers) == 1:
            asyncio.get_running_loop().call_later(GATHER, partial(self._look, late=True))
        self._look()


def read_answer(answer: object, kind: type[T], who: str) -> T:
    """Return an actor's answer, which must be made of lists, tuples, numbers, text and bytes.

    Raises PlatformError, which names `who` answered.
    """
    try:
        return convert_json(answer, kind)
    except msgspec.ValidationError as error:
        raise no_answer(who, error) from error


def no_answer(who: str, error: Exception) -> PlatformError:
    """Return the error for an actor that answers what it should not."""
    return PlatformError(f"{who} answers what no actor of proctor's does: {error}")


def packed_error(error: ProctorError) -> bytes:
    """Return an error as ProblemDetails in MessagePack."""
    return msgspec.msgpack.encode(problem_of(error))
