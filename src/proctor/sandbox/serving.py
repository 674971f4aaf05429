"""Many tests of one program in one cell, one after the other."""

import contextlib
import os
import select
import signal
import socket
import struct
from types import TracebackType
from typing import Self

from proctor.cell.wire import IN_MESSAGE, MAX_MESSAGE, TEST, Kind, Reply, Tag, send
from proctor.errors import CellDied
from proctor.execution import LimitHit
from proctor.limits import Limits
from proctor.program import Program
from proctor.sandbox.agent_process import AgentProcess
from proctor.sandbox.cell import TestRun
from proctor.sandbox.clock import Clock
from proctor.sandbox.machine import memfile, procfs
from proctor.sandbox.meter import Meter

_DYING = 2.0
"""Time that a process which has closed its descriptors is given to end, in seconds."""
_CREDENTIALS = struct.Struct("3i")  # pid, uid, gid
_TIMESTAMP = struct.Struct("qq")  # seconds, nanoseconds
_SO_TIMESTAMPNS = 35  # the option, and the type of what then comes with a message
_CRASHES = {signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE}
"""Signals by which an interpreter ends itself."""
_EXTRAS = socket.CMSG_SPACE(_TIMESTAMP.size) + socket.CMSG_SPACE(_CREDENTIALS.size)


