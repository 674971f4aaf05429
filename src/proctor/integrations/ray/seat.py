"""One node's seat in a cluster: an actor there, fed with judgements for as long as it lives."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from proctor.clients.remote_errors import error_of
from proctor.errors import InputError, PlatformError, ProctorError
from proctor.integrations.ray import connection
from proctor.integrations.ray.connection import RayNode
from proctor.integrations.ray.node import Answer, NodeFacts, no_answer, read_answer
from proctor.judgement import Judgement
from proctor.judging.dispatch import Dispatcher, Site, blames_the_site
from proctor.judging.packed import unpack
from proctor.service.http.problem_details import ProblemDetails
from proctor.version import __version__

ROOM = 32
"""Judgements that a node has at once, for each of its cells, while many wait: messages to and from
nodes then carry several each."""
FAILURES = 3
"""Times in a row that a node's actor may end before it has judged anything; then it is left out."""
_logger = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Seating:
    """Parts that all seats of a cluster share."""

    dispatcher: Dispatcher
    cpus: int | None
    """CPUs that each actor takes; None: all that its node has."""
    pool: Mapping[str, Any]
    """Further arguments of `open_pool`."""
    speed: str | None
    """Speed of the machine whose CPU limits are to hold; None for each node's own."""
    wake_all: Callable[[], None]
    """Tells every seat that there may be something for it."""


