"""Rewards from actors of a Ray cluster, for one process or for many that share them by name.

Rows and completions are read where they are; the actors judge, on whichever nodes have room. This
is built on RayCluster: problems travel once to each actor, work under way on a lost node is given
out again, and nodes hold only as much as they have room for.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

from proctor.errors import InputError, ProctorError, SettingsError
from proctor.integrations.grading import CompletionGrader, GradedCompletion, graded, loop_thread
from proctor.integrations.ray import connection
from proctor.integrations.ray.cluster import NodeState, RayCluster
from proctor.integrations.ray.node import no_answer, packed_error, read_answer
from proctor.integrations.ray.seat import unpacked_error
from proctor.shown import counted
from proctor.verdict import Verdict
from proctor.version import __version__

CALL = 16
"""Completions that are sent in one call to shared actors at most: a call costs both ends about a
millisecond of CPU."""
TRIES = 3
"""Times that the hub of shared actors may be lost during a call, before the call is given up."""


def _grader(options: Mapping[str, Any]) -> CompletionGrader:
    """Return a grader without judges. Raises SettingsError, InputError."""
    if unfit := {"on", "pool"} & options.keys():
        raise SettingsError(f"{', '.join(unfit)}: reward actors have pools of their own")
    try:
        return CompletionGrader(**options)
    except TypeError as error:
        raise SettingsError(f"reward actors: {error}") from error


class RewardActors:
    """Actors that completions are graded in. Close it, or use `with`."""

    def __init__(
        self,
        n: int,
        cpus: int = 1,
        address: str | None = None,
        *,
        pool: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        """Start `n` actors, wherever Ray finds room; each takes `cpus` CPUs and has as many cells.

        `address` is that of RayCluster, `pool` arguments of proctor.open_pool there, and `options`
        are fields of CompletionGrader. Raises UsageError.
        """
        grader = _grader(options)
        self._cluster = RayCluster(address, actors=n, cpus=cpus, **(pool or {}))
        self._grader = replace(grader, on=self._cluster)

    @staticmethod
    def shared(
        n: int,
        cpus: int = 1,
        address: str | None = None,
        *,
        name: str = "rewards",
        detached: bool = False,
        pool: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> SharedRewardActors:
        """Return actors that are shared by all processes of a cluster that request the same.

        The first of these processes that scores starts them; they end with it or, if `detached`,
        when close() is called. Raises SettingsError, InputError.
        """
        _grader(options)
        if n < 1 or cpus < 1:
            raise SettingsError(f"there must be at least 1 actor with 1 CPU, not {n} with {cpus}")
        given = (n, cpus, dict(sorted((pool or {}).items())), dict(sorted(options.items())))
        return SharedRewardActors(name, given, address, detached)

    async def score(
        self, rows: Sequence[Mapping[str, Any]], completions: Sequence[Any]
    ) -> list[GradedCompletion]:
        """Return the reward of each completion, by the tests of its row; see rows.task_of.

        For any event loop, any number of batches at once, of any size. Raises InputError if there
        are not as many rows, PlatformError for what makes every reward impossible, such as a
        compiler that no node has.
        """
        _check(rows, completions)
        grading = self._grader.grade_async(rows, completions)
        return await asyncio.wrap_future(loop_thread.get().begin(grading))

    @property
    def at_once(self) -> int:
        """Completions to have under way at once, to keep all cells busy."""
        return self._cluster.at_once

    def nodes(self) -> list[NodeState]:
        """Return the actors, once it is known of each whether it can judge."""
        return self._cluster.nodes()

    def close(self) -> None:
        """End the actors; the rewards of what is under way are masked."""
        self._cluster.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


_Graded = tuple[float | None, Verdict, str]
"""Fields of a GradedCompletion, as they travel."""


class Grades(NamedTuple):
    """Answer of a hub."""

    at_once: int
    """RewardActors.at_once."""
    found: list[_Graded]
    """In the order of the rows."""
    error: bytes
    """ProblemDetails as MessagePack, if there are no grades; else empty."""


class RewardHub:
    """Actor that owns RewardActors for other processes. With asyncio: calls run side by side."""

    def __init__(
        self, n: int, cpus: int, pool: Mapping[str, Any], options: Mapping[str, Any]
    ) -> None:
        self._actors = RewardActors(n, cpus, pool=pool, **options)

    async def score(self, rows: list[Mapping[str, Any]], completions: list[Any]) -> Grades:
        """Score."""
        try:
            made = await self._actors.score(rows, completions)
        except ProctorError as error:
            return Grades(self._actors.at_once, [], packed_error(error))
        found = [(each.reward, Verdict(each.verdict), each.message) for each in made]
        return Grades(self._actors.at_once, found, b"")


_opening = threading.Lock()
_hubs: dict[tuple[str, str], Any] = {}
"""Hubs that this process uses, one handle each, by the cluster and their names."""


@dataclass(slots=True)
class SharedRewardActors:
    """Handle of actors that processes share. It may be sent to others, by pickle too."""

    name: str
    given: tuple[int, int, dict[str, Any], dict[str, Any]]
    """Arguments of RewardActors: n, cpus, pool, options."""
    address: str | None = None
    """Address as for RayCluster; only for a process that is not connected yet."""
    detached: bool = False
    _hub: Any = field(default=None, init=False, repr=False, compare=False)
    _lost: Any = field(default=None, init=False, repr=False, compare=False)
    """Latest handle of a hub that was lost or closed."""
    _calls: int = field(default=2, init=False, repr=False, compare=False)
    """Calls of CALL completions that keep the actors busy."""

    async def score(
        self, rows: Sequence[Mapping[str, Any]], completions: Sequence[Any]
    ) -> list[GradedCompletion]:
        """Return the reward of each completion, as RewardActors.score does."""
        _check(rows, completions)
        parts = await graded(self._score, lambda: self._calls, _parts(rows), _parts(completions))
        return [each for part in parts for each in part]

    def close(self) -> None:
        """End the actors, for all who share them."""
        connection.connect(self.address)
        connection.kill_named_actor(self._full_name)
        self._hub, self._lost = None, self._hub

    async def _score(
        self, rows: Sequence[Mapping[str, Any]], completions: Sequence[Any]
    ) -> list[GradedCompletion]:
        lost: Exception | None = None
        for _ in range(TRIES):
            hub = self._hub or await asyncio.to_thread(self._opened)
            try:
                answer = await hub.score.remote(list(rows), list(completions))
            except connection.Raised:
                raise
            except connection.Broken as broken:
                self._hub, self._lost, lost = None, hub, broken
                continue
            return self._read(answer, len(rows))
        why = f"the reward actors were lost {TRIES} times: {lost}"
        return [GradedCompletion(None, Verdict.INFRA_FAULT, why)] * len(rows)

    def _read(self, answer: object, rows: int) -> list[GradedCompletion]:
        """Return the grades that a hub answers, of so many rows. Raises what it answers instead.

        Any job of the cluster can start an actor of this name: a grade that no hub gives is none.
        """
        who = f"the actor {self._full_name}"
        at_once, found, error = read_answer(answer, Grades, who)
        if error:
            raise unpacked_error(error, who)
        if len(found) != rows or not all(map(_is_grade, found)):
            raise no_answer(who, ValueError(f"{len(found)} grades for {counted(rows, 'row')}"))
        self._calls = max(2, at_once // CALL)
        return [GradedCompletion(reward, str(verdict), why) for reward, verdict, why in found]

    def _opened(self) -> Any:
        """Return the hub, which is lost with the first handle of the process that started it.

        Raises UsageError if no cluster is there.
        """
        connection.connect(self.address)
        with _opening:
            known = connection.session(), self._full_name
            if known not in _hubs or _hubs[known] is self._lost:
                _hubs[known] = connection.named_actor(
                    RewardHub, self._full_name, *self.given, detached=self.detached
                )
            self._hub = _hubs[known]
        return self._hub

    @property
    def _full_name(self) -> str:
        """Name that is shared only by handles of the same version, arguments and lifetime."""
        told = repr((__version__, self.given, self.detached)).encode()
        return f"{self.name}-{hashlib.sha256(told).hexdigest()[:12]}"

    def __reduce__(self) -> tuple[Any, ...]:
        return SharedRewardActors, (self.name, self.given, self.address, self.detached)


def _check(rows: Sequence[Any], completions: Sequence[Any]) -> None:
    if len(rows) != len(completions):
        given = counted(len(completions), "completion")
        raise InputError(f"there are {counted(len(rows), 'row')} for {given}")


def _is_grade(grade: _Graded) -> bool:
    reward, verdict, _ = grade
    return math.isfinite(reward or 0.0) and (reward is None) == verdict.is_fault


def _parts(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (items[begin : begin + CALL] for begin in range(0, len(items), CALL))
