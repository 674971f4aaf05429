"""An agent in its box, as a process of this machine: start it, give it jobs, watch them, end it.

Blocking, and driven by one thread at a time. The thread that starts it must outlive it: the box
dies with that thread.
"""

import contextlib
import json
import math
import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.cell.wire import KILL, MAX_MESSAGE, Kind, Request, Result, send
from proctor.errors import CellDied, CellStartFailed, InputError, NoIsolation
from proctor.execution import Isolation
from proctor.limits import Limits
from proctor.sandbox.backend import CellSetup, Launch, Launcher, Start
from proctor.sandbox.cell import lacks_loopback
from proctor.sandbox.machine import cgroup, cpus, memfile, procfs, users
from proctor.sandbox.machine.scratch import Scratch
from proctor.sandbox.shared_memory import may_need_shm

START_TIMEOUT = 60.0
"""Longest time that a cell may take to come up on a busy machine, in seconds."""
END_TIMEOUT = 60.0
"""How long a killed job may take to be gone before the cell is given up, in seconds."""
RETIRE_AFTER = 10_000
"""Number of jobs after which a cell is replaced."""
OWN_PROCESSES = 8
"""Room in the process limit for the box itself: bwrap, its init, agent, stub, serving process."""
_LARGEST_ADDRESS_SPACE_RATIO = 4
_UNCOUNTED_SHARE = 4
"""Divisor of the memory limit that gives the size of /dev/shm where that is not counted."""
_ONE_PROCESS_A_TEST = (
    Kind.RUN, Kind.STRING, Kind.SCRIPT, Kind.SERVE_FORK, Kind.COMMAND, Kind.EXECUTE
)  # fmt: skip
_JUDGED = (Kind.SERVE_FORK, Kind.SERVE_SHARED, Kind.SERVE_OFFICIAL)
_BACKSTOP_ADDS = 10  # seconds
_NO_CPU_LIMIT = 1 << 30  # seconds: RLIMIT_CPU counts a process's whole life, not one test's part


