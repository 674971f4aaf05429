"""Running one program once, in any language, with its input, arguments, files and limits.

The compiler is imported when it is needed: the first run of plain Python waits for all imports.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from proctor.errors import CompileFailed, InputError, NoLanguage, must_be
from proctor.execution import Execution
from proctor.languages.pools import open_pool
from proctor.limits import LIMITS_HINT, MIB, Limits
from proctor.per_process import PerProcess
from proctor.program import ON_COMMAND_LINE, Program, check_relative, warn_of_path
from proctor.sandbox.backend import CellSetup
from proctor.sandbox.cell import Cell
from proctor.sandbox.command import Command, disk_for
from proctor.sandbox.executor import Executor, in_cell, in_pool
from proctor.sandbox.pool import Job, Pool
from proctor.text import as_bytes

if TYPE_CHECKING:
    from proctor.languages.cache import Cache
    from proctor.languages.headers import Headers
    from proctor.languages.scripts import Scripts

PYTHON = "python"
"""The language that runs in the cell's own interpreter."""
_FLAGS = ("-B", "-s")
_MAIN = "main.py"
_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A program with its input and surroundings.

    Raises InputError for names that could lead out of the working directory.
    """

    program: Program
    stdin: bytes = b""
    args: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables to set besides the usual ones; the host's are never there."""
    limits: Limits = field(default_factory=Limits)
    compile_cpu: float | None = None
    """CPU time that compiling may take, in seconds; None for that of the language's definition."""
    collect: tuple[str, ...] = ()
    """Relative paths of files to bring back; those that do not exist are left out."""
    most: int = 64 * MIB
    """Largest total size of the files brought back, in bytes."""
    packages: str | None = None
    """Name of the service's package set to run with; None for the packages that all may import."""
    assertions: bool = False
    """True to evaluate assertions in languages that do not do so by themselves."""
    merged: bool = False
    """True if what the program writes to stderr goes to stdout, in the order in which it writes."""
    scripts: Scripts | None = None
    """Scripts that compile and run the program's files, and its source if that has a name; None
    to compile and run it as its language is defined."""

    def __post_init__(self) -> None:
        for name in self.collect:
            check_relative(name)
        for text in (*self.args, *self.environment, *self.environment.values()):
            if "\0" in text:
                raise InputError("an argument or variable cannot hold NUL", field="args")

    @property
    def plain(self) -> bool:
        """True if a warm interpreter can run it: Python source, and nothing around it."""
        program = self.program
        named = program.name not in {"", ON_COMMAND_LINE}
        around = program.files or named or self.args or self.environment or self.collect
        plain = not around and not self.merged and self.scripts is None
        return program.language == PYTHON and plain


@dataclass(frozen=True, slots=True)
class Compilation:
    """The outcome of compiling."""

    ok: bool
    output: str
    """The compiler's messages."""
    wall: float
    """Wall time in seconds, nearly none where the result was in the cache."""
    execution: Execution | None = None
    """The compiler's own execution, if it failed."""


@dataclass(frozen=True, slots=True)
class Ran:
    """The outcome of a request: a compilation, an execution, or both.

    There is no compilation for a language without one, and no execution if compiling failed.
    """

    compilation: Compilation | None
    execution: Execution | None
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Collected files by relative path."""
    queue: float = 0.0
    """Time that the request has waited for its turn, in seconds."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request that can be executed: compiled, if its language takes that."""

    command: Command
    limits: Limits
    compilation: Compilation | None = None


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs requests in cells of one setup."""

    setup: CellSetup
    cache: Cache
    headers: Headers | None = None
    only_python: bool = False
    """True if the cells run Python programs only, as at level container."""

    def run(self, cell: Cell, request: RunRequest) -> Ran:
        """Compile and run in one cell. Raises CellDied, InputError, NoLanguage."""
        if request.plain:
            return Ran(None, cell.run(request.program, request.stdin, request.limits))
        prepared = self.prepare(cell, request)
        if isinstance(prepared, Ran):
            return prepared
        finished = in_cell(cell)(prepared.command, request.stdin, prepared.limits)
        return Ran(prepared.compilation, finished.execution, finished.files)

    def prepare(self, cell: Cell, request: RunRequest) -> Prepared | Ran:
        """Compile in one cell; return Ran, without an execution, if that fails.

        Raises CellDied, InputError, NoLanguage.
        """
        began = time.monotonic()
        try:
            return self.compile(in_cell(cell), request)
        except CompileFailed as error:
            output, wall = error.output or str(error), time.monotonic() - began
            return Ran(Compilation(False, output, wall, error.execution), None)

    def compile(self, execute: Executor, request: RunRequest) -> Prepared:
        """Compile with `execute`. Raises CompileFailed, InputError, NoLanguage, InfraFault."""
        prepared = self._compile(execute, request)
        if request.merged:
            return replace(prepared, command=replace(prepared.command, merged=True))
        return prepared

    def _compile(self, execute: Executor, request: RunRequest) -> Prepared:
        if self.only_python and request.program.language != PYTHON:
            raise NoLanguage(
                f"{request.program.language} is not available at level container, which runs Python"
                " programs only: use level namespaces or landlock"
            )
        if request.scripts is not None:
            return _by_scripts(execute, request, request.scripts)
        if request.program.language == PYTHON:
            return Prepared(*self._python(request))
        from proctor.languages.compiler import Compiler

        began = time.monotonic()
        built = Compiler(execute, self.cache, self.headers).build(
            request.program, cpu=request.compile_cpu, assertions=request.assertions
        )
        compiled = built.found.language.compile is not None
        compilation = Compilation(True, "", time.monotonic() - began) if compiled else None
        command = built.command(
            request.args, memory=request.limits.memory, files=request.program.files,
            collect=request.collect, most=request.most,
        )  # fmt: skip
        command = replace(command, environment={**command.environment, **request.environment})
        return Prepared(command, built.limits(request.limits, command), compilation)

    def _python(self, request: RunRequest) -> tuple[Command, Limits]:
        """Return a new process of the cell's own interpreter, with files and arguments."""
        program = request.program
        name = program.name or _MAIN
        paths = ":".join(self.setup.packages)
        environment = {"PYTHONHASHSEED": "0", **({"PYTHONPATH": paths} if paths else {})}
        command = Command(
            (self.setup.interpreter.executable, *_FLAGS, name, *request.args),
            files={**program.files, name: program.encoded()},
            environment={**environment, **request.environment},
            collect=request.collect,
            most=request.most,
        )
        limits = request.limits
        return command, replace(limits, disk=disk_for(command, limits.disk))


