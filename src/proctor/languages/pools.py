"""Pools whose cells see what languages read: compilers, run times, precompiled headers."""

from contextlib import suppress

from proctor.languages import registry
from proctor.languages.headers import Headers
from proctor.sandbox import pool as pools
from proctor.sandbox.machine import interpreter
from proctor.sandbox.pool import Pool

GROWTH_DELAY = 0.2
"""Seconds: about what it takes to start a cell. Few and short tests are done before."""


def open_pool(
    *,
    isolation: str | None = None,
    min_isolation: str | None = None,
    python: str | None = None,
    packages: tuple[str, ...] = (),
    preload: tuple[str, ...] = (),
    cells: int | None = None,
    directories: tuple[str, ...] = (),
    growth_delay: float = 0.0,
) -> Pool:
    """Open a pool of cells for programs in any language; close it, or use it as a context manager.

    `isolation` is the level to use (default: the strongest that works here), `min_isolation` the
    weakest to accept, `python` the interpreter judged programs run under (default: the one proctor
    runs under), `packages` directories they may import from, `preload` modules that cells import
    once, `cells` how many to run at once (default: one per CPU), `directories` further directories
    that programs may read; those that no cell could read are left out. `growth_delay` is how long
    jobs must have waited in all before another cell is started, in seconds. Raises PlatformError or
    UsageError.
    """
    # Packages are readable under their own paths too, for an interpreter that is started anew.
    readable = [*registry.reads(), *interpreter.checked_packages(packages), *directories]
    with suppress(OSError):  # without a directory for caches, compiling takes longer
        readable.append(str(Headers().place))
    return pools.open_pool(
        isolation=isolation,
        min_isolation=min_isolation,
        python=python,
        packages=packages,
        preload=preload,
        cells=cells,
        directories=tuple(readable),
        growth_delay=growth_delay,
    )
