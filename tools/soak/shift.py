"""One shift of a worker: a pool of cells is opened, worked, harmed and closed; then a census."""

import contextlib
import os
import queue
import signal
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass, field
from random import Random

import census
from faults import Faults
from jobs import CLOSED, INFRA, Job, choose
from programs import Case
from watched import Watched

from proctor import Pool, Strength
from proctor.judging.judge import judge_many
from proctor.sandbox.backend import CellSetup
from proctor.sandbox.choice import policy

HANG = 240.0
"""Seconds without any job ending after which a shift is given up."""
_TRIES = 100
"""How often a job is begun again whose cells were harmed each time."""
_FAULTS_EVERY = 0.15
_BACK_OFF = 0.05
_FEW = 2
"""Cells of the pools that are closed and interrupted."""


@dataclass(slots=True)
class Tally:
    """What a shift saw. Plain data, for it travels as JSON."""

    jobs: int = 0
    seconds: float = 0.0
    cells: int = 0
    """Opened in all."""
    verdicts: dict[str, int] = field(default_factory=dict)
    faults: dict[str, int] = field(default_factory=dict)
    retried: int = 0
    """Jobs that ended as INFRA_FAULT, after the pool's own second try, and were begun again."""
    wrong: list[str] = field(default_factory=list)
    """Verdicts that are not the known ones."""
    broken: list[str] = field(default_factory=list)
    """Other ways in which a promise was not kept."""
    left: list[str] = field(default_factory=list)
    resident: int = 0
    descriptors: int = 0

    def count(self, verdict: str) -> None:
        self.verdicts[verdict] = self.verdicts.get(verdict, 0) + 1


@dataclass(frozen=True, slots=True)
class Order:
    """What a worker is told to do."""

    level: str
    seed: str
    seconds: float
    cells: int
    harm: bool
    """Whether faults are injected."""


class Shift:
    """Works one order."""

    def __init__(self, order: Order, cases: list[Case]) -> None:
        self.tally = Tally()
        self._order, self._cases = order, cases
        self._rng = Random(order.seed)
        choice = policy.choose(order.level)
        self._watched = Watched(choice.backend)
        self._setup = CellSetup(choice.interpreter)
        self._ended: queue.SimpleQueue[tuple[Job, Future[str]]] = queue.SimpleQueue()
        self._begun: dict[int, tuple[int, int]] = {}
        """Of a job under way: faults that were over when it began, and tries."""
        self._memory = Strength.FULL

    def work(self) -> Tally:
        """Do all of it; what went wrong is in the tally."""
        tally, watched = self.tally, self._watched
        before, mounts = census.size(), census.mounts()
        started = time.monotonic()
        harm = Faults(watched, Random(self._order.seed + "/faults"), _FAULTS_EVERY)
        with contextlib.ExitStack() as stack:
            pool = stack.enter_context(Pool(watched, self._setup, self._order.cells))
            self._memory = pool.submit(_memory).result()
            if self._order.harm:
                stack.enter_context(harm)
            self._stream(pool, harm)
        tally.seconds = time.monotonic() - started
        if self._order.harm:
            self._close_early()
            self._interrupt()
        tally.faults |= harm.counts
        tally.cells = watched.opened
        tally.broken += [f"a cell with other guarantees: {each}" for each in watched.weaker]
        tally.left += census.leftovers(watched.users)
        tally.left += census.files(watched.users)
        tally.left += [f"mount {line}" for line in census.mounts() - mounts]
        after = census.size()
        if after.descriptors != before.descriptors:
            tally.left.append(f"{after.descriptors - before.descriptors:+} descriptors")
        if after.threads != before.threads:
            tally.left.append(f"{after.threads - before.threads:+} threads")
        tally.resident, tally.descriptors = after.resident, after.descriptors
        return tally

    def _stream(self, pool: Pool, harm: Faults) -> None:
        """Keep the pool busy and harmed until the time is up, then let it finish in peace."""
        until = time.monotonic() + self._order.seconds
        under_way = 0
        while True:
            while under_way < 3 * self._order.cells and time.monotonic() < until:
                self._begin(choose(self._cases, self._rng), pool, harm, tries=0)
                under_way += 1
            if self._order.harm and time.monotonic() >= until:
                harm.stop()  # or long jobs would never end
            if not under_way:
                return
            try:
                job, future = self._ended.get(timeout=HANG)
            except queue.Empty:
                self.tally.broken.append(f"{under_way} jobs did not end within {HANG:.0f} s")
                return
            under_way -= 1
            faults, tries = self._begun.pop(id(job))
            told = self._told(job, future)
            if told is None:
                continue
            if told.startswith(INFRA) and harm.total > faults and tries < _TRIES:
                self.tally.retried += 1
                time.sleep(_BACK_OFF)  # as callers do; the cause may last a while
                self._begin(job, pool, harm, tries + 1)
                under_way += 1
                continue
            self._note(job, told)

    def _begin(self, job: Job, pool: Pool, harm: Faults, tries: int) -> None:
        # A fault that is going on counts as a later one: this job may meet it.
        self._begun[id(job)] = (harm.total - harm.active, tries)
        job.start(pool, lambda job, future: self._ended.put((job, future)))

    def _told(self, job: Job, future: Future[str]) -> str | None:
        error = future.exception()
        if error is None:
            told = future.result()
            if "internal error" not in told:
                return told
            error = RuntimeError(told)
        self.tally.broken.append(f"{job.case.name} ({job.way}): {error!r}")
        return None

    def _note(self, job: Job, told: str) -> None:
        self.tally.jobs += 1
        self.tally.count(told.partition(":")[0])
        if not job.is_right(told, self._memory):
            self.tally.wrong.append(f"{job.case.name} ({job.way}): {told}, not {job.expected}")

    def _close_early(self) -> None:
        """Close a pool with work in flight: all of it ends, as it should or with PoolClosed."""
        number = 3 * _FEW
        with Pool(self._watched, self._setup, _FEW) as pool:
            for _ in range(number):
                job = choose(self._cases, self._rng)
                job.start(pool, lambda job, future: self._ended.put((job, future)))
            threading.Event().wait(self._rng.uniform(0.0, 0.6))
        self.tally.faults["pool closed"] = 1
        for _ in range(number):
            try:
                job, future = self._ended.get(timeout=HANG)
            except queue.Empty:
                self.tally.broken.append("a job of a closed pool did not end")
                return
            told = self._told(job, future)
            if told == CLOSED:
                self.tally.count(CLOSED)
            elif told is not None:
                self._note(job, told)

    def _interrupt(self) -> None:
        """Press Ctrl-C while judging, at some moment."""
        over = threading.Event()
        delay = self._rng.uniform(0.1, 0.8)

        def press() -> None:
            if not over.wait(delay):
                os.kill(os.getpid(), signal.SIGINT)

        cases = [case for case in self._cases if case.limits.wall is None][:8]
        pool = Pool(self._watched, self._setup, _FEW)
        finger = threading.Thread(target=press)
        finger.start()
        try:
            while True:
                pairs = [(case.problem, case.source) for case in cases]
                for judged in judge_many(pairs, settings=cases[0].settings("fast"), pool=pool):
                    job = Job(cases[judged.index], "fast")
                    self._note(job, str(judged.judgement.verdict))
        except KeyboardInterrupt:
            self.tally.faults["interrupt"] = 1
        over.set()
        finger.join()
        pool.close()


def _memory(cell: object, _queued: float) -> Strength:
    return cell.isolation.guarantees["memory"].strength  # type: ignore[attr-defined,no-any-return]