def _by_scripts(execute: Executor, request: RunRequest, scripts: Scripts) -> Prepared:
    from proctor.languages import scripts as by_script
    from proctor.languages.compiler import compiler_messages

    program = request.program
    files = {**program.files, **({program.name: program.encoded()} if program.name else {})}
    if request.compile_cpu is not None:
        scripts = replace(scripts, limits=replace(scripts.limits, cpu=request.compile_cpu))
    began = time.monotonic()
    left = by_script.run_compile(execute, scripts, files)
    compilation = None
    if left.finished is not None:
        compilation = Compilation(True, compiler_messages(left.finished), time.monotonic() - began)
    command = by_script.run_command(
        scripts, left.files, request.args, environment=request.environment,
        collect=request.collect, most=request.most,
    )  # fmt: skip
    limits = request.limits
    return Prepared(command, replace(limits, disk=disk_for(command, limits.disk)), compilation)


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
    isolation is available (NoLanguage where the language is not), and InfraFault if two cells in a
    row died. Failures of the program are in the Execution, never exceptions.
    """
    warn_of_path(program)
    request = _request(program, stdin, limits)
    pool = pool or default_pool()
    if request.plain:
        return pool.do(_job(request))
    from proctor.languages.cache import Cache

    runner = Runner(pool.setup, Cache(), only_python=pool.only_python)
    prepared = runner.compile(in_pool(pool), request)
    return in_pool(pool)(prepared.command, request.stdin, prepared.limits).execution


async def run_async(
    program: Program | str,
    stdin: bytes | str = b"",
    *,
    limits: Limits | None = None,
    pool: Pool | None = None,
) -> Execution:
    """Run a program, for asyncio; arguments, result and errors are those of `run`.

    Cancelling takes the program off the queue, but not out of its cell.
    """
    import asyncio

    warn_of_path(program)
    request = _request(program, stdin, limits)
    if request.plain:
        return await asyncio.wrap_future(start(request, pool or default_pool()))
    return await asyncio.to_thread(run, request.program, stdin, limits=limits, pool=pool)


def _request(program: Program | str, stdin: bytes | str, limits: Limits | None) -> RunRequest:
    if not isinstance(program, Program):
        program = Program(program)
    data, limits = as_bytes(stdin, "stdin"), limits or _LIMITS
    must_be(Limits, limits, "limits", LIMITS_HINT)
    return RunRequest(program, data, limits=limits)


def start(request: RunRequest, pool: Pool) -> Future[Execution]:
    """Queue a plain request: Python source, for a warm interpreter."""
    return pool.submit(_job(request))


def _job(request: RunRequest) -> Job[Execution]:
    def job(cell: Cell, queued: float) -> Execution:
        execution = cell.run(request.program, request.stdin, request.limits)
        return dataclasses.replace(execution, queue=queued) if queued else execution

    return job


def default_pool(packages: tuple[str, ...] = ()) -> Pool:
    """Return this process's default pool for these `packages`, opened on first use.

    Its cells see what languages read. Raises as open_pool.
    """
    return _pools.get(packages)


def _open(packages: tuple[str, ...]) -> Pool:
    return open_pool(packages=packages)


_pools = PerProcess(_open, lambda pool: not pool.closed)
