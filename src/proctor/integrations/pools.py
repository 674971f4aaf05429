"""The pool that the drop-ins judge in."""

from importlib.util import find_spec
from pathlib import Path

from proctor.errors import UsageError
from proctor.languages.run import default_pool
from proctor.per_process import PerProcess
from proctor.sandbox.choice import policy
from proctor.sandbox.machine import interpreter
from proctor.sandbox.pool import Pool


class ChosenPool:
    """The pool that a caller has named, else the default one whose programs can import numpy."""

    def __init__(self) -> None:
        self._chosen: Pool | None = None

    def get(self) -> Pool:
        """Return the pool. Raises UsageError for one opened before a fork, and as `open_pool`."""
        pool = self._chosen
        if pool is None:
            return _with_numpy.get()
        if pool.forked:
            raise UsageError(
                "the pool given to use_pool was opened before this process was forked;"
                " open one in here, or call use_pool(None)"
            )
        return pool

    def use(self, pool: Pool | None) -> None:
        """Take the caller's pool; None goes back to the default."""
        self._chosen = pool


chosen_pool = ChosenPool()


def beside_numpy() -> tuple[str, ...]:
    """Return the directory that numpy is installed in, if cells can use it."""
    spec = find_spec("numpy")
    if spec is None or spec.origin is None:
        return ()
    choice = policy.choose()
    home = str(Path(spec.origin).parents[1])
    can_read = choice.backend.private_files or interpreter.readable_by_others(home)
    return (home,) if can_read and choice.interpreter == interpreter.current() else ()


_with_numpy = PerProcess(lambda: default_pool(beside_numpy()), lambda pool: not pool.closed)