class AgentServing:
    """A program loaded in a cell. Use as a context manager; `alive` says if it can go on."""

    def __init__(
        self,
        cell: AgentProcess,
        kind: Kind,
        program: Program,
        function: str,
        limits: Limits,
        clock: Clock,
    ) -> None:
        """Load the program under `clock`. Raises CellDied.

        Afterwards `alive` is true; or `unloadable` says why not, or `load_limit` which limit was
        hit, or the process just died.
        """
        self.alive = False
        self.unloadable: str | None = None
        self.load_limit: LimitHit | None = None
        self._cell, self._kind, self._limits = cell, kind, limits
        self._function = bool(function)
        self._process: procfs.Process | None = None
        self._others: procfs.Tasks = {}
        self._sent: float | None = None  # when the latest reply was sent, by the real-time clock
        self._ended = False
        self._long_output = -1
        """File for outputs of official mode that do not fit into a message."""
        self._feed, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._start(far, program, function, clock)
        except BaseException:
            self._close_files()
            raise

    def _start(self, far: socket.socket, program: Program, function: str, clock: Clock) -> None:
        self._feed.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._feed.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        with far:
            self._cell.set_limits(self._limits)
            meter = Meter(self._cell)
            source = memfile.sealed(program.encoded())
            try:
                fds = [source, far.fileno()]
                if self._kind is Kind.SERVE_OFFICIAL:
                    fds.append(long := memfile.empty())
                    self._long_output = long
                self._cell.submit(self._cell.request(self._kind, self._limits, function), fds)
            finally:
                os.close(source)
        self.load_limit = self._wait(meter, clock)
        reply = self._reply() if self.load_limit is None else None
        if reply is not None and reply.tag is Tag.UNLOADABLE:
            self.unloadable = reply.text
        elif reply is not None and reply.tag is Tag.READY:
            self.alive = True
            self._others = self._look_at_others()
        elif self.load_limit is None:
            status = self._end_silent()
            self.load_limit = meter.limit_hit(self._limits, 0, meter.server_cpu(), b"", b"")
            if self.load_limit is None:
                self._died_loading(status)

    def test(self, given: bytes | int, clock: Clock) -> TestRun:
        """Run one test with this input. Raises CellDied. Afterwards `alive` may be False."""
        official = self._kind is Kind.SERVE_OFFICIAL
        if official and isinstance(given, bytes) and len(given) <= IN_MESSAGE:
            return self._run(TEST + given, [], [], clock)
        own: list[int] = []
        outputs: list[int] = []
        try:
            if isinstance(given, bytes):
                own.append(given := memfile.sealed_reader(given))
            for _ in range(0 if official else 2 + self._function):
                own.append(output := memfile.empty())
                outputs.append(output)
            return self._run(TEST, [given, *outputs], outputs, clock)
        finally:
            for fd in own:
                os.close(fd)

    def _run(self, message: bytes, fds: list[int], outputs: list[int], clock: Clock) -> TestRun:
        meter = Meter(self._cell, self._process, self._others)
        hit, reply = self._ask(message, fds, meter, clock)
        wall = meter.wall(self._sent if reply is not None else None)
        killed = False
        if reply is None:
            self.alive = False
            ended = self._end_silent() if hit is None else None
            killed = _was_killed(ended)
            self._end()
            self._check_server(ended)
        status = _wait_status(reply)
        if reply is not None and reply.tag is Tag.ENDED:
            cpu = meter.cpu(reply.user + reply.system)
        else:
            cpu = meter.server_cpu()
            if reply is not None:
                hit = meter.check_ended(clock, wall, cpu)
        most = self._limits.output
        if self._kind is Kind.SERVE_OFFICIAL:
            files = [self._official_output(reply)]
        else:
            files = [memfile.content(fd, most + 1) for fd in outputs]
        stdout, stderr, result = [*files, b"", b""][:3]
        hit = hit or meter.limit_hit(self._limits, status, cpu, stdout, stderr)
        if reply is not None and reply.tag is Tag.ENDED:
            killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        self._cell.killed |= killed and hit is None
        raised = _text(reply, Tag.RAISED)
        broken = _text(reply, Tag.UNLOADABLE)
        return TestRun(
            exit_code=os.WEXITSTATUS(status) if os.WIFEXITED(status) and raised is None else None,
            signal=os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
            stdout=stdout[:most],
            stderr=stderr[:most],
            result=result[:most],
            raised=raised,
            harness_failure=broken,
            cpu=cpu,
            wall=wall,
            memory=self._cell.peak(reply.peak if reply is not None else 0),
            limit=hit,
        )

    def _look_at_others(self) -> procfs.Tasks:
        """Return the job's tasks besides the process that runs tests: mostly its process 1.

        They have used CPU time before the first test. If that were not known, a task would seem to
        have ended during a test, whose idle time could not be told from waits (see idleness.py).
        """
        if self._kind is Kind.SERVE_FORK or self._process is None or not procfs.counts_waits():
            return {}
        server = self._process.pid
        return procfs.tasks(pid for pid in self._cell.job_pids() if pid != server)

    def _official_output(self, reply: Reply | None) -> bytes:
        if reply is not None and reply.tag is Tag.OUTPUT:
            return reply.output
        # Read even if the program did not return: its output may exceed the limit.
        output = memfile.content(self._long_output, self._limits.output + 1)
        if output:
            os.ftruncate(self._long_output, 0)
            os.lseek(self._long_output, 0, os.SEEK_SET)  # the position is shared with the program
        return output

    def _ask(
        self, message: bytes, fds: list[int], meter: Meter, clock: Clock
    ) -> tuple[LimitHit | None, Reply | None]:
        """Send one test and wait for its reply; without one the process can take no more tests."""
        if self._cell.wait([self._feed.fileno()], 0):
            return None, None  # a message without a request: forged by the program
        try:
            sent = send(self._feed, message, fds)
        except (BlockingIOError, ConnectionError):  # the process reads nothing, or is gone
            return None, None
        meter.start(sent)
        hit = self._wait(meter, clock)
        reply = self._reply() if hit is None else None
        return hit, reply if reply is not None and reply.tag in _ANSWERS[self._kind] else None

    def _wait(self, meter: Meter, clock: Clock) -> LimitHit | None:
        # The agent reports a job's end on the control socket, even if something the job started
        # still holds the feed open.
        fds = [self._feed.fileno(), self._cell.control.fileno()]
        return meter.wait(fds, clock, self._limits)

    def _reply(self) -> Reply | None:
        """Read one message; None if the process is gone or what it wrote is not a reply."""
        try:
            # Room for timestamp and credentials: a hostile program's descriptors are dropped.
            data, extras, _, _ = self._feed.recvmsg(MAX_MESSAGE, _EXTRAS, socket.MSG_DONTWAIT)
        except OSError:
            return None
        if not data:
            return None
        for _, kind, value in extras:
            if kind == _SO_TIMESTAMPNS:
                seconds, nanoseconds = _TIMESTAMP.unpack(value)
                self._sent = seconds + nanoseconds / 1e9
            elif kind == socket.SCM_CREDENTIALS and self._process is None:
                self._process = procfs.Process(_CREDENTIALS.unpack(value)[0])
        try:
            return Reply.decode(data)
        except ValueError:
            return None

    def _died_loading(self, status: int | None) -> None:
        """Note why a program within its limits did not load. Raises CellDied if it is our fault."""
        if self._kind is Kind.SERVE_OFFICIAL:  # where loading runs the program
            self._cell.killed |= _was_killed(status)
        elif status is not None and os.WIFSIGNALED(status) and os.WTERMSIG(status) in _CRASHES:
            crash = signal.Signals(os.WTERMSIG(status)).name
            self.unloadable = f"the compiler crashed on this program ({crash})"
        else:  # no code of the program has run that could have ended it
            ended = "stopped answering" if status is None else f"ended with wait status {status}"
            raise CellDied(f"the process that compiles a program {ended}")

    def _check_server(self, status: int | None) -> None:
        """Raise CellDied if the process that forks tests ended of itself, with this wait status.

        Nothing of the program runs in it. It ends where it cannot fork: at level landlock it shares
        its number of processes with all that this user runs.
        """
        if self._kind is Kind.SERVE_FORK and status is not None and os.WIFEXITED(status):
            code = os.WEXITSTATUS(status)
            raise CellDied(f"the process that forks a program's tests ended with exit code {code}")

    def _end_silent(self) -> int | None:
        """End a program that has stopped replying.

        Returns its raw wait status if it had ended by itself, or been killed by somebody else.
        """
        # Descriptors are closed a moment before a process is over. A process that has closed the
        # feed and lives on is up to something, and is ended by us.
        poller = select.poll()
        poller.register(self._feed.fileno(), 0)  # poll() reports a hang-up without a request for it
        dying = _DYING if poller.poll(0) else 0.0
        over = bool(self._cell.wait([self._cell.control.fileno()], dying))
        status = self._end()
        return status if over else None

    def _end(self) -> int:
        """End the program, if that was not done before; return its raw wait status then, else 0."""
        if self._ended:
            return 0
        self._ended = True
        return self._cell.end_job().status

    def _close_files(self) -> None:
        self._feed.close()
        if self._long_output >= 0:
            os.close(self._long_output)
            self._long_output = -1
        if self._process is not None:
            self._process.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            # An error may be about a test and not the cell, which is then used again.
            with contextlib.nullcontext() if kind is None else contextlib.suppress(CellDied):
                self._end()
        finally:
            self._close_files()


_ANSWERS = {
    Kind.SERVE_FORK: (Tag.ENDED,),
    Kind.SERVE_SHARED: (Tag.RETURNED,),
    Kind.SERVE_OFFICIAL: (Tag.OUTPUT, Tag.RETURNED, Tag.RAISED, Tag.UNLOADABLE),
}


def _was_killed(status: int | None) -> bool:
    return status is not None and os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def _text(reply: Reply | None, tag: Tag) -> str | None:
    return reply.text if reply is not None and reply.tag is tag else None


def _wait_status(reply: Reply | None) -> int:
    """Raw wait status of a test; SIGKILL stands for a process that never answered."""
    if reply is None:
        return 9
    if reply.tag is Tag.RETURNED and reply.text:
        # May be forged; and int() raises on thousands of digits.
        honest = len(reply.text) <= 3 and reply.text.isascii() and reply.text.isdigit()
        return (int(reply.text) & 0xFF) << 8 if honest else 9
    return reply.status
