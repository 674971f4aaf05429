"""One cell, seen from the host: start it, give it jobs, watch them, end it.

Blocking, and meant to be driven by one thread (the pool's), which also must outlive it: the box
dies with the thread that started it.
"""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.cell.wire import KILL, MAX_MESSAGE, Request, Result, send
from proctor.errors import CellDied, CellStartFailed
from proctor.execution import Isolation
from proctor.limits import Limits
from proctor.sandbox import cgroup, memfile, procfs
from proctor.sandbox.backend import Backend, CellSetup

START_TIMEOUT = 60.0
"""Seconds a cell may take to come up, however busy the machine."""
END_TIMEOUT = 60.0
"""Seconds a killed job may take to be gone before the cell is given up."""
RETIRE_AFTER = 10_000
"""Jobs after which a cell is replaced."""
OWN_PROCESSES = 8
"""Room in the process limit for the box's own: bwrap, its init, agent, stub, serving process."""
_LARGEST_ADDRESS_SPACE_RATIO = 4


class Cell:
    """A warm sandbox that runs one job at a time."""

    def __init__(self, backend: Backend, setup: CellSetup, slot: int = 0) -> None:
        """Start a cell and wait until its agent has proved itself. Raises CellStartFailed."""
        self.jobs = 0
        self.odd = False
        """Set at the first sign of trouble; the pool then replaces the cell."""
        self.group = cgroup.create()
        self._log = memfile.empty()
        self.control, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        join = self.group.join_files() if self.group is not None else []
        try:
            launch = backend.launch(setup, far.fileno(), self._log, join, slot)
        except BaseException:
            self._release()
            raise
        finally:
            far.close()
        self._process = launch.process
        try:
            hello = self._greet(launch.config, setup)
        except BaseException:
            self.close()
            raise
        controls = self.group.controls if self.group is not None else frozenset()
        self.isolation = Isolation(backend.level, backend.guarantees(hello, controls))
        self.single_use = not hello["lockdown"]
        self.watch_memory = "memory" not in controls
        """Whether the host must sample the job's memory, for want of a control group."""
        self._own = set(self._all_pids())
        self._base_memory = self.group.memory() if self.group is not None else 0

    @property
    def spent(self) -> bool:
        """Whether the cell should be replaced before its next job."""
        return self.odd or self.jobs >= RETIRE_AFTER or (self.single_use and self.jobs > 0)

    def _greet(self, config: Mapping[str, Any], setup: CellSetup) -> dict[str, Any]:
        try:
            self.control.send(json.dumps(config).encode())
            if not select.select([self.control], [], [], START_TIMEOUT)[0]:
                raise CellStartFailed(f"no answer from the cell within {START_TIMEOUT:.0f} s")
            answer = self.control.recv(MAX_MESSAGE)
        except OSError as error:
            raise CellStartFailed(f"the cell went away: {error}{self._complaint()}") from error
        if not answer:
            raise CellStartFailed(f"the cell ended while starting{self._complaint()}")
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

    def _complaint(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        text = memfile.content(self._log, 4000).decode("utf-8", "replace").strip()
        return f": {text}" if text else ""

    def submit(self, request: Request, fds: list[int]) -> None:
        """Hand the agent a job. Raises CellDied."""
        self.jobs += 1
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
        result = Result.decode(data)
        if result.failed_step:
            self.odd = True
            raise CellDied(
                f"lock-down stopped at step {result.failed_step}:"
                f" {os.strerror(result.failed_errno)}; the program was not started"
            )
        return result

    def end_job(self) -> Result:
        """Have the agent end the job now, with all it started. Raises CellDied."""
        try:
            self.control.send(KILL)
        except OSError as error:
            raise self._died() from error
        if not self.wait([self.control.fileno()], END_TIMEOUT):
            self.kill()
        return self.result()

    def wait(self, fds: Sequence[int], timeout: float) -> list[int]:
        """Wait until one of `fds` is readable (or hung up); [] after `timeout` seconds."""
        poller = select.poll()
        for fd in fds:
            poller.register(fd, select.POLLIN)
        return [fd for fd, _ in poller.poll(timeout * 1000)]

    def address_space(self, limits: Limits) -> int:
        """RLIMIT_AS for a job: only where no control group bounds memory, and generous.

        Address space is not memory; this stops a single huge allocation between two samples.
        """
        return limits.memory * _LARGEST_ADDRESS_SPACE_RATIO if self.watch_memory else 0

    def set_limits(self, limits: Limits) -> None:
        """Set what the control group enforces for the next job."""
        if self.group is None:
            return
        try:
            self.group.limit(limits.memory + self._base_memory, limits.processes + OWN_PROCESSES)
        except OSError as error:  # EBUSY: more than that is charged to the group already
            self.odd = True
            raise CellDied(f"the cell's limits could not be set: {error}") from error

    def peak(self, rusage: int) -> int:
        """Peak bytes of the job, from the control group where there is one."""
        if self.group is None or not self.group.peak():
            return rusage
        return max(self.group.peak() - self._base_memory, 0) or rusage

    def _all_pids(self) -> list[int]:
        if self.group is not None:
            return self.group.pids()
        return [self._process.pid, *procfs.descendants(self._process.pid)]

    def job_pids(self) -> list[int]:
        """Processes of the job now running, in the host's numbering."""
        return [pid for pid in self._all_pids() if pid not in self._own]

    def _died(self) -> CellDied:
        self.odd = True
        return CellDied(f"the cell died with a job in it{self._complaint()}")

    def kill(self) -> None:
        """End the cell from any thread; whoever waits on it gets CellDied."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """End the cell and leave nothing of it behind."""
        self.kill()
        self._process.wait()
        self._release()

    def _release(self) -> None:
        self.control.close()
        os.close(self._log)
        if self.group is not None:
            self.group.remove()
