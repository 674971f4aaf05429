"""The agent's view of the C part, and what stands in for it where it cannot be loaded.

Without it a job is a plain fork inside the box with resource limits only, and the host retires
the cell after that one job: slower, and without seccomp and Landlock. `doctor` says so.
"""

import fcntl
import os
import resource
import signal
import site
from collections.abc import Sequence
from typing import Any

from proctor.cell.wire import Request

try:
    from proctor.cell import _lockdown
except ImportError:
    _lockdown = None  # type: ignore[assignment]

# The agent goes on using these while it wears lcb_runner's state, in which `os` lacks them.
_kill, _killpg = os.kill, os.killpg

WORK = "/box/work"
_features = 0


class Job:
    """A spawned job: its first process and, in a PID namespace, the stub that is its init."""

    __slots__ = ("pid", "stub")

    def __init__(self, pid: int, stub: int) -> None:
        self.pid = pid
        self.stub = stub

    def kill(self) -> None:
        """End the job now."""
        try:
            if self.stub:
                _kill(self.stub, signal.SIGKILL)
            else:
                _killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            _kill(self.pid, signal.SIGKILL)  # its setsid has not happened yet

    def sweep(self) -> None:
        """After the first process was reaped: kill what else is left and wait until it is gone."""
        if self.stub:
            _kill(self.stub, signal.SIGKILL)
            # Whatever else the job made our child must be reaped too, or the namespace never ends.
            while os.waitpid(-1, 0)[0] != self.stub:
                pass
            return
        try:
            _killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            return


def prepare(config: dict[str, Any]) -> dict[str, Any]:
    """Lock down the agent itself and get ready to spawn; returns what is in force."""
    global _features  # noqa: PLW0603 - the agent is one process with one configuration
    site.setquit()
    site.sethelper()
    if _lockdown is None:
        return {"lockdown": False, "landlock": 0, "seccomp": False, "proc": False, "work": WORK}
    boxed = bool(config["boxed"])
    proc = boxed and _own_proc()
    abi = _lockdown.landlock_abi() if boxed else 0
    if boxed:
        _features = _lockdown.FEATURE_PIDNS | _lockdown.FEATURE_IPCNS | _lockdown.FEATURE_CAPS
    if proc and config["oom"]:
        _features |= _lockdown.FEATURE_OOM
    ruleset = -1
    if abi:
        _features |= _lockdown.FEATURE_LANDLOCK
        ruleset = _lockdown.landlock_ruleset(_rules(config["readable"], proc))
    own_pidns = os.pidfd_open(os.getpid()) if boxed else -1  # needs no /proc, unlike ns/pid
    if boxed:
        _lockdown.drop_bounding()  # nothing is ever gained by execve; the agent keeps what it has
        _lockdown.install_seccomp()
    _lockdown.configure(_features, ruleset, own_pidns, WORK)
    _lockdown.set_dumpable(0)
    return {"lockdown": True, "landlock": abi, "seccomp": boxed, "proc": proc}


def _own_proc() -> bool:
    """Replace the box's /proc by one that hides other processes; keep the box's if refused."""
    assert _lockdown is not None
    try:
        _lockdown.mount_proc()
    except OSError:
        return False
    return True


def _rules(readable: Sequence[str], proc: bool) -> list[tuple[str, int]]:
    assert _lockdown is not None
    rules = [(path, _lockdown.LANDLOCK_READ) for path in readable]
    rules += [("/dev/null", _lockdown.LANDLOCK_DEVICE), ("/dev/zero", _lockdown.LANDLOCK_DEVICE)]
    rules += [("/dev/urandom", _lockdown.LANDLOCK_READ), ("/dev/random", _lockdown.LANDLOCK_READ)]
    if proc:
        rules.append(("/proc", _lockdown.LANDLOCK_READ))
    # On the parent of the work directory: a rule on the directory itself would not cover the
    # file system that a job with disk mounts over it.
    rules.append((os.path.dirname(WORK), _lockdown.LANDLOCK_WORK))
    return rules


def spawn(streams: Sequence[int], kept: Sequence[int], request: Request) -> Job:
    """Fork a locked-down job; the child's Job has pid 0."""
    if _lockdown is None:
        return _spawn_plain(streams, kept, request)
    return Job(
        *_lockdown.spawn(
            streams, kept, request.cpu, request.address_space, request.file_size,
            request.processes, request.stack, request.disk,
        )
    )  # fmt: skip


def failure() -> tuple[int, int]:
    """(step, errno) where the last lock-down stopped; (0, 0) if it did not."""
    failed = _lockdown.failure() if _lockdown is not None else None
    return failed or (0, 0)


def fork_test(streams: Sequence[int], kept: Sequence[int]) -> int:
    """Fork one test of a serving job; 0 in the child."""
    if _lockdown is not None:
        return _lockdown.fork_test(streams, kept)
    pid = os.fork()
    if pid == 0:
        os.setsid()
        _place(streams, kept)
    return pid


def hide_from_tests() -> None:
    """Keep a serving process's memory and descriptors out of reach of the tests it forks."""
    if _lockdown is not None:
        _lockdown.set_dumpable(0)


def _spawn_plain(streams: Sequence[int], kept: Sequence[int], request: Request) -> Job:
    pid = os.fork()
    if pid == 0:
        os.setsid()
        _place(streams, kept)
        limits = [
            (resource.RLIMIT_CPU, request.cpu),
            (resource.RLIMIT_FSIZE, request.file_size),
            (resource.RLIMIT_STACK, request.stack),
            (resource.RLIMIT_CORE, 0),
        ]
        if request.address_space:
            limits.append((resource.RLIMIT_AS, request.address_space))
        for which, value in limits:
            resource.setrlimit(which, (value, value))
    return Job(pid, 0)


def _place(streams: Sequence[int], kept: Sequence[int]) -> None:
    # Above every target first, so that no dup2 below overwrites a source.
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 64) for fd in [*streams, *kept]]
    for target, fd in enumerate(high):
        os.dup2(fd, target)
    os.closerange(len(high), 1024)
