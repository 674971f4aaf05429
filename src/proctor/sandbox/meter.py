"""What a job uses, measured from outside, and waiting for it under a clock."""

import os
import time
from collections.abc import Sequence

from proctor.execution import LimitHit
from proctor.limits import Limits
from proctor.sandbox import procfs
from proctor.sandbox.cell import Cell
from proctor.sandbox.clock import NOTHING, Clock, Reading

AGENT_SHARE = 0.02
"""CPU seconds by which a group may exceed a job's rusage before orphans are suspected."""
_MEMORY_WATCH = (0.02, 0.25)  # seconds between samples of a tree no control group bounds


class Meter:
    """What a job, or one test of a serving job, has used since this meter was made."""

    def __init__(self, cell: Cell, server: procfs.Process | None = None) -> None:
        """Begin metering. `server` is the serving process, whose past does not count."""
        self._cell = cell
        self._group = group = cell.group
        self._server = server
        self._cpu0 = group.cpu() if group is not None else 0.0
        self._server_cpu0 = server.cpu() if server is not None else 0.0
        self._server_waited0 = server.waited() if server is not None else 0.0
        self._oom0 = group.oom_kills() if group is not None else 0
        self._latest = NOTHING
        if group is not None:
            group.reset_peak()
        self.start()

    def start(self) -> None:
        """Let the wall clock begin now: the program was not asked before."""
        self._started, self._started_real = time.monotonic(), time.time()

    def wall(self, ended: float | None = None) -> float:
        """Seconds since the start, till now or till `ended` on the real-time clock.

        The host may be late to look: another of its threads can hold the interpreter for seconds.
        """
        wall = time.monotonic() - self._started
        return wall if ended is None else min(wall, max(ended - self._started_real, 0.0))

    def read(self) -> Reading:
        """What the job has used up to now."""
        pids = self._cell.job_pids()
        if self._group is not None:
            cpu = self._group.cpu() - self._cpu0
        else:
            cpu = sum(map(procfs.cpu_seconds, pids)) - self._server_cpu0
        delays = procfs.run_delays(pids)
        if delays is None:
            self._latest = Reading(cpu, None, None)
        else:
            waited = max(sum(delays) - self._server_waited0, 0.0)
            self._latest = Reading(cpu, waited, min(waited, max(delays, default=0.0)))
        return self._latest

    def wait(self, fds: Sequence[int], clock: Clock, limits: Limits) -> LimitHit | None:
        """Wait until one of `fds` is readable; return the limit that was hit before that."""
        cell = self._cell
        pause = clock.pause(0.0, NOTHING)
        watch = _MEMORY_WATCH[0]
        while True:
            if cell.wait(fds, min(pause, watch) if cell.watch_memory else pause):
                return None
            reading = self.read()
            wall = self.wall()
            hit = clock.check(wall, reading)
            if hit is not None:
                # The end may have come while the host was late to look.
                return None if cell.wait(fds, 0) else hit
            if cell.watch_memory:
                if procfs.resident_bytes(cell.job_pids()) > limits.memory:
                    return LimitHit.MEMORY
                watch = min(watch * 1.5, _MEMORY_WATCH[1])
            pause = clock.pause(wall, reading)

    def check_ended(self, clock: Clock, wall: float, cpu: float) -> LimitHit | None:
        """Whether a test that ended by itself did so too late."""
        if clock.check(wall, Reading(cpu, 0.0, 0.0)) is None:
            return None
        return clock.check(wall, self.read())  # the machine's load may excuse it

    def cpu(self, rusage: float) -> float:
        """CPU seconds of an ended process tree: what was waited for, or more if orphans used more.

        The group also counts the agent's own work for the job, so a small surplus means nothing.
        """
        known = max(rusage, self._latest.cpu)
        if self._group is None:
            return known
        total = self._group.cpu() - self._cpu0
        return total if total - known > AGENT_SHARE else known

    def server_cpu(self) -> float:
        """CPU seconds of a test that ran inside the serving process."""
        if self._group is not None:
            return self._group.cpu() - self._cpu0
        live = self._server.cpu() - self._server_cpu0 if self._server is not None else 0.0
        return max(live, self._latest.cpu)

    def limit_hit(
        self, limits: Limits, status: int, cpu: float, stdout: bytes, stderr: bytes
    ) -> LimitHit | None:
        """Which limit an ended program overran, if any."""
        if self._group is not None and self._group.oom_kills() > self._oom0:
            return LimitHit.MEMORY
        if cpu > limits.cpu:
            return LimitHit.CPU
        if len(stdout) > limits.output or len(stderr) > limits.output:
            return LimitHit.OUTPUT
        out_of_address_space = os.WIFEXITED(status) and status != 0 and self._cell.watch_memory
        if out_of_address_space and stderr.rstrip().endswith(b"MemoryError"):
            return LimitHit.MEMORY  # all that can be known without a group
        return None
