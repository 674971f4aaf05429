"""Judgements given out to sites that may be lost: each is answered once, whatever happens.

A judgement that was under way at a site that is lost is given out again, together with few others
that were: it may be what kills sites. One that has been lost twice is a suspect. It is then judged
alone, so that the next loss costs no other judgement, and after TRIES losses it is an INFRA_FAULT.

When nothing waits any more, a site with nothing to do gets a copy of a judgement that has been
under way elsewhere for LATE seconds, so that nobody waits for a site that is slow or has stalled.
The first answer counts.

All of it belongs to one event loop; only the futures are seen by others. `benchmarks/simulate.py`
shows how a change of this module affects a thousand sites.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import chain, islice

from proctor.errors import InfraFault, LevelLacks, NoLanguage, PlatformError, ProctorError
from proctor.judgement import Judgement
from proctor.judging.remote import PackedProblem
from proctor.verdict import Verdict

TRIES = 3
"""Sites that may be lost with a judgement under way before it is given up."""
_SUSPECT = 2
"""Losses from which on a judgement is made alone."""
_QUIET = 4
"""One site in so many, but at least one, may be kept for suspects while other work waits."""
_PATIENCE = 60.0
"""Seconds after which a site kept for suspects that is not empty yet, or still judges one, no
longer counts as kept."""
LATE = 10.0
"""Seconds after which a judgement is made a second time by a site that has nothing else to do."""
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
    given: float = 0.0
    """Time when a site took it, the latest of them."""
    sites: int = 0
    """Number of sites that have it under way."""


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

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` returns the time in seconds, as in the tasks' `queued`."""
        self.sites: set[Site] = set()
        self.times = QueueTimes()
        self.again = 0
        """Judgements that were given out again."""
        self._clock = clock
        self._queues: tuple[deque[PendingJudgement], ...] = (deque(), deque(), deque())
        """Judgements that no site has, by the number of their losses."""
        self._quiet: dict[Site, float] = {}
        """Sites kept for suspects, which take nothing else until they are empty, and since when."""
        self._taken: dict[int, PendingJudgement] = {}
        """Judgements under way that another site may be given too, by id, the latest given last."""

    def add(self, task: PendingJudgement) -> None:
        """Queue a judgement."""
        self._queues[0].append(task)

    @property
    def waiting(self) -> int:
        """Number of judgements that no site has."""
        return sum(map(len, self._queues))

    @property
    def under_way(self) -> int:
        """Number of judgements that sites have, those of two sites twice."""
        return sum(len(site.tasks) for site in self.sites)

    def take(self, site: Site, most: int | None = None) -> list[PendingJudgement]:
        """Return the tasks that a site is to judge next: as many as it has room for, or `most`.

        As the queue runs out a site gets fewer, but never fewer than its cells can use: otherwise
        it would hold a queue while others have nothing. Tasks whose future is cancelled are
        dropped.
        """
        fresh, lost, suspects = self._queues
        if suspects and site not in self._quiet and self._may_be_quiet(site):
            self._quiet[site] = self._clock()
        if site in self._quiet:
            if site.tasks:
                return []
            if suspect := self._next(suspects, site, 1):
                self._quiet[site] = self._clock()
                return self._given(suspect, site)
            del self._quiet[site]
        sites = len(self.sites) or 1
        share = (len(fresh) + len(lost)) // (2 * sites)
        room = min(site.room, max(2 * site.cells, share)) - len(site.tasks)
        room = room if most is None else min(room, most)
        taken: list[PendingJudgement] = []
        if lost:
            few = min(site.cells, 1 + len(lost) // sites)
            few -= sum(task.losses > 0 for task in site.tasks.values())
            taken = self._next(lost, site, min(room, few))
        taken += self._next(fresh, site, room - len(taken))
        if not fresh and not lost and not taken and len(site.tasks) < min(site.cells, site.room):
            taken = self._late(site)
        return self._given(taken, site)

    def _may_be_quiet(self, site: Site) -> bool:
        """Return True if a site may be kept for a suspect.

        While nothing else waits it must be empty already; otherwise it may become empty first,
        unless enough sites are kept.
        """
        fresh, lost, suspects = self._queues
        if not fresh and not lost:
            return not site.tasks
        since = self._clock() - _PATIENCE
        quiet = sum(begin > since for begin in self._quiet.values())
        return quiet < min(len(suspects), max(1, len(self.sites) // _QUIET))

    def _next(
        self, queue: deque[PendingJudgement], site: Site, room: int
    ) -> list[PendingJudgement]:
        taken: list[PendingJudgement] = []
        others: list[PendingJudgement] = []
        while queue and len(taken) < room:
            task = queue.popleft()
            if site.name in task.lacking:
                others.append(task)
            elif task.future.running() or task.future.set_running_or_notify_cancel():
                taken.append(task)
        queue.extendleft(reversed(others))
        return taken

    def _late(self, site: Site) -> list[PendingJudgement]:
        """Return a judgement that was given to its latest site LATE seconds ago, if there is one.

        Each site that has it counts like a loss: after _SUSPECT of them it must be alone here.
        """
        now = self._clock()
        for task in islice(self._taken.values(), 2 * site.cells):
            if now - task.given < LATE:
                break
            here = task.id in site.tasks or site.name in task.lacking
            alone = task.losses + task.sites >= _SUSPECT
            if not here and not (alone and site.tasks):
                if alone:
                    self._quiet[site] = now
                return [task]
        return []

    def _given(self, tasks: list[PendingJudgement], site: Site) -> list[PendingJudgement]:
        now = self._clock()
        for task in tasks:
            site.tasks[task.id] = task
            if not task.sites:
                self.times.add(now - task.queued)
            task.given, task.sites = now, task.sites + 1
            self._taken.pop(task.id, None)
            if task.losses + task.sites < TRIES:
                self._taken[task.id] = task
        return tasks

    def _had(self, site: Site, identity: int) -> PendingJudgement | None:
        """Take a judgement from a site; return it, or None if it was not there or is done."""
        task = site.tasks.pop(identity, None)
        if task is None:
            return None
        task.sites -= 1
        if not task.sites:
            self._taken.pop(identity, None)
        return None if task.future.done() else task

    def _requeue(self, task: PendingJudgement, *, last: bool = False) -> bool:
        """Queue a task again, before all others or behind them, unless a site still has it."""
        if task.sites:
            return False
        task.queued = self._clock()
        queue = self._queues[min(task.losses, _SUSPECT)]
        (queue.append if last else queue.appendleft)(task)
        return True

    def answered(self, site: Site, identity: int, outcome: Judgement | ProctorError) -> None:
        """Hand over an answer. One from a site lost meanwhile, or a second one, is ignored.

        A task that fails for want of a language is given to another site, if any may have it.
        """
        task = self._had(site, identity)
        if task is None:
            return
        if isinstance(outcome, NoLanguage):
            task.lacking.add(site.name)
            if any(each.name not in task.lacking for each in self.sites):
                self._requeue(task, last=True)
                return
        site.judged += 1
        self._taken.pop(identity, None)
        if isinstance(outcome, ProctorError):
            task.future.set_exception(outcome)
        else:
            task.future.set_result(outcome)

    def returned(self, site: Site, identity: int) -> None:
        """Queue again, before all others, a task that a site has not begun and will not begin."""
        if (task := self._had(site, identity)) is not None:
            self._requeue(task)

    def lost(self, site: Site, why: str, *, blameless: bool = False) -> None:
        """Give out again what was under way at a site that is gone.

        `blameless`: none of the tasks is the cause, as when the node was to be removed anyway.
        """
        self.sites.discard(site)
        self._quiet.pop(site, None)
        self.dropped(site, list(site.tasks), why, blameless=blameless)

    def dropped(
        self, site: Site, identities: Sequence[int], why: str, *, blameless: bool = False
    ) -> None:
        """Give out again some of what was under way at a site, as if it were gone."""
        for identity in reversed(identities):
            task = self._had(site, identity)
            if task is None:
                continue
            task.losses += not blameless
            if task.losses >= TRIES and not task.sites:
                _give_up(task, why)
            else:
                self.again += self._requeue(task)

    def fail_all(self, error: ProctorError) -> None:
        """Let everything that waits or is under way raise an error."""
        tasks = list(chain(*self._queues))
        for queue in self._queues:
            queue.clear()
        for site in self.sites:
            tasks += site.tasks.values()
            site.tasks = {}
        self._taken.clear()
        for task in tasks:
            if task.future.done():
                continue
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
