"""Measuring a job from outside, and waiting for it under a clock."""

import math
import os
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from proctor.cell.wire import Result
from proctor.errors import CellDied
from proctor.execution import Execution, LimitHit
from proctor.limits import Limits
from proctor.sandbox.agent_process import AgentProcess
from proctor.sandbox.clock import NOTHING, Clock, Reading
from proctor.sandbox.idleness import Idleness, JobSnapshot
from proctor.sandbox.machine import memfile, procfs

_AT_LIMIT = 0.9
"""Share of its memory limit that a program must have used for a kill to be for that limit."""
AGENT_SHARE = 0.02
"""CPU seconds by which a group may exceed a job's rusage before orphans are suspected."""
_LATE = 2
"""Times the planned pause for which a look that came late may charge waits that are not known."""
_LOOK_EVERY = 0.05
"""Longest time between two looks at what the caller wants to know at once, in seconds."""
_TRIES = 5
"""Number of looks at a process that has answered: it may run on for a moment."""


class Meter:
    """The resources that a job, or one test of a serving job, has used since the meter was made."""

    def __init__(
        self,
        cell: AgentProcess,
        server: procfs.Process | None = None,
        others: procfs.Tasks | None = None,
    ) -> None:
        """Begin metering; the past of the serving process and of others does not count."""
        self._cell = cell
        self._group = group = cell.group
        self._server = server
        self._cpu0 = self._server_cpu0 = self._server_reaped0 = 0.0
        if group is not None:
            self._cpu0 = group.cpu()
        elif server is not None:
            self._server_cpu0 = server.cpu()
            self._server_reaped0 = procfs.reaped_cpu_seconds(server.pid)
        known = server.main_thread() if server is not None else {}
        others = others or {}
        self._others_cpu0 = sum(task.cpu for task in others.values()) / 1e9
        self._idleness = Idleness({**others, **known})
        self._oom0 = group.oom_kills() if group is not None else 0
        self._latest = NOTHING
        self._pause = math.inf
        """Seconds that were to pass before the next look."""
        self._pids: list[int] = []
        if group is not None:
            group.reset_peak()
        self.start()

    def start(self, at: float | None = None) -> None:
        """Start the wall clock at the request to the program: now, or at time.monotonic() `at`."""
        now, now_real = time.monotonic(), time.time()
        self._started = now if at is None else at
        self._started_real = now_real - (now - self._started)

    def wall(self, ended: float | None = None) -> float:
        """Return the seconds since the start, until now or until `ended` on the real-time clock.

        The host may be late to look: another of its threads can hold the interpreter for seconds.
        """
        wall = time.monotonic() - self._started
        if ended is None or ended < self._started_real:  # impossible: that clock was set back
            return wall
        return min(wall, ended - self._started_real)

    def read(self, fds: Sequence[int] = ()) -> Reading:
        """Return the time that the job has used so far. One of `fds` is readable after its end."""
        if not procfs.counts_waits():
            self._pids = pids = self._cell.job_pids()
            self._latest = Reading(self._used(pids), None)
            return self._latest
        look = self._look()
        confirmed = self._confirmed(look) if look.at_rest else None
        if confirmed is not None and (self._cell.wait(fds, 0) or self._cell.works()):
            return self._latest  # it rests because it is over, or about to begin
        self._idleness.add(
            confirmed or look, at_rest=confirmed is not None, at_most=_LATE * self._pause
        )
        self._latest = Reading(look.cpu, self._idleness.seconds)
        return self._latest

    def _look(self) -> JobSnapshot:
        # We may be kept waiting between any two of these reads while the job goes on: in this order
        # the job then seems to have used more since, but not to have been idle.
        self._pids = pids = self._cell.job_pids()
        cpu = self._used(pids)
        tasks = procfs.tasks(pids)
        return JobSnapshot(self.wall(), cpu, tasks)

    def _confirmed(self, look: JobSnapshot) -> JobSnapshot | None:
        """Return the look with figures of one moment; None if anything in the job has run since."""
        cpu = self._used(self._pids)
        same = procfs.tasks(self._cell.job_pids()) == look.tasks
        return replace(look, cpu=cpu) if same else None

    def _used(self, pids: Collection[int]) -> float:
        """CPU seconds of the job with these processes, including those of its ended tasks."""
        if self._group is not None:
            return self._group.cpu() - self._cpu0
        cpu = sum(map(procfs.cpu_seconds, pids)) - self._server_cpu0 - self._others_cpu0
        return cpu + sum(map(procfs.reaped_cpu_seconds, pids)) - self._server_reaped0

    def wait(
        self,
        fds: Sequence[int],
        clock: Clock,
        limits: Limits,
        *,
        again: bool = False,
        look: Callable[[], None] | None = None,
    ) -> LimitHit | None:
        """Wait until one of `fds` is readable; return the limit that was hit before that.

        `again`: the program has been waited for before. `look` is called often meanwhile.
        """
        cell = self._cell
        pause = clock.pause(self.wall(), self.read(fds)) if again else clock.pause(0.0, NOTHING)
        self._pause = pause
        watch, longest = cell.watch_every
        if look is not None:
            longest = min(longest, _LOOK_EVERY)
        looking = cell.watch_memory or (cell.disk_used is not None and limits.disk > 0)
        while True:
            step = min(pause, watch)
            if cell.wait(fds, step):
                return None
            if self._killed_for_memory():
                return LimitHit.MEMORY  # whether or not the rest of the tree would go on
            if look is not None:
                look()
            watch = min(watch * 1.5, longest)
            pause -= step
            if pause > 0 and not looking:
                continue  # the clock need not be asked yet
            reading = self.read(fds)
            wall = self.wall()
            hit = clock.check(wall, reading)
            if hit is not None:
                # The end may have come while the host was late to look.
                return None if cell.wait(fds, 0) else hit
            hit = self._watch(limits) if looking else None
            if hit is not None:
                return hit
            pause = self._pause = clock.pause(wall, reading)

    def _watch(self, limits: Limits) -> LimitHit | None:
        """Return the limit hit, of those that no control group or file system of the job bounds."""
        cell = self._cell
        if cell.disk_used is not None and limits.disk and cell.disk_used() > limits.disk:
            return LimitHit.DISK
        if not cell.watch_memory:
            return None
        pids = self._pids  # as read a moment ago: every look walks over all of /proc
        if cell.watch_processes and sum(map(procfs.threads, pids)) > limits.processes:
            return LimitHit.PROCESSES
        # Two looks, as between a vfork and its execve two processes briefly show the same memory.
        for seen in (pids, None):
            if cell.job_memory(seen or cell.job_pids(), limits.memory) <= limits.memory:
                return None
        return LimitHit.MEMORY

    def check_ended(self, clock: Clock, wall: float, cpu: float) -> LimitHit | None:
        """Return the limit that an ended test overran, if any. Only seen idle time counts."""
        if clock.check(wall, Reading(cpu, wall)) is None:
            return None
        return clock.check(wall, Reading(cpu, self._idle_at_end(wall)))

    def _idle_at_end(self, wall: float) -> float | None:
        """Return the idle seconds of a test that ended in the server after `wall` seconds."""
        if not procfs.counts_waits():
            return None
        server = self._server.pid if self._server is not None else 0
        for _ in range(_TRIES):
            look = self._confirmed(self._look())
            if look is not None:
                left = [task for name, task in look.tasks.items() if name != server]
                if all(task.at_rest for task in left):
                    return self._idleness.at_end(replace(look, wall=wall))
        return self._idleness.seconds

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
        """Return the CPU seconds of a test that ran inside the serving process."""
        if self._group is not None:
            return self._group.cpu() - self._cpu0
        live = self._server.cpu() - self._server_cpu0 if self._server is not None else 0.0
        return max(live, self._latest.cpu)

    def execution(
        self,
        limits: Limits,
        result: Result,
        hit: LimitHit | None,
        stdout_fd: int | None,
        stderr_fd: int | None,
    ) -> Execution:
        """Return the facts of a job that has ended; `queue` is 0.

        `hit` is the limit it was stopped at. Output without a descriptor here went elsewhere.
        """
        stdout = b"" if stdout_fd is None else memfile.content(stdout_fd, limits.output + 1)
        stderr = b"" if stderr_fd is None else memfile.content(stderr_fd, limits.output + 1)
        cpu = self.cpu(result.user + result.system)
        hit = hit or self.limit_hit(limits, result.status, cpu, stdout, stderr)
        wall = result.wall_ns / 1e9
        if hit is LimitHit.WALL and limits.wall is not None:
            # The limit counts from the request: on a busy machine, from before the program began.
            wall = max(wall, limits.wall)
        return Execution(
            exit_code=os.WEXITSTATUS(result.status) if os.WIFEXITED(result.status) else None,
            signal=os.WTERMSIG(result.status) if os.WIFSIGNALED(result.status) else None,
            stdout=stdout[: limits.output],
            stderr=stderr[: limits.output],
            cpu=cpu,
            wall=wall,
            memory=self._cell.peak(result.peak),
            queue=0.0,
            limit=hit,
            isolation=self._cell.isolation,
        )

    def limit_hit(
        self, limits: Limits, status: int, cpu: float, stdout: bytes, stderr: bytes
    ) -> LimitHit | None:
        """Return the limit that an ended program overran, if any."""
        if self._killed_for_memory():
            return LimitHit.MEMORY
        if cpu > limits.cpu:
            return LimitHit.CPU
        if len(stdout) > limits.output or len(stderr) > limits.output:
            return LimitHit.OUTPUT
        bounded = self._cell.address_space(limits) > 0
        out_of_address_space = os.WIFEXITED(status) and status != 0 and bounded
        if out_of_address_space and stderr.rstrip().endswith(b"MemoryError"):
            return LimitHit.MEMORY  # all that can be known without a group
        return None

    def _killed_for_memory(self) -> bool:
        """Return whether the kernel has killed for the memory limit.

        Raises CellDied if the limit was not enforced, or the kill came well below it.
        """
        if self._group is None:
            return False
        self._group.check()
        if self._group.oom_kills() <= self._oom0:
            return False
        peak = self._group.peak()
        if peak and peak < _AT_LIMIT * self._cell.memory_bound:
            raise CellDied(
                "the machine ran out of memory, and a program within its limit was killed"
            )
        return True
