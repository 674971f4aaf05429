"""The programs of a session on the host's side: starting, watching and ending them."""

import math
import os
import select
import socket
import struct
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from proctor.cell.wire import (
    MAX_MESSAGE,
    Kind,
    Notice,
    NoticeKind,
    Order,
    OrderKind,
    Reply,
    Tag,
    send,
)
from proctor.errors import CellDied, UsageError
from proctor.execution import Execution, LimitHit
from proctor.limits import Limits
from proctor.program import Program
from proctor.sandbox.agent_process import AgentProcess
from proctor.sandbox.clock import NOTHING, ContestClock, Reading
from proctor.sandbox.idleness import Idleness, JobSnapshot
from proctor.sandbox.machine import kill_tree, memfile, procfs
from proctor.sandbox.output import OnOutput, Tail
from proctor.sandbox.stop import Stop

_CREDENTIALS = struct.Struct("3i")  # pid, uid, gid
_EXTRAS = socket.CMSG_SPACE(_CREDENTIALS.size)
_READY_WITHIN = 60.0
_FIRST_PAUSE = 0.05  # seconds before a program is first looked at; most have ended by then
_LONGEST_PAUSE = 0.25  # between looks where the host watches memory or disk; else _LONGEST_REST
_LONGEST_REST = 1.0
_TELL_EVERY = 0.1  # seconds between two looks at output that is wanted as it comes


@dataclass(slots=True)
class Watch:
    """A program that is held to its limits of CPU and wall time."""

    running: "Running"
    clock: ContestClock
    began: float
    """Monotonic time at which watching began, from which the limits count."""
    cpu0: float
    """CPU seconds that the program had used by then."""
    look: float
    """Monotonic time at which the program is to be looked at next."""
    idleness: Idleness
    stop: Stop | None = None
    called_off: bool = False
    """True if the program was killed because `stop` was set."""


@dataclass(slots=True)
class Running:
    """One program of a session: its files and its state."""

    id: int
    limits: Limits
    files: list[int]
    """stdin, stdout, stderr."""
    began: float
    pid: int | None = None
    """Process id on the host, once the program has started."""
    notice: Notice | None = None
    """Notice of the program's end."""
    wall: float = 0.0
    oom_kills: int = 0
    """Processes of the session's cgroup killed for want of memory before the program began."""
    hit: LimitHit | None = None
    interrupts: int = 0
    """Interrupts that were asked for and not yet carried out."""
    latest_cpu: float = 0.0
    execution: Execution | None = field(default=None)
    tail: Tail | None = None
    """Follows its output, if that is wanted as it comes."""

    def output(self, which: int) -> bytes:
        """Return the bytes written so far to stdout (1) or stderr (2)."""
        if self.execution is not None:
            return self.execution.stdout if which == 1 else self.execution.stderr
        return memfile.content(self.files[which], self.limits.output)

    def follow(self, on_output: OnOutput | None) -> None:
        """Call `on_output` with what is written, up to the output limit, as it comes."""
        most = self.limits.output
        self.tail = None if on_output is None else Tail(self.files[1:], most, on_output)

    def tell_output(self) -> None:
        """Hand on the output written since the last call, if it is followed."""
        if self.tail is not None:
            self.tail.tell()

    def drop_output(self) -> None:
        """Drop the bytes written so far; the program goes on at the start of its files."""
        for fd in self.files[1:]:
            os.lseek(fd, 0, os.SEEK_SET)  # the position is shared with the program
            os.ftruncate(fd, 0)


