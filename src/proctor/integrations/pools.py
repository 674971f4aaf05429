"""Which pool the drop-ins judge in."""

import os
import threading
from importlib.util import find_spec
from pathlib import Path

from proctor.errors import UsageError
from proctor.sandbox.choice import policy
from proctor.sandbox.machine import interpreter
from proctor.sandbox.pool import Pool
from proctor.sandbox.run import open_pool


class Pools:
    """The pool to judge in: the caller's, or one opened on first use.

    A pool's threads do not survive a fork, and scripts like to judge in worker processes: there
    each opens a pool of its own.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._own: Pool | None = None
        self._chosen: Pool | None = None
        self._forked = False

    def get(self) -> Pool:
        """Raises UsageError for a pool that stayed behind in the parent, and as `open_pool`."""
        with self._lock:
            if self._chosen is not None:
                if self._forked:
                    raise UsageError(
                        "the pool given to use_pool was opened before this process was forked;"
                        " open one in here, or call use_pool(None)"
                    )
                return self._chosen
            if self._own is None or self._own.closed:
                self._own = open_pool(packages=beside_numpy())
            return self._own

    def use(self, pool: Pool | None) -> None:
        """Take the caller's pool; None goes back to our own."""
        with self._lock:
            self._chosen, self._forked = pool, False

    def after_fork(self) -> None:
        """Forget, in a child, what belongs to the parent."""
        self._lock = threading.Lock()
        self._own, self._forked = None, True


pools = Pools()
os.register_at_fork(after_in_child=pools.after_fork)


def beside_numpy() -> tuple[str, ...]:
    """The directory numpy is installed in, if cells can use it."""
    spec = find_spec("numpy")
    if spec is None or spec.origin is None:
        return ()
    choice = policy.choose()
    home = str(Path(spec.origin).parents[1])
    can_read = choice.backend.private_files or interpreter.readable_by_others(home)
    return (home,) if can_read and choice.interpreter == interpreter.current() else ()
