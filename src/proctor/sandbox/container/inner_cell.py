"""A cell that has its container to itself: all processes but proctor's are its own."""

import contextlib
import dataclasses
import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from proctor.limits import Limits
from proctor.sandbox.backend import CellSetup, Launch, Launcher, Start
from proctor.sandbox.container.group import ContainerGroup
from proctor.sandbox.container.size import WORK
from proctor.sandbox.machine.cgroup import Group
from proctor.sandbox.process_cell import ProcessCell

SCRATCH = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run/lock", WORK)  # noqa: S108
"""Directories that a program may find writable if a runtime has made them so."""
SYSV = tuple(Path("/proc/sysvipc", name) for name in ("shm", "sem", "msg"))
_WATCH_EVERY = (0.005, 0.03)
_NICE = 19
_GONE_WITHIN = 5.0
"""Time in which killed processes must be gone before the container is given up, in seconds."""


class InnerCell(ProcessCell):
    """A process cell in a container of its own."""

    def __init__(self, backend: Launcher, setup: CellSetup, group: ContainerGroup) -> None:
        self._container = group
        self._container.own = frozenset()
        self._memory_before = 0
        self._writable = [path for path in SCRATCH if os.access(path, os.W_OK)]
        self._plain = backend.level in {"filter", "none"}
        shared = WORK if WORK in self._writable and self._plain else None
        super().__init__(_Working(backend, shared), setup)
        self._container.own = frozenset(self._own)
        if group.readable:
            self.watch_every = _WATCH_EVERY  # one figure, read quickly
        # The kernel counts threads of our user in all containers; only this container has the user.
        self._others = _tasks() - 1
        # We share a CPU with the jobs that we must stop; niceness counts only within the container.
        for pid in self._own:
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, pid, _NICE)
        self._before = self._files()

    def new_group(self) -> Group | None:
        return self._container

    def counted(self, controls: frozenset[str]) -> frozenset[str]:
        return controls | {"memory"} if self._container.readable else controls

    def disk_to_mount(self, limits: Limits) -> int:
        # Without walls in here the engine has mounted the disk, and we empty it between jobs.
        return 0 if self._plain else limits.disk

    def address_space(self, limits: Limits) -> int:
        # The group's figure covers the whole tree, and the engine's own limit stands behind it.
        return 0 if self._container.readable else super().address_space(limits)

    def set_limits(self, limits: Limits) -> None:
        super().set_limits(limits)
        self._memory_before = self._container.memory()

    def job_memory(self, pids: list[int], limit: int) -> int:
        if not self._container.readable:
            return super().job_memory(pids, limit)
        return self._container.memory() - self._memory_before

    def stop_job(self) -> None:
        # The agent would first have to get the CPU, among all the processes that it is to kill.
        self._kill(self.job_pids())
        super().stop_job()

    def _clear_group(self) -> None:
        self._end_all(self._container.pids, 0)  # the cell is gone: its processes must be, too

    def _end_all(self, find: Callable[[], list[int]], first: int) -> list[int]:
        """Kill and collect what `find` finds; return what is left in the end."""
        until = time.monotonic() + _GONE_WITHIN
        _reap(first)
        while (left := find()) and time.monotonic() < until:
            self._kill(left)
            os.sched_yield()
            _reap(first)
        return left

    def _kill(self, pids: list[int]) -> None:
        assert os.getpid() == 1, "outside a container others' processes would be killed"
        for pid in pids:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)

    def clear(self) -> None:
        """Remove all that the last job left; if that fails, the cell is odd from now on."""
        left = self._end_all(self.job_pids, self.first_pid)
        if WORK in self._writable and self._plain:
            _empty(Path(WORK))
        if left or self._files() != self._before or _shared_memory():
            self.odd = True

    def _files(self) -> list[str]:
        return [f"{path}/{name}" for path in self._writable for name in os.listdir(path)]  # noqa: PTH208


class _Working:
    """A level whose agent works in a directory that jobs may write to, if there is one."""

    def __init__(self, inner: Launcher, work: str | None) -> None:
        self.level = inner.level
        self.guarantees = inner.guarantees
        self._inner, self._work = inner, work

    def launch(self, setup: CellSetup, start: Start) -> Launch:
        launch = self._inner.launch(setup, start)
        config = {**launch.config, "work": self._work}
        if self._work is None or launch.scratch is None:
            return dataclasses.replace(launch, config=config)
        launch.scratch.remove()  # what the engine has mounted is better
        return dataclasses.replace(launch, config={**config, "scratch": None}, scratch=None)


def _tasks() -> int:
    """Threads in the container now: proctor's own, the keeper's and the agent's."""
    return sum(
        len(list((process / "task").iterdir()))
        for process in Path("/proc").iterdir()
        if process.name.isdigit()
    )


def _reap(first: int) -> None:
    """Collect the dead whose parents died before them: as process 1 we inherit them."""
    with contextlib.suppress(ChildProcessError):
        while (dead := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
            if dead.si_pid == first:
                return  # the cell itself must notice this end
            os.waitpid(dead.si_pid, 0)


def _empty(directory: Path) -> None:
    """Delete what can be deleted in a directory; the caller checks what is left."""
    for path in directory.iterdir():
        with contextlib.suppress(OSError, RecursionError):  # nested deeper than Python may go
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()


def _shared_memory() -> bool:
    """Return whether there is System V memory, or a queue, that no process holds any more."""
    for path in SYSV:
        with contextlib.suppress(OSError):
            if len(path.read_text().splitlines()) > 1:
                return True
    return False


def facts(group: ContainerGroup) -> dict[str, Any]:
    """Return the signs, as seen from inside, of the walls that the engine was to set up."""
    lines = Path("/proc/self/status").read_text().splitlines()
    status = dict(line.split(":", 1) for line in lines)
    return {
        "memory_seen": group.readable,
        "filter": status.get("Seccomp", "0").strip() == "2",
        "kernel": Path("/proc/version").read_text(),
        "interfaces": any(name != "lo" for name in _interfaces()),
    }


def _interfaces() -> list[str]:
    try:
        lines = Path("/proc/net/dev").read_text().splitlines()
    except OSError:
        return []
    return [line.split(":")[0].strip() for line in lines[2:]]
