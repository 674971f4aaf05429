"""Judging on the nodes of a Ray cluster, as Judges.

On each node one actor owns a pool of cells. Nodes that join are used, work under way on a lost node
is given out again (judging/dispatch.py), and a node that cannot judge is left out, with the reason.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Any

from proctor.clients.remote_judges import RemoteJudges, agreed_version
from proctor.errors import PoolClosed, Unreachable, UsageError
from proctor.integrations.ray import connection
from proctor.integrations.ray.connection import RayNode
from proctor.integrations.ray.node import NodeFacts
from proctor.integrations.ray.seat import NodeSeat, Seating
from proctor.judging.speed import Speed

LOOK_EVERY = 1.0
"""Seconds between two looks at which nodes there are."""
PATIENCE = 300.0
"""Seconds without a node that judges after which waiting judgements fail."""
OPENING = 60.0
"""Seconds that `nodes` and `version_of` wait for nodes whose CPUs others hold."""


@dataclass(frozen=True, slots=True)
class NodeState:
    """A node, and how it is used."""

    name: str
    """`node` and the beginning of Ray's id of it; `actor` and a number if `actors` was given."""
    facts: NodeFacts | None
    """None if its pool is not open."""
    refused: str
    """Reason why it does not judge, with the remedy; empty if it does, or waits for its CPUs."""
    judged: int


class RayCluster(RemoteJudges):
    """Judges on all nodes of a Ray cluster, for `on=` of `judge_many`. Close it, or use `with`.

    Problems and programs travel as bytes, problems once to each
    node. Judgements carry their node's id and CPU model.
    """

    what = "cluster"

    def __init__(
        self,
        address: str | None = None,
        *,
        cpus: int | None = None,
        actors: int | None = None,
        normalise_cpu: Speed | None = None,
        **pool: Any,
    ) -> None:
        """Connect; nodes open their pools meanwhile.

        `address` is as for ray.init; None: RAY_ADDRESS, or the cluster that runs on this machine.
        There is an actor on each node, or, if `actors` is given, that many where Ray finds room;
        each takes `cpus` CPUs and has as many cells: by default all that its node has, or 1.
        `normalise_cpu` is the speed of a machine whose CPU limits are to hold on all. `pool` are
        further arguments of proctor.open_pool, whose paths are those of the nodes. Raises
        UsageError.
        """
        for name, number in (("cpus", cpus), ("actors", actors)):
            if number is not None and number < 1:
                raise UsageError(f"{name} must be at least 1, not {number}")
        self._ours = connection.connect(address)
        super().__init__(connection.put)
        speed = None if normalise_cpu is None else str(normalise_cpu)
        self._seating = Seating(self._dispatcher, cpus, pool, speed, self._wake_all)
        self._actors = actors
        self._seats: dict[str, NodeSeat] = {}
        self._looked = False
        self._used = time.monotonic()
        """Latest time when a node judged or nothing waited, by the monotonic clock."""
        self._watching = self._thread.wait(self._begin())

    def nodes(self) -> list[NodeState]:
        """Return all nodes, once it is known of each whether it can judge."""
        self._thread.wait(self._settled())
        return [
            NodeState(seat.name, seat.facts, seat.refused, seat.judged)
            for seat in self._seats.values()
        ]

    def speeds(self) -> dict[str, str]:
        """Measure how fast each node is; returns Speed as text by the name of the node."""
        self._thread.wait(self._settled())
        return self._thread.wait(self._speeds())

    def surroundings(self) -> tuple[str, ...]:
        """Return what verdicts depend on, once for each kind of node."""
        return self._thread.wait(self._surroundings())

    def close(self) -> None:
        """End all actors and cells; judgements that wait or are under way raise PoolClosed."""
        if self._closed:
            return
        super().close()
        if self._ours:
            connection.disconnect()

    def _wake_all(self) -> None:
        for seat in self._seats.values():
            seat.wake.set()

    async def _begin(self) -> asyncio.Task[None]:
        watching = asyncio.create_task(self._watch())
        watching.add_done_callback(self._note_end)
        return watching

    async def _watch(self) -> None:
        """Give each new node a seat; fail waiting judgements if no node judges."""
        serving: dict[str, asyncio.Task[None]] = {}
        try:
            while True:
                wanted = await self._wanted()
                for name in [each for each in wanted if each not in self._seats]:
                    seat = self._seats[name] = NodeSeat(name, wanted[name], self._seating)
                    serving[name] = asyncio.create_task(seat.serve())
                for name in self._seats.keys() - wanted.keys():
                    if serving[name].done():
                        del self._seats[name], serving[name]
                self._looked = True
                self._give_up_if_hopeless()
                self._wake_all()  # a judgement may be late by now, which another node may take
                for task in serving.values():
                    if task.done():
                        task.result()
                await asyncio.sleep(LOOK_EVERY)
        finally:
            for task in serving.values():
                task.cancel()
            await asyncio.gather(*serving.values(), return_exceptions=True)

    async def _wanted(self) -> dict[str, RayNode | None]:
        """Return the seats that there should be, by name."""
        if self._actors is not None:
            return {f"actor {number}": None for number in range(self._actors)}
        alive = await asyncio.to_thread(connection.alive_nodes)
        return {f"node {each.id[:12]}": each for each in alive.values()}

    def _give_up_if_hopeless(self) -> None:
        now, seats = time.monotonic(), self._seats.values()
        if self._dispatcher.sites or not self._dispatcher.waiting:
            self._used = now
        all_refused = bool(seats) and all(seat.refused for seat in seats)
        if self._dispatcher.waiting and (all_refused or now - self._used > PATIENCE):
            self._dispatcher.fail_all(self._nobody())

    def _nobody(self) -> Unreachable:
        refused = [f"{seat}: {seat.refused}" for seat in self._seats.values() if seat.refused]
        why = "; ".join(refused) or "there is none with free CPUs"
        return Unreachable(f"no node of the cluster judges; {why}")

    async def _settled(self) -> None:
        until = time.monotonic() + OPENING
        while time.monotonic() < until and not self._watching.done():
            if self._looked and all(seat.settled for seat in self._seats.values()):
                break
            await asyncio.sleep(LOOK_EVERY / 10)

    async def _speeds(self) -> dict[str, str]:
        seats = list(self._seats.values())
        found = await asyncio.gather(*(seat.speed() for seat in seats))
        return {seat.name: speed for seat, speed in zip(seats, found, strict=True)}

    async def _versions(self, language: str) -> str:
        await self._settled()
        asked = [seat.version_of(language) for seat in self._seats.values()]
        return await agreed_version(asked, self._nobody)

    async def _surroundings(self) -> tuple[str, ...]:
        await self._settled()
        seats = [seat for seat in self._seats.values() if not seat.refused]
        found = {"" if seat.facts is None else seat.facts.surroundings for seat in seats}
        return () if "" in found else tuple(sorted(found))

    def _note_end(self, watching: asyncio.Task[None]) -> None:
        failed = None if watching.cancelled() else watching.exception()
        self._end_all(
            PoolClosed("the cluster was closed")
            if failed is None
            else Unreachable(f"the cluster is no longer to be reached: {failed!r}")
        )

    async def _end(self) -> None:
        self._watching.cancel()
        await asyncio.gather(self._watching, return_exceptions=True)