@dataclass(slots=True, eq=False)
class NodeSeat:
    """An actor's place: a node that a cluster uses, or has tried to, or any that has free CPUs."""

    name: str
    node: RayNode | None
    shared: Seating
    facts: NodeFacts | None = None
    """None until its pool is open, or if it cannot be."""
    refused: str = ""
    """Reason why it does not judge, with the remedy; empty if it does."""
    settled: bool = False
    """True once it is known whether it can judge."""
    judged: int = 0
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    _actor: Any = None
    _site: Site | None = None

    async def serve(self) -> None:
        """Keep an actor on the node for as long as it lives, unless it cannot judge."""
        failures = 0
        while not self.refused:
            judged, why = self.judged, ""
            try:
                why = await self._judge()
            except connection.Broken as error:
                why = _reason(error)
            except PlatformError as error:
                self.refused = str(error)
            finally:
                self.settled = True
                await self._lose(why)
            if self.node is not None and not await asyncio.to_thread(connection.lives, self.node):
                return
            failures = failures + 1 if self.judged == judged else 0
            if failures == FAILURES:
                self.refused = f"its actor ended {FAILURES} times, the last time because: {why}"
        _logger.warning("%s judges nothing: %s", self, self.refused)

    async def version_of(self, language: str) -> str:
        """Return the version of a language's tools there; empty if the node does not judge.

        Raises NoLanguage, InputError.
        """
        if self._site is None:
            return ""
        return await self._told(self._actor.version_of.remote(language))

    async def speed(self) -> str:
        """Measure how fast the machine is; empty if the node does not judge."""
        if self._site is None:
            return ""
        return await self._told(self._actor.speed.remote())

    async def _told(self, asked: Awaitable[Any]) -> str:
        """Return the text that the actor answers; raises the error that it answers instead."""
        told, error = read_answer(await asked, tuple[str, bytes], str(self))
        if error:
            raise self._error(error)
        return told

    def __str__(self) -> str:
        facts = self.facts
        where = f" ({facts.address})" if facts is not None else ""
        return f"{self.name}{where}"

    async def _lose(self, why: str) -> None:
        """Give out again the work that was under way here."""
        site, self._site = self._site, None
        if site is not None:
            self.shared.dispatcher.sites.discard(site)
            node = self.facts.id if self.facts is not None else ""
            blameless = await asyncio.to_thread(connection.was_to_go, node)
            self.shared.dispatcher.lost(site, f"{self}: {why}", blameless=blameless)
            self.shared.wake_all()

    async def _judge(self) -> str:
        """Judge until the actor is no longer to be used; returns the reason.

        Raises PlatformError if the node cannot judge, Broken if the actor is gone.
        """
        has = self.node.cpus if self.node is not None else self.shared.cpus or 1
        cpus = min(self.shared.cpus or has, has)
        actor = self._actor = connection.start_actor(
            self.node, cpus, self.shared.pool, self.shared.speed
        )
        try:
            answer = await actor.open.remote()
            opened, error = read_answer(answer, tuple[bytes, bytes], str(self))
            if error:
                raise _refusal(self._error(error))
            self.facts = _checked(self._unpacked(opened, NodeFacts))
            site = self._site = Site(self.name, self.facts.cells, self.facts.cells * ROOM)
            self.shared.dispatcher.sites.add(site)
            self.settled = True
            both = [asyncio.ensure_future(each(site)) for each in (self._feed, self._take)]
            try:
                done, _ = await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
                return done.pop().result()
            finally:
                for each in both:
                    each.cancel()
                await asyncio.gather(*both, return_exceptions=True)
        finally:
            connection.kill_actor(actor)

    async def _feed(self, site: Site) -> str:
        """Send the node the judgements that it has room for, whenever that may have changed."""
        while True:
            self.wake.clear()
            tasks = self.shared.dispatcher.take(site)
            if not tasks:
                await self.wake.wait()
                continue
            wanted = {task.problem.digest: task.problem.data for task in tasks}
            new = {each: wanted[each] for each in wanted.keys() - site.problems}
            forgotten = await self._actor.take.remote(
                [(task.id, task.problem.digest, task.payload) for task in tasks],
                list(new), *new.values(),
            )  # fmt: skip
            forgotten = read_answer(forgotten, set[str], str(self))
            site.problems = (site.problems | new.keys()) - forgotten

    async def _take(self, site: Site) -> str:
        """Hand over the node's answers as they come, until one says that the node is unfit."""
        while True:
            answers = await self._actor.finished.remote(site.room // 2)
            waiting = self.shared.dispatcher.waiting
            for answer in read_answer(answers, list[Answer], str(self)):
                outcome = self._outcome(answer)
                if blames_the_site(outcome):
                    return str(outcome)
                self.shared.dispatcher.answered(site, answer.id, outcome)
                self.judged += 1
            self.wake.set()
            if self.shared.dispatcher.waiting > waiting:  # this node lacks the language of some
                self.shared.wake_all()

    def _outcome(self, answer: Answer) -> Judgement | ProctorError:
        if answer.error:
            return self._error(answer.error)
        return self._unpacked(answer.judgement, Judgement)

    def _unpacked(self, packed: bytes, kind: type[T]) -> T:
        try:
            return unpack(packed, kind)
        except InputError as error:
            raise no_answer(str(self), error) from error

    def _error(self, packed: bytes) -> ProctorError:
        return unpacked_error(packed, str(self))


def unpacked_error(packed: bytes, who: str) -> ProctorError:
    """Return the error that `node.packed_error` has packed.

    Raises PlatformError, which names `who` answered, if it is none.
    """
    try:
        return error_of(msgspec.msgpack.decode(packed, type=ProblemDetails))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise no_answer(who, error) from error


def _refusal(error: ProctorError) -> PlatformError:
    """Return the error of opening a pool as a PlatformError, which leaves out only this node."""
    return error if isinstance(error, PlatformError) else PlatformError(str(error))


def _checked(facts: NodeFacts) -> NodeFacts:
    """Return the facts of a node that may judge. Raises PlatformError for another version."""
    if facts.proctor != __version__:
        raise PlatformError(
            f"it has proctor {facts.proctor}, and this is {__version__}: install the same there"
        )
    return facts


def _reason(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if any("No module named 'proctor" in line for line in lines):
        return "it has no proctor: pip install 'proctor[ray]' there, or name it in the runtime_env"
    return lines[-1] if lines else type(error).__name__