class AgentProcess:
    """An agent in its box: it is started, handed one job at a time, watched and ended."""

    killed = False
    """Set when a program that takes tests was ended by a SIGKILL that no limit explains."""
    memory_bound = 0
    """Present memory limit of the control group, in bytes; 0 if there is none."""
    _busy = False
    """True from the request for a job to its result."""

    def __init__(self, backend: Launcher, setup: CellSetup, slot: int | None = None) -> None:
        """Start a cell and wait until its agent has proved itself. Raises CellStartFailed.

        `slot` numbers the cells of a pool, so that their agents take different CPUs; with None the
        agent has no CPU of its own.
        """
        self.jobs = 0
        self.odd = False
        """Set at the first sign of trouble; the pool then replaces the cell."""
        self._pidfd = -1
        self.group: cgroup.Group | None = None
        self._scratch: Scratch | None = None
        self._held = contextlib.ExitStack()
        try:
            launch = self._launch(backend, setup)
        except OSError as error:
            self._held.close()
            raise CellStartFailed(f"the cell could not be started: {error}") from error
        except BaseException:
            self._held.close()
            raise
        self._process, self._others = launch.process, launch.others
        self._scratch = launch.scratch
        if self._scratch is not None:
            self._held.callback(self._scratch.remove)
        try:
            self._receive()  # the agent's question: by now it has joined its control groups
            if self.group is not None and not self.group.holds(self._process.pid):
                self.group.remove()
                self.group = None
            controls: frozenset[str] = frozenset()
            if self.group is not None:
                controls = self.group.controls
            counted = sorted(self.counted(controls))
            hello = self._greet(
                {**launch.config, "controls": counted, "home": cpus.of_cell(slot)}, setup
            )
            if launch.kept:
                self._pidfd = self._open_agent(hello["pid"])
            self._own = set(self._all_pids())
            self._base_memory = self.group.memory() if self.group is not None else 0
            self._job_base = self._base_memory
        except BaseException:
            self.close()
            raise
        self.isolation = Isolation(backend.level, backend.guarantees(hello, controls))
        self.single_use, self._own_mounts = not hello["lockdown"], bool(hello["pidns"])
        self._disk, self.loopback = bool(hello["disk"]), bool(hello["loopback"])
        self.disk_used = self._scratch.used if self._scratch is not None else None
        """Measures what a job with disk has written, where nothing else bounds it."""
        self.watch_memory = "memory" not in controls
        """True if the host must sample the job's memory, for want of a control group."""
        self.watch_every = (0.02, 0.25)
        """First and longest time between two such samples, in seconds."""
        self.watch_processes = "pids" not in controls and launch.others > 0
        """True if the host must count the job's processes: RLIMIT_NPROC counts others' too."""

    def _launch(self, backend: Launcher, setup: CellSetup) -> Launch:
        """Gather a cell's user, group, log and socket, note each in `_held`, and start its box."""
        held = self._held
        self._user = users.claim()
        if self._user is not None:
            held.callback(self._user.close)  # called last: no other cell may get this user before
        self.group = self.new_group()
        if self.group is not None:
            held.callback(self.group.remove)  # does no harm when called twice
        self._log = memfile.empty()
        held.callback(os.close, self._log)
        self.control, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        held.callback(self.control.close)
        join = tuple(self.group.join_files()) if self.group is not None else ()
        with far:
            return backend.launch(setup, Start(far.fileno(), self._log, join, self._user))

    def new_group(self) -> cgroup.Group | None:
        """Make the control group for the cell's processes; None where that is not possible."""
        return cgroup.create()

    def counted(self, controls: frozenset[str]) -> frozenset[str]:
        """Return resources that are counted whole, which the filter need not guard."""
        return controls

    @property
    def first_pid(self) -> int:
        """The box's first process: the only one that is our own child."""
        return self._process.pid

    @property
    def spent(self) -> bool:
        """True if the cell should be replaced before its next job."""
        # Without the keeper the cell's jobs cannot be told from other processes.
        unkept = self._pidfd >= 0 and self._process.poll() is not None
        return (
            self.odd or unkept or self.jobs >= RETIRE_AFTER or (self.single_use and self.jobs > 0)
        )

    def _receive(self) -> bytes:
        """Receive a message of an agent that is starting. Raises CellStartFailed."""
        first = -1
        try:
            # Its end is watched, too: what it started may keep the socket open and never speak.
            first = os.pidfd_open(self._process.pid)
            if not self.wait([self.control.fileno(), first], START_TIMEOUT):
                raise CellStartFailed(f"no answer from the cell within {START_TIMEOUT:.0f} s")
            spoke = self.wait([self.control.fileno()], 0)
            message = self.control.recv(MAX_MESSAGE) if spoke else b""
        except OSError as error:
            said = self._complaint() or f": {error}"
            raise CellStartFailed(f"the cell went away{said}") from error
        finally:
            if first >= 0:
                os.close(first)
        if not message:
            raise CellStartFailed(f"the cell ended while starting{self._complaint()}")
        return message

    def _greet(self, config: Mapping[str, Any], setup: CellSetup) -> dict[str, Any]:
        try:
            self.control.send(json.dumps(config).encode())
        except OSError as error:
            raise CellStartFailed(f"the cell went away{self._complaint()}") from error
        answer = self._receive()
        hello: dict[str, Any] = json.loads(answer)
        wanted = (setup.interpreter.version, setup.interpreter.prefix)
        if (hello["version"], hello["prefix"]) != wanted:
            raise CellStartFailed(
                f"the cell runs {hello['version']!r} of {hello['prefix']}, not {wanted[0]!r} of"
                f" {wanted[1]}"
            )
        missing = [name for name in setup.preload if name in hello["missing"]]
        if missing:
            raise CellStartFailed(
                f"cannot import {', '.join(missing)} in the cell; name the directory it is"
                " installed in with --packages"
            )
        return hello

    def _open_agent(self, pid: int) -> int:
        """Return a pidfd of the agent, and bound its forks. It must be the child of its keeper."""
        agent = os.pidfd_open(pid)
        self._held.callback(os.close, agent)
        if procfs.parent(pid) != self._process.pid:  # a number of another PID namespace
            raise CellStartFailed(f"process {pid} is not the agent: /proc is not that of its cell")
        if self._others:
            _bound_forks(pid, self._others)
        return agent

    def _complaint(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        text = memfile.content(self._log, 4000).decode("utf-8", "replace").strip()
        return f": {text}" if text else ""

    def request(
        self,
        kind: Kind,
        limits: Limits,
        function: str = "",
        *,
        judged: bool = False,
        only_cpu: int = -1,
        source: bytes = b"",
    ) -> Request:
        """Turn limits into a request; rlimits are backstops behind the host's clock.

        `source`: a program that gets a /dev/shm if it may need one; jobs with disk have one anyway.
        Kinds of jobs that take tests are judged in any case. Raises InputError for locks or a
        loopback interface of a judged program: by locks, or by ports, notes could be passed.
        """
        judged = judged or kind in _JUDGED
        if judged and limits.loopback:
            raise InputError("judged programs get no loopback interface", field="limits.loopback")
        if judged and limits.locks:
            raise InputError("judged programs get no locks", field="limits.locks")
        return Request(
            kind,
            cpu=_cpu_backstop(limits) if kind in _ONE_PROCESS_A_TEST else _NO_CPU_LIMIT,
            address_space=self.address_space(limits),
            file_size=max(limits.output + 1, limits.disk),  # the one byte more proves an overrun
            processes=self.process_limit(limits),
            stack=limits.stack,
            disk=self.disk_to_mount(limits),
            shm=self._shm(limits, wanted=kind is Kind.SESSION or may_need_shm(source)),
            loopback=limits.loopback,
            function=function,
            locks=kind is Kind.SESSION if limits.locks is None else limits.locks,
            only_cpu=only_cpu,
        )

    def submit(self, request: Request, fds: list[int]) -> None:
        """Hand the agent a job. Raises CellDied."""
        if self._busy:  # the earlier job's result would be taken for this one's
            self.odd = True
            raise CellDied("the cell was left with a job that nobody has ended")
        self.jobs += 1
        self._busy = True
        try:
            send(self.control, request.encode(), fds)
        except OSError as error:
            raise self._died() from error

    def result(self) -> Result:
        """Receive the ended job's result. Raises CellDied."""
        try:
            data = self.control.recv(MAX_MESSAGE)
        except OSError as error:
            raise self._died() from error
        if not data:
            raise self._died()
        self._busy = False
        if self._scratch is not None and self._scratch.in_use:
            self._clear_scratch(self._scratch)
        result = Result.decode(data)
        if result.failed_step:
            self.odd = True
            raise CellDied(
                f"lock-down stopped at step {result.failed_step}:"
                f" {os.strerror(result.failed_errno)}; the program was not started"
            )
        return result

    def _clear_scratch(self, scratch: Scratch) -> None:
        try:
            scratch.clear()
        except OSError as error:
            self.odd = True
            raise CellDied(f"what a job wrote could not be deleted: {error}") from error

    def end_job(self) -> Result:
        """Have the agent end the job now, with all it started. Raises CellDied."""
        self.stop_job()
        return self.result()

    def stop_job(self) -> None:
        """Have the agent end the job now, before result() is called. Raises CellDied."""
        try:
            self.control.send(KILL)
        except OSError as error:
            raise self._died() from error
        if not self.wait([self.control.fileno()], END_TIMEOUT):
            self.kill()

    def wait(self, fds: Sequence[int], timeout: float) -> list[int]:
        """Wait until one of `fds` is readable (or hung up); [] after `timeout` seconds."""
        poller = select.poll()
        for fd in fds:
            poller.register(fd, select.POLLIN)
        return [fd for fd, _ in poller.poll(timeout * 1000)]

    def address_space(self, limits: Limits) -> int:
        """Return RLIMIT_AS for a job: only where no control group bounds memory, and generous.

        Address space is not memory; this stops a single huge allocation between two samples.
        """
        return limits.memory * _LARGEST_ADDRESS_SPACE_RATIO if self.watch_memory else 0

    def runs(self) -> bool:
        """Return whether any thread of its job runs, or would if it had a CPU."""
        return not all(task.at_rest for task in procfs.tasks(self.job_pids()).values())

    def ending(self, *, collects: bool) -> bool:
        """Return whether the program of its job is ending, or has ended.

        It is the job's first process, or the child of one that `collects` files afterwards.
        """
        parents = {pid: procfs.parent(pid) for pid in self.job_pids()}
        # The agent's other child is process 1 of a job's PID namespace.
        first = [
            (procfs.start_time(pid) or 0, pid)
            for pid, parent in parents.items()
            if parent in self._own and procfs.own_number(pid) != 1
        ]
        if not first:
            return True
        main = min(first)[1]
        programs = [pid for pid in parents if parents[pid] == main] if collects else [main]
        return all(map(procfs.ending, programs))

    def any_ending(self) -> bool:
        """Return whether any process of its job is ending, and may have files to close yet."""
        return any(map(procfs.closing, self.job_pids()))

    def works(self) -> bool:
        """Return whether the cell's own processes want a CPU, to start a job or report its end."""
        return any(task.state in {"R", "D"} for task in procfs.tasks(self._own).values())

    def process_limit(self, limits: Limits) -> int:
        """Return RLIMIT_NPROC for a job."""
        return limits.processes + self._others + 4

    def disk_to_mount(self, limits: Limits) -> int:
        """Return the bytes of the file system that the job is to mount for itself."""
        return limits.disk

    def _shm(self, limits: Limits, *, wanted: bool) -> int:
        """Return the bytes of /dev/shm for a job; 0 for none.

        A control group counts them as memory; elsewhere nobody sees those that are not mapped.
        """
        if not (self._own_mounts and (wanted or limits.disk or limits.loopback)):
            return 0
        return limits.memory // _UNCOUNTED_SHARE if self.watch_memory else limits.memory

    def set_limits(self, limits: Limits) -> None:
        """Set what the control group enforces for the next job. Raises NoIsolation."""
        if limits.loopback and not self.loopback:
            raise lacks_loopback(self.isolation.level)
        if limits.disk and not self._disk:
            raise NoIsolation(
                f"limits.disk: this cell (level {self.isolation.level}) cannot give a program"
                " scratch space, which takes proctor's C part and, at level landlock, a TMPDIR that"
                " can be written to: ask for no disk"
            )
        if limits.disk and self._scratch is not None:
            try:
                self._scratch.prepare()
            except OSError as error:  # the host's disk is full
                self.odd = True
                raise CellDied(f"no directory for the job: {error}") from error
        if self.group is None:
            return
        self.memory_bound = limits.memory + self._base_memory
        try:
            self.group.limit(self.memory_bound, limits.processes + OWN_PROCESSES)
        except OSError as error:  # EBUSY: more than that is charged to the group already
            self.odd = True
            raise CellDied(f"the cell's limits could not be set: {error}") from error
        # Page cache of files that earlier jobs read is charged to the group until memory is short.
        self._job_base = max(self._base_memory, self.group.memory())

    def peak(self, rusage: int) -> int:
        """Return the peak bytes of the job, from the control group where there is one."""
        if self.group is None:
            return rusage
        peak = self.group.peak()
        if not peak:
            return max(rusage, self.group.most_seen() - self._job_base)
        return max(peak - self._job_base, 0)

    def _all_pids(self) -> list[int]:
        if self.group is not None:
            return self.group.pids()
        return [self._process.pid, *procfs.descendants(self._process.pid)]

    def job_pids(self) -> list[int]:
        """Return the processes of the job now running, in the host's numbering."""
        return [pid for pid in self._all_pids() if pid not in self._own]

    def job_memory(self, pids: list[int], limit: int) -> int:
        """Return the bytes that these processes of the running job use; exact above `limit`."""
        if self._user is None or users.has_capability(users.CAP_SYS_PTRACE):
            return procfs.resident_bytes(pids, limit)
        with users.seen_as(self._user.job):
            return procfs.resident_bytes(pids, limit)

    def _died(self) -> CellDied:
        self.odd = True
        return CellDied(f"the cell died with a job in it{self._complaint()}")

    def kill(self) -> None:
        """End the cell from any thread; whoever waits on it gets CellDied."""
        if self._pidfd >= 0:
            # Not by a signal: an agent that is cut off ends its job first, keeper or no keeper.
            self._hang_up()
            return
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        except PermissionError:  # root without CAP_KILL
            self._hang_up()

    def _hang_up(self) -> None:
        """Close the connection for the agent and for whoever waits on it here."""
        with contextlib.suppress(OSError):
            self.control.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End the cell and leave nothing of it behind."""
        self.kill()
        self.control.close()
        if self._pidfd >= 0 and not self.wait([self._pidfd], END_TIMEOUT):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):  # the kernel holds it
            self._process.wait(END_TIMEOUT)
        self._clear_group()
        self._held.close()

    def _clear_group(self) -> None:
        """Kill processes that both keeper and agent left behind, where they can still be found."""
        until = time.monotonic() + END_TIMEOUT
        while self.group is not None and time.monotonic() < until:
            try:
                left = self.group.pids()
            except (OSError, CellDied):  # the group was removed
                return
            if not left:
                return
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.001)


def _cpu_backstop(limits: Limits) -> int:
    """Return the RLIMIT_CPU of a job, in seconds: far from the limit.

    The kernel counts it in ticks, which on a busy machine, or on a virtual one that waits for its
    host, may run a quarter ahead of the control group's clock, by which verdicts are passed. A
    SIGKILL that came before that clock's limit would look like a crash.
    """
    return 2 * math.ceil(limits.cpu) + _BACKSTOP_ADDS


def _bound_forks(agent: int, others: int) -> None:
    """Let an agent start jobs only while its user has no more threads than the `others` counted.

    A job without room to fork would seem to fail by itself. With this bound the cell is found dead
    instead, and the one that replaces it counts again.
    """
    import resource  # missing on some systems that import this module

    _, most = resource.prlimit(agent, resource.RLIMIT_NPROC)
    room = others if most == resource.RLIM_INFINITY else min(others, most)
    resource.prlimit(agent, resource.RLIMIT_NPROC, (room, most))
