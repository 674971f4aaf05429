"""What the soak does to cells and to their host while they work.

Each fault is a function that returns whether it found something to harm. A process is only ever
signalled through a descriptor of it, and only after it was seen to be below this one: process
numbers are used again, and this machine may be somebody's.
"""

import contextlib
import os
import resource
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Self
from unittest import mock

from watched import Watched

from proctor.sandbox import meter
from proctor.sandbox.agent_process import AgentProcess
from proctor.sandbox.machine import cgroup, procfs


class Faults:
    """Injects faults, one after the other, from a thread of its own. Use as a context manager."""

    def __init__(self, watched: Watched, rng: Random, every: float) -> None:
        """`every` is the mean number of seconds between two faults."""
        self.counts: dict[str, int] = {}
        self.active = False
        """Whether one is going on, which some do for a while."""
        self._watched, self._rng, self._every = watched, rng, every
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, name="faults")
        self._clock = 0.0  # seconds by which the faked real-time clock is wrong

    @property
    def total(self) -> int:
        """How many were injected up to now."""
        return sum(self.counts.values())

    def __enter__(self) -> Self:
        self._patch = mock.patch.object(meter.time, "time", self._faked(meter.time.time))
        self._patch.start()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._patch.stop()

    def stop(self) -> None:
        """Leave the cells in peace from now on."""
        self._over.set()
        self._thread.join()

    def _work(self) -> None:
        faults: dict[str, Callable[[], bool]] = {
            "first process killed": self._kill_first,
            "agent killed": self._kill_agent,
            "control socket cut": self._cut,
            "control group removed": self._remove_group,
            "agent stopped": self._stop_agent,
            "first process stopped": self._stop_first,
            "descriptors used up": self._use_up_descriptors,
            "clock stepped": self._step_clock,
        }
        names = list(faults)
        while not self._over.wait(self._rng.expovariate(1 / self._every)):
            name = self._rng.choice(names)
            # Counted first: its harm may be reported before the fault is over.
            self.active = True
            self.counts[name] = self.counts.get(name, 0) + 1
            if not faults[name]():
                self.counts[name] -= 1
            self.active = False

    def _pause(self, most: float) -> None:
        self._over.wait(self._rng.uniform(0.05, most))

    def _cell(self) -> AgentProcess | None:
        cells = [cell for cell in self._watched.live() if isinstance(cell, AgentProcess)]
        return self._rng.choice(cells) if cells else None

    @contextlib.contextmanager
    def _process(self, *, first: bool) -> Iterator[int | None]:
        """Yield a descriptor of a cell's first process or of its agent; None if there is none."""
        cell = self._cell()
        pid = None
        if cell is not None:
            others = sorted(cell._own - {cell._process.pid})
            pid = cell._process.pid if first or not others else others[-1]
        with contextlib.ExitStack() as stack:
            opened = None
            if pid is not None:
                with contextlib.suppress(OSError):
                    opened = os.pidfd_open(pid)
                    stack.callback(os.close, opened)
            ours = opened is not None and pid in procfs.descendants(os.getpid())
            yield opened if ours else None

    def _signal(self, number: signal.Signals, *, first: bool) -> bool:
        with self._process(first=first) as process:
            return process is not None and _send(process, number)

    def _kill_first(self) -> bool:
        """Kill bwrap, or a keeper."""
        return self._signal(signal.SIGKILL, first=True)

    def _kill_agent(self) -> bool:
        return self._signal(signal.SIGKILL, first=False)

    def _stop(self, *, first: bool) -> bool:
        """Stop a process for less than it takes to seem idle."""
        with self._process(first=first) as process:
            if process is None or not _send(process, signal.SIGSTOP):
                return False
            try:
                self._pause(1.5)
            finally:
                _send(process, signal.SIGCONT)
        return True

    def _stop_first(self) -> bool:
        return self._stop(first=True)

    def _stop_agent(self) -> bool:
        return self._stop(first=False)

    def _cut(self) -> bool:
        cell = self._cell()
        if cell is None:
            return False
        with contextlib.suppress(OSError):
            cell.control.shutdown(socket.SHUT_RDWR)
            return True
        return False

    def _remove_group(self) -> bool:
        """Move everything out of a cell's control group, or out of one hierarchy of it."""
        cell = self._cell()
        group = cell.group if cell is not None else None
        if isinstance(group, cgroup.V1Group):
            homes = list(group._homes.values())
        elif isinstance(group, cgroup.V2Group):
            homes = [group._home]
        else:
            return False
        if len(homes) > 1 and self._rng.random() < 0.5:
            homes = [self._rng.choice(homes)]
        return sum(map(_empty, homes)) > 0

    def _use_up_descriptors(self) -> bool:
        """Leave this process room for a few descriptors, for a moment."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        highest = max(int(path.name) for path in Path("/proc/self/fd").iterdir())
        few = highest + self._rng.randrange(12)
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(few, soft), hard))
            self._pause(0.5)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        return True

    def _step_clock(self) -> bool:
        """Make the host's real-time clock and the kernel's stamps disagree by up to a day.

        That is what a step between two readings looks like. The machine's own clock is everybody's.
        """
        self._clock = self._rng.choice((0.0, self._rng.uniform(-86400.0, 86400.0)))
        return True

    def _faked(self, real: Callable[[], float]) -> Callable[[], float]:
        return lambda: real() + self._clock


def _send(process: int, number: signal.Signals) -> bool:
    try:
        signal.pidfd_send_signal(process, number)
    except ProcessLookupError:
        return False
    return True


def _empty(home: Path) -> bool:
    """Move a group's processes to its parent until it can be deleted."""
    for _ in range(200):
        with contextlib.suppress(OSError):
            for pid in (home / "cgroup.procs").read_text().split():
                with contextlib.suppress(OSError):
                    (home.parent / "cgroup.procs").write_text(pid)
        try:
            home.rmdir()
        except FileNotFoundError:
            return False
        except OSError:
            time.sleep(0.001)  # a fork bomb fills the group as fast as it is emptied
        else:
            return True
    return True
