"""The keeper, which ends a cell without a PID namespace: a parent of the agent that outlives it.

Without a box, processes of a job would stay behind when their agent is killed. The keeper is
started first, adopts every orphan below it, and when the agent is gone kills whatever is left.
Keeper and agent kill by kill(-1), which reaches all processes that they may signal. A Landlock
scope (Linux 6.12) or user ids that nobody else has restrict these to the cell's processes, which
is proved before it is relied on.
"""

import contextlib
import os
import signal
from typing import Any, NoReturn

from proctor.cell import _lockdown

CAP_SETGID, CAP_SETUID = 1 << 6, 1 << 7


class NotContained(Exception):
    """Neither a scope nor a user of its own keeps this cell's processes apart from others."""


def start(config: dict[str, Any], inherited: list[int]) -> None:
    """Split into the keeper, which never returns, and the agent-to-be, which does.

    `inherited` are descriptors that only the agent may hold. Raises NotContained.
    """
    host = os.getppid()
    _scope(config)
    _lockdown.adopt_orphans()
    agent = os.fork()
    if agent:
        for fd in inherited:
            os.close(fd)
        _keep(agent, config)
    _scope(config)  # once more: the keeper must be out of the agent's reach
    _lockdown.adopt_orphans()
    config["outside"] = [host, os.getppid()]


def drop(config: dict[str, Any]) -> None:
    """Become the agent's own user, if it has one, and prove that nothing else is within reach."""
    guard, uid = config["guard"], config["uid"]
    if uid is not None:
        os.setgroups([])
        os.setresgid(guard, guard, guard)
        _lockdown.keep_capabilities(CAP_SETGID | CAP_SETUID)
        os.setresuid(guard, uid, guard)  # the user as which jobs are signalled
    for pid in config["outside"]:
        try:
            os.kill(pid, 0)
        except PermissionError:
            continue
        raise NotContained(f"process {pid}, which is none of this cell's, could be signalled")
    if uid is not None:
        os.setresuid(guard, guard, guard)
        _lockdown.keep_capabilities(CAP_SETGID | CAP_SETUID)  # the change of user disabled them


def _prove_harmless() -> None:
    """Exit if process 1 can be signalled: kill(-1) would then hit everybody, or we are it."""
    try:
        os.kill(1, 0)
    except PermissionError:
        return
    os._exit(1)


def _scope(config: dict[str, Any]) -> None:
    try:
        _lockdown.landlock_scope()
    except OSError as error:
        if config["uid"] is None:
            raise NotContained(
                "level landlock needs Linux 6.12 (Landlock ABI 6), or root with CAP_SETUID and"
                f" CAP_SETGID: {error}"
            ) from error


def _keep(agent: int, config: dict[str, Any]) -> NoReturn:
    """Wait for the agent's end, then leave nothing of the cell alive."""
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    while os.waitpid(-1, 0)[0] != agent:
        pass
    if config["uid"] is not None:
        # Real and saved user are the agent's: no process of the job's user can signal us.
        os.setresuid(config["guard"], config["uid"], config["guard"])
    _prove_harmless()
    while True:
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            os._exit(0)
