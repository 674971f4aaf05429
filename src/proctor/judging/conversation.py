"""Programs that interact through pipes, each in a cell of its own."""

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass, replace

from proctor.errors import CellDied, InfraFault
from proctor.execution import LimitHit
from proctor.judging.environment import JudgingEnvironment
from proctor.limits import Limits
from proctor.per_process import PerProcess
from proctor.sandbox.cell import Cell
from proctor.sandbox.clock import Reading
from proctor.sandbox.command import Command, Finished, Streams
from proctor.sandbox.machine import cpus

_PAUSE = 0.1  # seconds between two checks whether a party is idle or done
_AFTER = 5.0  # seconds that a grader may do nothing when the others are gone


@dataclass(slots=True)
class Member:
    """One party: what it executes, its ends of the pipes, its limits."""

    command: Command
    streams: Streams
    limits: Limits
    grader: bool = False
    """True if it is the problem's own program."""
    taken: bool = False
    """True once its cell is responsible for closing its ends of the pipes."""

    def release(self) -> None:
        """Close its ends of the pipes unless its cell will, so that no other party waits for it."""
        if not self.taken:
            self.taken = True
            self.streams.close()


@dataclass(slots=True)
class _Seat:
    """The cell of one party, and what has been measured of it."""

    cell: Cell | None = None
    """The cell in which it runs; None before and after."""
    busy: float = 0.0
    """Seconds in which it has not been idle."""
    noted: float = 0.0
    """Monotonic time at which `busy` was measured."""
    suspected: float | None = None
    """Monotonic time since which it has seemed idle; None if it does not."""


class Interaction:
    """A grader and the processes of a submission, connected by pipes; the grader comes first."""

    def __init__(self, members: Sequence[Member]) -> None:
        self.members = members
        self._seats = [_Seat() for _ in members]
        # All parties share one CPU: mostly one computes while the others wait. A switch costs half
        # of what waking another CPU does, and the same every time.
        self._cpu: int | None = None
        """Number of that CPU, -1 for any; None until all are there."""
        self._changed = threading.Condition()
        self._present = self._gone = 0
        self._failed = False

    def hold(self, environment: JudgingEnvironment) -> list[Finished]:
        """Run all parties at once; return how each ended, in their order. Raises InfraFault."""
        jobs = [self._job(index) for index in range(len(self.members))]
        try:
            futures = environment.submit_interaction(jobs[0], jobs[1:])
        except BaseException:
            self._fail()
            raise
        for future in futures:
            future.add_done_callback(self._note_end)
        wait(futures)
        return [future.result() for future in futures]

    def _job(self, index: int) -> Callable[[Cell, float], Finished]:
        member = self.members[index]

        def job(cell: Cell, _queued: float) -> Finished:
            self._seats[index].cell = cell
            try:
                self._meet(member)
                clock = InteractionClock(member.limits, self, index)
                assert self._cpu is not None
                command = replace(member.command, only_cpu=self._cpu)
                streams = replace(member.streams, partner_ending=self._grader_ending)
                return cell.execute(command, streams, member.limits, clock)
            except (CellDied, OSError) as error:
                # An error after which the pool does not retry: this party would run alone.
                raise InfraFault(str(error)) from error
            finally:
                self._seats[index].cell = None
                self._leave()

        return job

    def _grader_ending(self) -> bool:
        """Return whether the grader is ending, and may have files to close."""
        cell = self._seats[0].cell
        return cell is not None and cell.any_ending()

    def note(self, index: int, busy: float, *, idle: bool) -> None:
        """Record the seconds in which a party was not idle, and whether it seems idle now."""
        seat = self._seats[index]
        seat.busy, seat.noted = busy, time.monotonic()
        if not idle:
            seat.suspected = None

    def busy_but(self, index: int) -> float:
        """Return the seconds in which the other parties were busy, as far as recorded."""
        return sum(seat.busy for number, seat in enumerate(self._seats) if number != index)

    def waits(self, index: int) -> bool:
        """Return whether a party that seems to have been idle for too long certainly was.

        The others' use of the CPU is recorded only now and then, and the kernel counts a wait for
        a CPU when it is over. So each of them must have been measured after this party first
        seemed idle, and must be waiting for something other than a CPU.
        """
        seat = self._seats[index]
        if seat.suspected is None:
            seat.suspected = time.monotonic()
        for other in self._seats:
            cell = other.cell
            if other is seat or cell is None:
                continue
            if other.noted <= seat.suspected or cell.runs():
                return False
        return True

    def _meet(self, member: Member) -> None:
        """Wait until every party has a cell: no party's time begins earlier. Raises InfraFault."""
        with self._changed:
            self._present += 1
            self._changed.notify_all()
            while self._present < len(self.members) and not self._failed:
                self._changed.wait()
            if self._failed:
                raise InfraFault("another party to the interaction got no cell")
            if self._cpu is None:
                self._cpu = _cpus.get().take()
            member.taken = True  # from here on its cell closes its ends of the pipes

    def _leave(self) -> None:
        """Give the CPU back once the last party is gone, before a cell takes other work."""
        with self._changed:
            self._gone += 1
            if self._gone == len(self.members) and self._cpu is not None:
                _cpus.get().leave(self._cpu)

    def _note_end(self, done: Future[Finished]) -> None:
        if done.cancelled() or done.exception() is not None:
            self._fail()

    def _fail(self) -> None:
        """End the wait of all parties: one of them will not start."""
        with self._changed:
            self._failed = True
            for member in self.members:
                member.release()
            self._changed.notify_all()


