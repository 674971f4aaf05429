"""Nodes as the real actor runs them (integrations/ray/node.py), and the network to them."""

from __future__ import annotations

import random
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from proctor.judging.dispatch import PendingJudgement
from proctor.judging.remote import KEPT
from simulation.events import Events
from simulation.figures import Figures
from simulation.workload import Workload


@dataclass(frozen=True, slots=True)
class Wires:
    """The network: bytes per second of each machine in each direction, seconds of one way."""

    bandwidth: float = 1.25e9
    latency: float = 0.0005


@dataclass(slots=True, eq=False)
class Port:
    """A machine's connection: times from which it is free to send, and to receive."""

    sends: float = 0.0
    receives: float = 0.0

    def taken(self, now: float, seconds: float, *, sends: bool) -> float:
        """Use the connection, after all that uses it already; returns when that ends."""
        if sends:
            self.sends = end = max(now, self.sends) + seconds
        else:
            self.receives = end = max(now, self.receives) + seconds
        return end


@dataclass(slots=True, eq=False)
class Machine:
    """A machine's connections: messages do not wait for problems."""

    messages: Port = field(default_factory=Port)
    problems: Port = field(default_factory=Port)


class Network:
    """Messages and problems between machines; what one sends or receives at once queues up.

    A problem comes from any machine that has it, as from Ray's object store, the driver first.
    """

    def __init__(
        self, wires: Wires, events: Events, figures: Figures, chance: random.Random
    ) -> None:
        self.driver = Machine()
        self._wires, self._events, self._figures, self._chance = wires, events, figures, chance
        self._holders: dict[int, list[Machine]] = {}

    def send(self, source: Machine, target: Machine, size: float, then: Callable[[], None]) -> None:
        """Send a message."""
        self._sent(source.messages, target.messages, size, then)

    def fetch(self, problem: int, size: float, target: Machine) -> float:
        """Bring a problem to a machine; returns when it will be there."""
        holders = self._holders[problem]
        source = self._chance.choice(holders)
        self._figures.sent += size
        return self._sent(source.problems, target.problems, size, lambda: holders.append(target))

    def put(self, problem: int) -> None:
        """Have a problem come from the driver at first; packed anew, it is another object."""
        self._holders[problem] = [self.driver]

    def forget(self, machine: Machine) -> None:
        """Have nothing come from a machine any more."""
        for holders in self._holders.values():
            if machine in holders:
                holders.remove(machine)

    def _sent(self, source: Port, target: Port, size: float, then: Callable[[], None]) -> float:
        now, seconds = self._events.now, size / self._wires.bandwidth
        ends = source.taken(now, seconds, sends=True), target.taken(now, seconds, sends=False)
        there = max(ends) + self._wires.latency
        self._figures.flight.add(size)
        self._events.at(there, self._arrived, size, then)
        return there

    def _arrived(self, size: float, then: Callable[[], None]) -> None:
        self._figures.flight.add(-size)
        then()


@dataclass(slots=True, eq=False)
class Answered:
    """One answer on its way to the driver."""

    id: int
    begun: float
    """Time when a cell began it."""


@dataclass(slots=True, eq=False)
class Node:
    """A node: cells that take judgements in order, and answers that wait for others."""

    cells: int
    slowness: float
    gather: float
    """Seconds that an answer waits for others at most."""
    work: Workload
    events: Events
    figures: Figures
    network: Network
    died: Callable[[Node], None]
    machine: Machine = field(default_factory=Machine)
    silent: bool = False
    """True if nothing comes from it any more: it is dead, or has stalled."""
    joined: float = 0.0
    left: float | None = None
    running: dict[int, float] = field(default_factory=dict)
    """Time when a cell began each judgement that is in one, by id."""
    _queue: deque[PendingJudgement] = field(default_factory=deque)
    _answers: list[Answered] = field(default_factory=list)
    _under_way: int = 0
    _enough: int = 1
    _hand_over: Callable[[list[Answered]], None] | None = None
    """Takes the answers that were asked for; None if none were."""
    _due: bool = False
    _kept: OrderedDict[int, float] = field(default_factory=OrderedDict)
    _size: float = 0.0

    def take(
        self, tasks: Sequence[PendingJudgement], new: Sequence[int], reply: Callable[..., None]
    ) -> None:
        """Begin judgements once their problems are there; reply with the problems forgotten."""
        if self.silent:
            return
        now = self.events.now
        sizes = self.work.sizes
        ready = max(
            (self.network.fetch(each, sizes[each], self.machine) for each in new), default=now
        )
        if ready > now:
            self.events.at(ready, self._take, tasks, new, reply)
        else:
            self._take(tasks, new, reply)

    def _take(
        self, tasks: Sequence[PendingJudgement], new: Sequence[int], reply: Callable[..., None]
    ) -> None:
        if self.silent:
            return
        for each in new:
            self._kept[each] = self.work.sizes[each]
            self._size += self.work.sizes[each]
        self._under_way += len(tasks)
        for task in tasks:
            self._kept.move_to_end(self.work.problem[task.id])
            self._queue.append(task)
        forgotten = []
        while self._size > KEPT and len(self._kept) > 1:
            problem, size = self._kept.popitem(last=False)
            self._size -= size
            forgotten.append(problem)
        self._fill()
        reply(forgotten)

    def _fill(self) -> None:
        while self._queue and len(self.running) < self.cells and not self.silent:
            number = self._queue.popleft().id
            self.running[number] = self.events.now
            seconds = self.work.seconds[number] * self.slowness
            deadly = number in self.work.deadly
            self.events.after(seconds, self._killed if deadly else self._done, number)

    def _killed(self, _number: int) -> None:
        if not self.silent:
            self.died(self)

    def _done(self, number: int) -> None:
        if self.silent:
            return
        self._answers.append(Answered(number, self.running.pop(number)))
        self._under_way -= 1
        if len(self._answers) == 1:
            self.events.after(self.gather, self._look, True)
        self._fill()
        self._look(False)

    def finished(self, enough: int, hand_over: Callable[[list[Answered]], None]) -> None:
        """Hand over the answers made since the last call, once they are due."""
        self._enough, self._hand_over = enough, hand_over
        self._look(False)

    def _look(self, late: bool) -> None:
        enough = len(self._answers) >= self._enough or self._under_way <= self.cells
        if self._answers and (late or enough):
            self._due = True
        if self._due and self._hand_over is not None and not self.silent:
            self._due = False
            answers, self._answers = self._answers, []
            hand_over, self._hand_over = self._hand_over, None
            hand_over(answers)

    def leave(self) -> None:
        """Be gone, or out of reach."""
        self.silent = True
        self.left = self.events.now
        self.network.forget(self.machine)
