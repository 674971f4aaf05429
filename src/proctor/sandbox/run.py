"""`proctor.run`: one untrusted program, once."""

import asyncio
import dataclasses
import os
import threading
from concurrent.futures import Future

from proctor.errors import InputError, UsageError, must_be
from proctor.execution import Execution
from proctor.limits import Limits
from proctor.program import Program
from proctor.sandbox.backend import CellSetup
from proctor.sandbox.cell import Cell
from proctor.sandbox.choice import policy
from proctor.sandbox.machine import interpreter
from proctor.sandbox.pool import Pool
from proctor.text import as_bytes


def open_pool(
    *,
    isolation: str | None = None,
    min_isolation: str | None = None,
    python: str | None = None,
    packages: tuple[str, ...] = (),
    preload: tuple[str, ...] = (),
    cells: int | None = None,
    directories: tuple[str, ...] = (),
    furnished: bool = False,
    order: tuple[str, ...] = (),
) -> Pool:
    """Open a pool of cells; close it, or use it as a context manager.

    `isolation` is the level to use (default: the strongest that works here), `min_isolation` the
    weakest to accept, `python` the interpreter judged programs run under (default: the one proctor
    runs under), `packages` directories they may import from, `preload` modules that cells import
    once, `cells` how many to run at once (default: one per CPU), `directories` what programs may
    read besides; `furnished` cells are for sessions of tools that want a /tmp to write to and a
    user with a name (level namespaces); `order` the levels to try where nobody has said. Raises
    PlatformError or UsageError.
    """
    importable = interpreter.checked_packages(packages)
    if cells is not None and cells < 1:
        raise UsageError(f"the number of cells must be at least 1, not {cells}")
    choice = policy.choose(isolation, min_isolation, python, order)
    readable = interpreter.visible(directories, private_files=choice.backend.private_files)
    setup = CellSetup(choice.interpreter, importable, preload, readable, furnished)
    return Pool(choice.backend, setup, cells)


_shared: Pool | None = None
_lock = threading.Lock()


def _forget_shared_pool() -> None:
    """A fork has the parent's pool object but none of its threads."""
    global _shared, _lock
    _shared, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_forget_shared_pool)


def shared_pool() -> Pool:
    """Return the pool behind calls that bring none: default settings, opened on first use."""
    global _shared  # noqa: PLW0603 - one per process, like an event loop's default executor
    with _lock:
        if _shared is None or _shared.closed:
            _shared = open_pool()
        return _shared


def start(
    program: Program | str, stdin: bytes | str, limits: Limits, pool: Pool
) -> Future[Execution]:
    """Queue one run and return its future."""
    if isinstance(program, str):
        program = Program(program)
    if not isinstance(program, Program):
        raise InputError(f"a program is source text, not {type(program).__name__}", field="program")
    data = as_bytes(stdin, "stdin")
    must_be(Limits, limits, "limits")
    if program.language != "python":
        raise InputError(
            f"this runs Python programs, not {program.language!r}", field="program.language"
        )
    final = program

    def job(cell: Cell, queued: float) -> Execution:
        return dataclasses.replace(cell.run(final, data, limits), queue=queued)

    return pool.submit(job)


def run(
    program: Program | str,
    stdin: bytes | str = b"",
    *,
    limits: Limits | None = None,
    pool: Pool | None = None,
) -> Execution:
    """Run a program in isolation and return the facts of the run.

    Raises InputError for bad input, PlatformError where no isolation is to be had, and InfraFault
    if two cells in a row died. What the program does wrong is in the Execution, never an
    exception.
    """
    return start(program, stdin, limits or Limits(), pool or shared_pool()).result()


async def run_async(
    program: Program | str,
    stdin: bytes | str = b"",
    *,
    limits: Limits | None = None,
    pool: Pool | None = None,
) -> Execution:
    """`run` for asyncio. Cancelling takes the program off the queue, but not out of its cell."""
    future = start(program, stdin, limits or Limits(), pool or shared_pool())
    return await asyncio.wrap_future(future)
