"""Judgements given out to sites that may be lost: each is answered once, whatever happens.

A judgement that was under way where a site is lost is given out again. One that has been so
twice is a suspect: it may be what kills sites. It is then judged alone, so that the next loss
costs no other judgement, and after TRIES losses it is an INFRA_FAULT. Nothing is ever under way at
two sites, so a slow site delays its judgements but doubles none.

All of it belongs to one event loop; only the futures are seen by others.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from proctor.errors import InfraFault, LevelLacks, NoLanguage, PlatformError, ProctorError
from proctor.judgement import Judgement
from proctor.judging.remote import PackedProblem
from proctor.verdict import Verdict

TRIES = 3
"""Sites that may be lost with a judgement under way before it is given up."""
_SUSPECT = 2
"""Losses from which on a judgement is made alone."""
_logger = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class PendingJudgement:
    """One judgement to be made."""

    id: int
    problem: PackedProblem
    payload: bytes
    """Program, settings and subtasks, packed."""
    future: Future[Judgement]
    losses: int = 0
    lacking: set[str] = field(default_factory=set)
    """Names of sites that lack the program's language."""
    queued: float = field(default_factory=time.monotonic)


@dataclass(slots=True, eq=False)
class Site:
    """A taker of several judgements at once: the pool of a node, a server."""

    name: str
    cells: int
    room: int
    """Judgements that it is to have at once, those that wait for its cells included."""
    tasks: dict[int, PendingJudgement] = field(default_factory=dict)
    """Judgements under way, by id."""
    problems: set[str] = field(default_factory=set)
    """Digests of the problems that it has."""
    judged: int = 0


@dataclass(slots=True)
class QueueTimes:
    """How long judgements have waited until a site took them, in seconds."""

    count: int = 0
    total: float = 0.0
    longest: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one."""
        self.count += 1
        self.total += seconds
        self.longest = max(self.longest, seconds)


class Dispatcher:
    """The queue, and the sites that it is given out to."""

    def __init__(self) -> None:
        self.sites: set[Site] = set()
        self.times = QueueTimes()
        self.again = 0
        """Judgements that were given out again."""
        self._waiting: deque[PendingJudgement] = deque()
        self._suspects: deque[PendingJudgement] = deque()
        self._quiet: Site | None = None
        """Site that takes nothing new until it is empty, for suspects."""

    def add(self, task: PendingJudgement) -> None:
        """Queue a judgement."""
        self._waiting.append(task)

    @property
    def waiting(self) -> int:
        """Number of judgements that no site has."""
        return len(self._waiting) + len(self._suspects)

    @property
    def under_way(self) -> int:
        """Number of judgements that sites have."""
        return sum(len(site.tasks) for site in self.sites)

    def take(self, site: Site, most: int | None = None) -> list[PendingJudgement]:
        """Return what a site is to judge next, as much as it has room for, or `most`.

        As the queue runs out a site gets less, but never less than its cells can use: else one
        would have a queue of its own while others have nothing. Tasks whose future is cancelled are
        dropped.
        """
        if self._suspects and self._quiet is None:
            self._quiet = site
        if self._quiet is site:
            if site.tasks:
                return []
            if self._suspects:
                return self._given([self._suspects.popleft()], site)
            self._quiet = None
        share = len(self._waiting) // (2 * len(self.sites) or 1)
        room = min(site.room, max(2 * site.cells, share)) - len(site.tasks)
        return self._given(self._next(site, room if most is None else min(room, most)), site)

    def _next(self, site: Site, room: int) -> list[PendingJudgement]:
        taken: list[PendingJudgement] = []
        others: list[PendingJudgement] = []
        while self._waiting and len(taken) < room:
            task = self._waiting.popleft()
            if site.name in task.lacking:
                others.append(task)
            elif task.future.running() or task.future.set_running_or_notify_cancel():
                taken.append(task)
        self._waiting.extendleft(reversed(others))
        return taken

    def _given(self, tasks: list[PendingJudgement], site: Site) -> list[PendingJudgement]:
        now = time.monotonic()
        for task in tasks:
            site.tasks[task.id] = task
            self.times.add(now - task.queued)
        return tasks

    def answered(self, site: Site, identity: int, outcome: Judgement | ProctorError) -> None:
        """Hand over an answer. One from a site that was lost meanwhile, or a second, is nothing.

        What fails for want of a language is given to another site, if any may have it.
        """
        task = site.tasks.pop(identity, None)
        if task is None:
            return
        if isinstance(outcome, NoLanguage):
            task.lacking.add(site.name)
            if any(each.name not in task.lacking for each in self.sites):
                task.queued = time.monotonic()
                self._waiting.append(task)
                return
        site.judged += 1
        if isinstance(outcome, ProctorError):
            task.future.set_exception(outcome)
        else:
            task.future.set_result(outcome)

    def returned(self, site: Site, identity: int) -> None:
        """Queue again, before all others, what a site has not begun and will not."""
        if (task := site.tasks.pop(identity, None)) is not None:
            task.queued = time.monotonic()
            (self._suspects if task.losses >= _SUSPECT else self._waiting).appendleft(task)

    def lost(self, site: Site, why: str, *, blameless: bool = False) -> None:
        """Give out again what was under way at a site that is gone.

        `blameless`: it is known that none of it is the cause, as when a node was to go anyway.
        """
        self.sites.discard(site)
        if self._quiet is site:
            self._quiet = None
        self.dropped(site, list(site.tasks), why, blameless=blameless)

    def dropped(
        self, site: Site, identities: Sequence[int], why: str, *, blameless: bool = False
    ) -> None:
        """Give out again some of what was under way at a site, as if it were gone."""
        for identity in reversed(identities):
            task = site.tasks.pop(identity)
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
        for site in self.sites:
            tasks += site.tasks.values()
            site.tasks = {}
        for task in tasks:
            if task.future.running() or task.future.set_running_or_notify_cancel():
                task.future.set_exception(error)


def blames_the_site(outcome: Judgement | ProctorError) -> bool:
    """Return True for an error that is about the site, and may not be met at another."""
    about_the_program = (NoLanguage, LevelLacks)
    return isinstance(outcome, InfraFault | PlatformError) and not isinstance(
        outcome, about_the_program
    )


def _give_up(task: PendingJudgement, why: str) -> None:
    message = f"{task.losses} machines were lost while they judged this; the last: {why}"
    _logger.warning("a judgement was given up: %s", message)
    task.future.set_result(Judgement(Verdict.INFRA_FAULT, 0.0, (), message))