@dataclass(frozen=True, slots=True)
class InteractionClock:
    """The contest clock of one party: time in which another one computes is not idle time."""

    limits: Limits
    interaction: Interaction
    index: int

    def check(self, wall: float, reading: Reading) -> LimitHit | None:
        if reading.cpu > self.limits.cpu:
            return LimitHit.CPU
        if wall > self._backstop(reading):
            return LimitHit.IDLE
        if not self._seems_idle(wall, reading):
            return None
        return LimitHit.IDLE if self.interaction.waits(self.index) else None

    def _seems_idle(self, wall: float, reading: Reading) -> bool:
        return _idle(wall, reading) - self.interaction.busy_but(self.index) > self._allowance()

    def _allowance(self) -> float:
        """Return the idle seconds allowed; more for the grader, so that it is found idle last."""
        others = [m.limits.idle_allowance for m in self.interaction.members if not m.grader]
        allowed = max(others)
        return allowed + _AFTER if self.interaction.members[self.index].grader else allowed

    def _backstop(self, reading: Reading) -> float:
        cpu = sum(member.limits.cpu for member in self.interaction.members)
        if reading.idle is None:
            return max(10 * cpu, 30.0)
        return max(20 * cpu, 60.0)

    def pause(self, wall: float, reading: Reading) -> float:
        busy = wall - _idle(wall, reading)
        self.interaction.note(self.index, busy, idle=self._seems_idle(wall, reading))
        left = (self.limits.cpu - reading.cpu) / (os.cpu_count() or 1)
        return min(max(left, 0.005), _PAUSE)


def _idle(wall: float, reading: Reading) -> float:
    return wall - reading.cpu if reading.idle is None else reading.idle


class TalkCpus:
    """The CPUs of this process's interactions: a new one gets that with the fewest others."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken: Counter[int] = Counter()

    def take(self) -> int:
        """Return a CPU's number, -1 where there is no choice."""
        allowed = cpus.usable()
        if not allowed:
            return -1
        with self._lock:
            chosen = min(allowed, key=lambda cpu: (self._taken[cpu], cpu))
            self._taken[chosen] += 1
            return chosen

    def leave(self, cpu: int) -> None:
        """Count an interaction as over."""
        with self._lock:
            self._taken[cpu] -= 1


_cpus: PerProcess[TalkCpus] = PerProcess(TalkCpus)


def pipes(count: int) -> list[tuple[int, int]]:
    """Make pipes; each is (end to read from, end to write to). Raises OSError."""
    made: list[tuple[int, int]] = []
    try:
        for _ in range(count):
            ends = os.pipe2(os.O_CLOEXEC)
            made.append(ends)
            for fd in ends:
                os.fchmod(fd, 0o666)  # cells run as other users, and may open pipes by name
    except OSError:
        for fd in (fd for ends in made for fd in ends):
            with suppress(OSError):
                os.close(fd)
        raise
    return made
