"""`proctor.run`: one untrusted program, once, in whatever language."""

import asyncio
import os
import threading
import weakref

from proctor.errors import must_be
from proctor.execution import Execution
from proctor.languages import registry
from proctor.languages.compiler import Compiler
from proctor.limits import Limits
from proctor.program import Program
from proctor.sandbox import run as python
from proctor.sandbox.executing import in_pool
from proctor.sandbox.pool import Pool
from proctor.text import as_bytes

_compilers: weakref.WeakKeyDictionary[Pool, Compiler] = weakref.WeakKeyDictionary()
_lock = threading.Lock()
_shared: Pool | None = None


def _forget() -> None:
    """A fork has the parent's pool object but none of its threads."""
    global _shared, _lock
    _shared, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_forget)


def run(
    program: Program | str,
    stdin: bytes | str = b"",
    *,
    limits: Limits | None = None,
    pool: Pool | None = None,
) -> Execution:
    """Run a program in isolation and return the facts of the run.

    Python runs in the cell's own interpreter; a program in another language is compiled first, if
    it has not been before. Raises InputError for bad input, CompileFailed, PlatformError where no
    isolation is to be had (NoLanguage where the language is not), and InfraFault if two cells in a
    row died. What the program does wrong is in the Execution, never an exception.
    """
    if not isinstance(program, Program) or program.language == "python":
        return python.run(program, stdin, limits=limits, pool=pool)
    data, limits = as_bytes(stdin, "stdin"), limits or Limits()
    must_be(Limits, limits, "limits")
    pool = pool or _pool()
    built = _compiler(pool).build(program)
    command = built.command(memory=limits.memory)
    own = built.limits(limits, command)
    return in_pool(pool)(command, data, own).execution


async def run_async(
    program: Program | str,
    stdin: bytes | str = b"",
    *,
    limits: Limits | None = None,
    pool: Pool | None = None,
) -> Execution:
    """`run` for asyncio. Cancelling takes the program off the queue, but not out of its cell."""
    if not isinstance(program, Program) or program.language == "python":
        return await python.run_async(program, stdin, limits=limits, pool=pool)
    return await asyncio.to_thread(run, program, stdin, limits=limits, pool=pool)


def _pool() -> Pool:
    """Return the pool behind calls that bring none; its cells see what the languages read."""
    global _shared  # noqa: PLW0603 - one per process, as in sandbox/run.py
    with _lock:
        if _shared is None or _shared.closed:
            _shared = python.open_pool(directories=registry.reads())
        return _shared


def _compiler(pool: Pool) -> Compiler:
    with _lock:
        return _compilers.setdefault(pool, Compiler(in_pool(pool)))
