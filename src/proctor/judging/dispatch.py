"""Judgements given out to places that may be lost: each is answered once, whatever happens.

A judgement that was under way where a place is lost is given out again. One that has been so
twice is a suspect: it may be what kills places. It is then judged alone, so that the next loss
costs no other judgement, and after TRIES losses it is an INFRA_FAULT. Nothing is ever under way at
two places, so a slow place delays its judgements but doubles none.

All of it belongs to one event loop; only the futures are seen by others.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field

from proctor.errors import NoLanguage, ProctorError
from proctor.judgement import Judgement
from proctor.judging.remote import PackedProblem
from proctor.verdict import Verdict

TRIES = 3
"""Places that may be lost with a judgement under way before it is given up."""
_SUSPECT = 2
"""Losses from which on a judgement is made alone."""
_logger = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Task:
    """One judgement to be made."""

    id: int
    problem: PackedProblem
    payload: bytes
    """Program, settings and subtasks, packed."""
    future: Future[Judgement]
    losses: int = 0
    lacking: set[str] = field(default_factory=set)
    """Names of places that lack the program's language."""
    queued: float = field(default_factory=time.monotonic)


@dataclass(slots=True, eq=False)
class Place:
    """Whatever takes several judgements at once: a node's pool, a server."""

    name: str
    cells: int
    room: int
    """Judgements that it is to have at once, those that wait for its cells included."""
    tasks: dict[int, Task] = field(default_factory=dict)
    """Judgements under way, by id."""
    problems: set[str] = field(default_factory=set)
    """Digests of the problems that it has."""
    judged: int = 0


@dataclass(slots=True)
class QueueTimes:
    """How long judgements have waited until a place took them, in seconds."""

    count: int = 0
    total: float = 0.0
    longest: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one."""
        self.count += 1
        self.total += seconds
        self.longest = max(self.longest, seconds)


class Dispatcher:
    """The queue, and the places that it is given out to."""

    def __init__(self) -> None:
        self.places: set[Place] = set()
        self.times = QueueTimes()
        self.again = 0
        """Judgements that were given out again."""
        self._waiting: deque[Task] = deque()
        self._suspects: deque[Task] = deque()
        self._quiet: Place | None = None
        """Place that takes nothing new until it is empty, for suspects."""

    def add(self, task: Task) -> None:
        """Queue a judgement."""
        self._waiting.append(task)

    @property
    def waiting(self) -> int:
        """Number of judgements that no place has."""
        return len(self._waiting) + len(self._suspects)

    @property
    def under_way(self) -> int:
        """Number of judgements that places have."""
        return sum(len(place.tasks) for place in self.places)

    def take(self, place: Place) -> list[Task]:
        """Return what a place is to judge next, as much as it has room for.

        As the queue runs out a place gets less, but never less than its cells can use: else one
        would have a queue of its own while others have nothing. Tasks whose future is cancelled are
        dropped.
        """
        if self._suspects and self._quiet is None:
            self._quiet = place
        if self._quiet is place:
            if place.tasks:
                return []
            if self._suspects:
                return self._given([self._suspects.popleft()], place)
            self._quiet = None
        share = len(self._waiting) // (2 * len(self.places) or 1)
        room = min(place.room, max(2 * place.cells, share)) - len(place.tasks)
        return self._given(self._next(place, room), place)

    def _next(self, place: Place, room: int) -> list[Task]:
        taken: list[Task] = []
        others: list[Task] = []
        while self._waiting and len(taken) < room:
            task = self._waiting.popleft()
            if place.name in task.lacking:
                others.append(task)
            elif task.future.running() or task.future.set_running_or_notify_cancel():
                taken.append(task)
        self._waiting.extendleft(reversed(others))
        return taken

    def _given(self, tasks: list[Task], place: Place) -> list[Task]:
        now = time.monotonic()
        for task in tasks:
            place.tasks[task.id] = task
            self.times.add(now - task.queued)
        return tasks

    def answered(self, place: Place, identity: int, outcome: Judgement | ProctorError) -> None:
        """Hand over an answer. One from a place that was lost meanwhile, or a second, is nothing.

        What fails for want of a language is given to another place, if any may have it.
        """
        task = place.tasks.pop(identity, None)
        if task is None:
            return
        if isinstance(outcome, NoLanguage):
            task.lacking.add(place.name)
            if any(each.name not in task.lacking for each in self.places):
                task.queued = time.monotonic()
                self._waiting.append(task)
                return
        place.judged += 1
        if isinstance(outcome, ProctorError):
            task.future.set_exception(outcome)
        else:
            task.future.set_result(outcome)

    def lost(self, place: Place, why: str, *, blameless: bool = False) -> None:
        """Give out again what was under way at a place that is gone.

        `blameless`: it is known that none of it is the cause, as when a node was to go anyway.
        """
        self.places.discard(place)
        if self._quiet is place:
            self._quiet = None
        tasks, place.tasks = list(place.tasks.values()), {}
        for task in reversed(tasks):
            task.losses += not blameless
            task.queued = time.monotonic()
            if task.losses >= TRIES:
                _give_up(task, why)
                continue
            self.again += 1
            if task.losses >= _SUSPECT:
                self._suspects.appendleft(task)
            else:
                self._waiting.appendleft(task)

    def fail_all(self, error: ProctorError) -> None:
        """Let everything that waits or is under way raise an error."""
        tasks = [*self._waiting, *self._suspects]
        self._waiting.clear()
        self._suspects.clear()
        for place in self.places:
            tasks += place.tasks.values()
            place.tasks = {}
        for task in tasks:
            if task.future.running() or task.future.set_running_or_notify_cancel():
                task.future.set_exception(error)


def _give_up(task: Task, why: str) -> None:
    message = f"{task.losses} machines were lost while they judged this; the last: {why}"
    _logger.warning("a judgement was given up: %s", message)
    task.future.set_result(Judgement(Verdict.INFRA_FAULT, 0.0, (), message))