class Programs:
    """All programs of one session. One thread at a time; every method may raise CellDied."""

    def __init__(self, cell: AgentProcess, limits: Limits) -> None:
        """Start the session's first process in this cell. Raises NoIsolation."""
        self._cell, self._limits = cell, limits
        self._running: dict[int, Running] = {}
        self._next = 0
        cell.set_limits(limits)
        sampled = cell.watch_memory or (cell.disk_used is not None and limits.disk)
        self._longest_pause = _LONGEST_PAUSE if sampled else _LONGEST_REST
        self._feed, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._feed.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            nothing = memfile.sealed(b"")
            try:
                cell.submit(cell.request(Kind.SESSION, limits), [nothing, far.fileno()])
            finally:
                os.close(nothing)
                far.close()
            self._wait_ready()
        except BaseException:
            self._feed.close()
            raise

    def _wait_ready(self) -> None:
        if not self._cell.wait([self._feed.fileno()], _READY_WITHIN):
            raise CellDied("a session did not start")
        data = self._feed.recv(MAX_MESSAGE)
        if not data or Reply.decode(data).tag is not Tag.READY:
            raise CellDied("a session ended while it started")

    @property
    def alarm(self) -> list[int]:
        """Descriptors that are readable when something has happened."""
        return [self._feed.fileno(), self._cell.control.fileno()]

    def start(self, program: Program, stdin: bytes | int, limits: Limits) -> Running:
        """Start a program. Raises UsageError if the session may have no more processes.

        `stdin` is what it reads, or a descriptor, which is closed here when the program is over.
        """
        self._next += 1
        files: list[int] = []
        source = -1
        group = self._cell.group
        try:
            files.append(stdin if isinstance(stdin, int) else memfile.sealed_reader(stdin))
            files.append(memfile.empty())
            files.append(memfile.empty())
            source = memfile.sealed(program.encoded())
            running = Running(self._next, limits, files, time.monotonic())
            running.oom_kills = group.oom_kills() if group is not None else 0
            self._running[running.id] = running
            self._order(Order(OrderKind.RUN, running.id), [*files, source])
            while running.pid is None and running.notice is None:
                self._receive(None)
        except BaseException:
            self._running.pop(self._next, None)
            for fd in files:
                os.close(fd)
            raise
        finally:
            if source >= 0:
                os.close(source)
        running.began = time.monotonic()
        if running.notice is not None and running.notice.kind is NoticeKind.REFUSED:
            self._forget(running)
            raise UsageError(
                f"the session cannot start another program: {os.strerror(running.notice.status)}"
                f" (its limit is {self._limits.processes} processes)"
            )
        return running

    def watch(
        self, running: Running, limits: Limits | None = None, stop: Stop | None = None
    ) -> Watch:
        """Begin to hold a program to its CPU and wall limits, or to those given; see `tend`."""
        clock, began = ContestClock(limits or running.limits), time.monotonic()
        first = min(clock.pause(0.0, NOTHING), _FIRST_PAUSE)
        # A program that has just begun has used nothing; a look would cost more than its start.
        fresh = began - running.began < _FIRST_PAUSE
        pids = [] if fresh else self._pids(running)
        idleness = Idleness(procfs.tasks(pids))
        return Watch(running, clock, began, _cpu(pids), began + first, idleness, stop)

    def tend(self, watches: Sequence[Watch]) -> float:
        """Kill programs that overran limits; return the seconds until the next look is due."""
        for watch in watches:
            if watch.running.notice is None and watch.stop is not None and watch.stop.wanted:
                watch.called_off = True
                self.kill(watch.running)
            if watch.running.notice is None and watch.look <= time.monotonic():
                self._look(watch)
        looks = [watch.look for watch in watches if watch.running.notice is None]
        return max(min(looks, default=math.inf) - time.monotonic(), 0.0)

    def _look(self, watch: Watch) -> None:
        hit, over, pause = self.glance(watch)
        if over:
            return
        if hit is not None:
            watch.running.hit = hit
            self.kill(watch.running)
            return
        watch.look = time.monotonic() + pause

    def take_notices(self) -> None:
        """Read the notices that have come, without waiting."""
        while self._cell.wait([self._feed.fileno()], 0):
            self._receive(0)

    def glance(self, watch: Watch) -> tuple[LimitHit | None, bool, float]:
        """Look at a program without ending it.

        Returns the limit it has overrun, whether it is over, and the seconds until it must be
        looked at again.
        """
        self.take_notices()
        if watch.running.notice is not None:
            return None, True, 0.0
        longest = self._longest_pause
        if watch.running.tail is not None:
            watch.running.tail.tell()
            longest = min(longest, _TELL_EVERY)
        wall = time.monotonic() - watch.began
        reading = self._reading(watch)
        hit = watch.clock.check(wall, reading) or self._watch()
        return hit, False, min(watch.clock.pause(wall, reading), longest)

    def poll(self, running: Running) -> Execution | None:
        """Return a program's facts if it has ended."""
        self.take_notices()
        return self.finish(running) if running.notice is not None else None

    def kill(self, running: Running) -> None:
        """Kill a program with all it has started, and wait for its first process to end.

        If it has ended by itself before, what it left running goes on.
        """
        if running.notice is None and running.pid is not None:
            kill_tree.kill_tree(running.pid, self._cell.job_pids)
        if running.notice is None:  # we may not signal its processes: kill at least the group
            self._order(Order(OrderKind.KILL, running.id), [])
        while running.notice is None:
            self._receive(None)

    def interrupt(self, running: Running) -> None:
        """Send a program's process group SIGINT; it has arrived when this returns."""
        if running.notice is None:
            running.interrupts += 1
            self._order(Order(OrderKind.INTERRUPT, running.id), [])
        while running.notice is None and running.interrupts:
            self._receive(None)

    def finish(self, running: Running) -> Execution:
        """Return the facts of a program that has ended, and close its files."""
        if running.execution is not None:
            return running.execution
        notice, most = running.notice, running.limits.output
        assert notice is not None
        running.tell_output()
        stdout, stderr = (memfile.content(fd, most + 1) for fd in running.files[1:])
        cpu = max(notice.user + notice.system, running.latest_cpu)
        hit = running.hit or self._limit_hit(running, cpu, max(len(stdout), len(stderr)) > most)
        ended = notice.status
        running.execution = Execution(
            exit_code=os.WEXITSTATUS(ended) if os.WIFEXITED(ended) else None,
            signal=os.WTERMSIG(ended) if os.WIFSIGNALED(ended) else None,
            stdout=stdout[:most],
            stderr=stderr[:most],
            cpu=cpu,
            wall=running.wall,
            memory=notice.peak,
            queue=0.0,
            limit=hit,
            isolation=self._cell.isolation,
        )
        self._forget(running)
        return running.execution

    def close(self) -> None:
        """End the session with all that runs in it; an undamaged cell can be used again."""
        try:
            if not self._cell.odd:
                self._cell.end_job()
        finally:
            self._feed.close()
            for running in list(self._running.values()):
                self._forget(running)

    def _forget(self, running: Running) -> None:
        if self._running.pop(running.id, None) is not None:
            for fd in running.files:
                os.close(fd)

    def _order(self, order: Order, fds: list[int]) -> None:
        try:
            send(self._feed, order.encode(), fds)
        except OSError as error:
            raise CellDied(f"the session is gone: {error}") from error

    def _receive(self, timeout: float | None) -> None:
        """Take in one notice; None waits for it. Raises CellDied."""
        ready = select.select(self.alarm, [], [], timeout)[0]
        if not ready:
            return
        if self._feed.fileno() not in ready:
            raise CellDied("the session's first process was killed, perhaps for want of memory")
        data, extras, _, _ = self._feed.recvmsg(MAX_MESSAGE, _EXTRAS, socket.MSG_DONTWAIT)
        try:
            notice = Notice.decode(data)
        except ValueError as error:
            raise CellDied("the session's first process ended") from error
        running = self._running.get(notice.id)
        if running is None:
            return
        if notice.kind is NoticeKind.INTERRUPTED:
            running.interrupts -= 1
        elif notice.kind is not NoticeKind.STARTED:
            running.notice, running.wall = notice, time.monotonic() - running.began
        for _, kind, value in extras:
            if kind == socket.SCM_CREDENTIALS and notice.kind is NoticeKind.STARTED:
                running.pid = _CREDENTIALS.unpack(value)[0]

    def _reading(self, watch: Watch) -> Reading:
        running = watch.running
        pids = self._pids(running)
        running.latest_cpu = max(running.latest_cpu, _cpu(pids))
        cpu = max(running.latest_cpu - watch.cpu0, 0.0)
        if not procfs.counts_waits():
            return Reading(cpu, None)
        # In this order: see Meter, which does the same with the job of a cell.
        tasks = procfs.tasks(pids)
        look = JobSnapshot(time.monotonic() - watch.began, cpu, tasks)
        over = any(task.state == "Z" for task in tasks.values())  # its notice is on the way
        at_rest = look.at_rest and not over
        if at_rest:
            look = replace(look, cpu=_cpu(pids) - watch.cpu0)
            at_rest = procfs.tasks(self._pids(running)) == tasks
        watch.idleness.add(look, at_rest=at_rest)
        return Reading(cpu, watch.idleness.seconds)

    def _pids(self, running: Running) -> list[int]:
        if running.pid is None:
            return []
        return [running.pid, *procfs.descendants(running.pid, self._cell.job_pids())]

    def cpu(self, running: Running) -> float:
        """Return the CPU seconds that a program and its descendants have used so far."""
        return _cpu(self._pids(running))

    def _watch(self) -> LimitHit | None:
        """Return the limit that the session as a whole has overrun, where the host must look."""
        cell, limits = self._cell, self._limits
        if cell.disk_used is not None and limits.disk and cell.disk_used() > limits.disk:
            return LimitHit.DISK
        if not cell.watch_memory:
            return None
        used = procfs.resident_bytes(cell.job_pids(), limits.memory)
        return LimitHit.MEMORY if used > limits.memory else None

    def _limit_hit(self, running: Running, cpu: float, overrun: bool) -> LimitHit | None:
        group = self._cell.group
        if group is not None and group.oom_kills() > running.oom_kills:
            return LimitHit.MEMORY
        if overrun:
            return LimitHit.OUTPUT
        return LimitHit.CPU if cpu > running.limits.cpu else None


def _cpu(pids: Collection[int]) -> float:
    return sum(map(procfs.cpu_seconds, pids)) + sum(map(procfs.reaped_cpu_seconds, pids))
