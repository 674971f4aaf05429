"""The pools behind the sandboxes of one process: one for each way that cells are set up."""

import threading
from dataclasses import dataclass

from proctor.integrations.inspect_ai.config import IDLE, SandboxConfig
from proctor.sandbox import workspace
from proctor.sandbox.pool import Pool, open_pool
from proctor.sandbox.session import Session

_MOST = 4096
"""Limit on concurrent sessions, each with a cell. Cells are started on demand; inspect_ai decides
how many samples run at once."""


@dataclass(slots=True)
class _SharedPool:
    pool: Pool
    tasks: int = 0


_used: dict[tuple[object, ...], _SharedPool] = {}
_lock = threading.Lock()


def begin(config: SandboxConfig) -> None:
    """Count a task that needs cells of this configuration. Raises PlatformError, UsageError."""
    with _lock:
        _of(config).tasks += 1


def end(config: SandboxConfig) -> None:
    """Count a task as over; with the last one its cells end, and all sessions in them."""
    with _lock:
        used = _used.get(_key(config))
        if used is None:
            return
        used.tasks -= 1
        if used.tasks > 0:
            return
        del _used[_key(config)]
    used.pool.close()


def lease(config: SandboxConfig) -> Session:
    """Open a session, in an idle or a new cell. Raises PlatformError, InfraFault."""
    with _lock:
        pool = _of(config).pool
    session = Session(pool, config.limits, IDLE, owns_pool=False)
    try:
        session.run(workspace.MAKE_TMP)
    except BaseException:
        session.close()
        raise
    return session


def _key(config: SandboxConfig) -> tuple[object, ...]:
    return (
        config.isolation, config.min_isolation, config.python, config.packages, config.preload,
        config.directories,
    )  # fmt: skip


def _of(config: SandboxConfig) -> _SharedPool:
    used = _used.get(_key(config))
    if used is None or used.pool.closed:
        pool = open_pool(
            isolation=config.isolation, min_isolation=config.min_isolation, python=config.python,
            packages=config.packages, preload=config.preload, directories=config.directories,
            cells=_MOST, for_tools=True,
        )  # fmt: skip
        used = _used[_key(config)] = _SharedPool(pool, used.tasks if used is not None else 0)
    return used
