"""Killing a process with all that descends from it, from outside."""

import os
import select
import signal
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from proctor.sandbox.machine import procfs

_ENDED = ("Z", "X", "")
_ENDED_WITHIN = 60.0
"""Time after which a process that does not die is given up, in seconds: the kernel may hold it."""


def kill_tree(root: int, among: Callable[[], Collection[int]]) -> None:
    """Kill `root` and its descendants, if it is one of `among()`, and wait for their end.

    They are stopped first, or some would fork while the others are looked for. Processes that may
    not be signalled (by root without CAP_KILL) are left alone.
    """
    held: dict[int, int] = {}
    try:
        # Opened before `root` is checked: a pidfd stays with its process, a number may be reused.
        if not _hold(root, held) or root not in among():
            return
        _signal(held[root], signal.SIGSTOP)
        until = time.monotonic() + _ENDED_WITHIN
        # A process that was stopped while it forked gets one more child after that, which `root`
        # inherits as a subreaper: so all others are killed again until none is left.
        while _kill_below(root, held) or not _stopped(root):
            if time.monotonic() > until:
                break
        _wait_for([held[root]] if _signal(held[root], signal.SIGKILL) else [])
    finally:
        for pidfd in held.values():
            os.close(pidfd)


def _kill_below(root: int, held: dict[int, int]) -> bool:
    """Stop, then kill, all descendants; return whether there were any."""
    while _stop_further(root, held):
        pass
    below = [pid for pid in held if pid != root]
    _wait_for([held[pid] for pid in below if _signal(held[pid], signal.SIGKILL)])
    for pid in below:
        os.close(held.pop(pid))
    return bool(below)


def _stopped(pid: int) -> bool:
    """Return whether a process is stopped for good, all its threads, or has ended."""
    try:
        threads = [int(thread.name) for thread in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:  # gone
        return True
    return all(procfs.state(thread) in {"T", "t", *_ENDED} for thread in threads)


def _stop_further(root: int, held: dict[int, int]) -> bool:
    """Stop the descendants that are not held yet; return whether there were any."""
    found = False
    for pid in procfs.descendants(root):  # parents come before their children
        if pid in held or procfs.state(pid) in _ENDED or not _hold(pid, held):
            continue
        if procfs.parent(pid) in held:
            found = True
            _signal(held[pid], signal.SIGSTOP)
        else:  # its number was reused, or its parent has ended: look again
            os.close(held.pop(pid))
    return found


def _hold(pid: int, held: dict[int, int]) -> bool:
    try:
        held[pid] = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    return True


def _signal(pidfd: int, number: signal.Signals) -> bool:
    try:
        signal.pidfd_send_signal(pidfd, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _wait_for(pidfds: Sequence[int]) -> None:
    """Wait until these processes, which were killed, have ended; reaping them is left to others."""
    poller = select.poll()
    for pidfd in pidfds:
        poller.register(pidfd, select.POLLIN)
    left, until = len(pidfds), time.monotonic() + _ENDED_WITHIN
    while left and time.monotonic() < until:
        for pidfd, _ in poller.poll(1000):
            poller.unregister(pidfd)
            left -= 1
