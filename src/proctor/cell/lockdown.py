"""The agent's own lock-down, and its choice between the C part and what stands in for it."""

import contextlib
import os
import site
from collections.abc import Callable, Sequence
from typing import Any

from proctor.cell import fallback, pages

try:
    from proctor.cell import _lockdown
except ImportError:
    _lockdown = None  # type: ignore[assignment]

WORK = "/box/work"
Wear = Callable[[int], None]
"""Puts lcb_runner's process state on (1) or takes it off (0)."""


def prepare(config: dict[str, Any]) -> dict[str, Any]:
    """Get ready to spawn; returns what will be in force once `seal` has been called."""
    site.setquit()
    site.sethelper()
    if _lockdown is None:
        return {"lockdown": False, "landlock": 0, "seccomp": False, "proc": False}
    boxed = bool(config["boxed"])
    proc = boxed and _own_proc()
    abi = _lockdown.landlock_abi() if boxed else 0
    features = 0
    if boxed:
        features = _lockdown.FEATURE_PIDNS | _lockdown.FEATURE_IPCNS | _lockdown.FEATURE_CAPS
    if proc and config["oom"]:
        features |= _lockdown.FEATURE_OOM
    ruleset = -1
    if abi:
        features |= _lockdown.FEATURE_LANDLOCK
        ruleset = _lockdown.landlock_ruleset(_rules(config["readable"], proc))
    own_pidns = os.pidfd_open(os.getpid()) if boxed else -1  # needs no /proc, unlike ns/pid
    _lockdown.configure(features, ruleset, own_pidns, WORK)
    return {"lockdown": True, "landlock": abi, "seccomp": boxed, "proc": proc}


def pin(play: Callable[[], object]) -> None:
    """Pin the pages that `play`, the least a job does, writes to, if the kernel lets us."""
    if _lockdown is not None:
        with contextlib.suppress(OSError):
            _lockdown.pin(pages.written_by(play))


def seal(config: dict[str, Any]) -> None:
    """Give up what only the set-up needed; after this the agent serves."""
    if _lockdown is not None and config["boxed"]:
        _lockdown.drop_bounding()  # nothing is ever gained by execve; the agent keeps what it has
        _lockdown.install_seccomp()


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


def serve(control_fd: int, null_fd: int, wear: Wear) -> tuple[int, str]:
    """Serve the host's requests; returns (kind, function) in a locked-down job, never here."""
    if _lockdown is None:
        return fallback.serve(control_fd, null_fd, wear)
    kind, function = _lockdown.serve(control_fd, null_fd, wear)
    return kind, function.decode("utf-8", "surrogatepass")


def serve_tests(feed_fd: int) -> None:
    """Fork one process per test that arrives on the feed; returns in the test's process only."""
    if _lockdown is None:
        fallback.serve_tests(feed_fd)
    else:
        _lockdown.serve_tests(feed_fd)
