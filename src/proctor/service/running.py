"""One program, once, with all that a door may ask for: files, arguments, what it leaves behind."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from proctor.errors import CompileFailed, InputError, NoLanguage
from proctor.execution import Execution, LimitHit
from proctor.languages import registry
from proctor.languages import scripts as pairs
from proctor.languages.cache import Cache
from proctor.languages.compiler import Compiler, said
from proctor.languages.headers import Headers
from proctor.languages.scripts import Scripts
from proctor.limits import MIB, Limits
from proctor.program import Program, check_relative
from proctor.sandbox.backend import CellSetup
from proctor.sandbox.cell import Cell
from proctor.sandbox.command import Command, disk_for
from proctor.sandbox.executing import in_cell

_PYTHON = ("-B", "-s")
_MAIN = "main.py"
PYTHON = "python"
"""The language that runs in the cell's own interpreter."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What to run. Raises InputError for names that could lead out of the working directory."""

    program: Program
    stdin: bytes = b""
    args: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    """Further variables; the host's are never there."""
    limits: Limits = field(default_factory=Limits)
    compile_cpu: float | None = None
    """CPU seconds that compiling may take; None: what the language's definition says."""
    collect: tuple[str, ...] = ()
    """Files to bring back, by relative path; those that are not there are left out."""
    most: int = 64 * MIB
    """Bytes to bring back in all."""
    packages: str | None = None
    """Set of packages that it may import, besides those for all."""
    assertions: bool = False
    """Have assertions evaluated in languages that do not do so by themselves."""
    scripts: Scripts | None = None
    """Compile and run by these: of the program only its files count, and its source if it has a
    name."""

    def __post_init__(self) -> None:
        for name in self.collect:
            check_relative(name)
        for text in (*self.args, *self.environment, *self.environment.values()):
            if "\0" in text:
                raise InputError("an argument or variable cannot hold NUL", field="args")

    @property
    def plain(self) -> bool:
        """Whether a warm interpreter can run it: Python source, and nothing around it."""
        program = self.program
        around = program.files or program.name or self.args or self.environment or self.collect
        if self.scripts is not None:
            return False
        return program.language == PYTHON and not around


@dataclass(frozen=True, slots=True)
class Compilation:
    """What came of compiling."""

    ok: bool
    output: str
    """What the compiler said."""
    wall: float
    """Wall seconds, nearly none where the result was at hand."""
    execution: Execution | None = None
    """The compiler's run, if it failed."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a request: a compilation, if the language has one, and a run, if it came to it.

    At least one of the two is there.
    """

    compilation: Compilation | None
    execution: Execution | None
    files: Mapping[str, bytes] = field(default_factory=dict)
    """What was collected."""
    queue: float = 0.0
    """Seconds that the request has waited for its turn."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request that has been compiled, if need be, and can be executed."""

    command: Command
    limits: Limits
    compilation: Compilation | None = None


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs requests in cells of one setup."""

    setup: CellSetup
    cache: Cache
    headers: Headers | None
    only_python: bool = False
    """Whether cells run nothing else: see Arena."""

    def run(self, cell: Cell, request: RunRequest) -> Ran:
        """Compile and run in this cell. Raises CellDied, InputError, NoLanguage."""
        if request.plain:
            return Ran(None, cell.run(request.program, request.stdin, request.limits))
        prepared = self.prepare(cell, request)
        if isinstance(prepared, Ran):
            return prepared
        finished = in_cell(cell)(prepared.command, request.stdin, prepared.limits)
        return Ran(prepared.compilation, finished.execution, finished.files)

    def prepare(self, cell: Cell, request: RunRequest) -> Prepared | Ran:
        """Compile in this cell; returns how it ended if that failed.

        Raises CellDied, InputError, NoLanguage.
        """
        if self.only_python and request.program.language != PYTHON:
            raise NoLanguage(
                f"{request.program.language} is not to be had at level container, which runs Python"
                " programs only: use level namespaces or landlock"
            )
        if request.scripts is not None:
            return _by_scripts(cell, request, request.scripts)
        if request.program.language == PYTHON:
            return Prepared(*self._python(request))
        began = time.monotonic()
        compiler = Compiler(in_cell(cell), self.cache, self.headers)
        try:
            built = compiler.build(
                request.program, cpu=request.compile_cpu, assertions=request.assertions
            )
        except CompileFailed as error:
            said, wall = error.output or str(error), time.monotonic() - began
            return Ran(Compilation(False, said, wall, error.execution), None)
        compiled = built.found.language.compile is not None
        compilation = Compilation(True, "", time.monotonic() - began) if compiled else None
        command = built.command(
            request.args, memory=request.limits.memory, files=request.program.files,
            collect=request.collect, most=request.most,
        )  # fmt: skip
        command = replace(command, environment={**command.environment, **request.environment})
        return Prepared(command, built.limits(request.limits, command), compilation)

    def _python(self, request: RunRequest) -> tuple[Command, Limits]:
        """The cell's own interpreter, started anew, with files and arguments."""
        program = request.program
        name = program.name or _MAIN
        paths = ":".join(self.setup.packages)
        environment = {"PYTHONHASHSEED": "0", **({"PYTHONPATH": paths} if paths else {})}
        command = Command(
            (self.setup.interpreter.executable, *_PYTHON, name, *request.args),
            files={**program.files, name: program.encoded()},
            environment={**environment, **request.environment},
            collect=request.collect,
            most=request.most,
        )
        limits = request.limits
        return command, replace(limits, disk=disk_for(command, limits.disk))


def _by_scripts(cell: Cell, request: RunRequest, scripts: Scripts) -> Prepared | Ran:
    program = request.program
    files = {**program.files, **({program.name: program.encoded()} if program.name else {})}
    if request.compile_cpu is not None:
        scripts = replace(scripts, limits=replace(scripts.limits, cpu=request.compile_cpu))
    began = time.monotonic()
    try:
        left = pairs.compiled(in_cell(cell), scripts, files)
    except CompileFailed as error:
        told, wall = error.output or str(error), time.monotonic() - began
        return Ran(Compilation(False, told, wall, error.execution), None)
    compilation = None
    if left.finished is not None:
        compilation = Compilation(True, said(left.finished), time.monotonic() - began)
    command = pairs.running(
        scripts, left.files, request.args, environment=request.environment,
        collect=request.collect, most=request.most,
    )  # fmt: skip
    limits = request.limits
    return Prepared(command, replace(limits, disk=disk_for(command, limits.disk)), compilation)


_VERDICTS = {
    LimitHit.CPU: "TLE", LimitHit.WALL: "ILE", LimitHit.IDLE: "ILE", LimitHit.MEMORY: "MLE",
    LimitHit.OUTPUT: "OLE", LimitHit.DISK: "OLE", LimitHit.PROCESSES: "RE",
}  # fmt: skip


def verdict_of(ran: Ran) -> str:
    """Say how a run ended: OK, CE, RE, TLE, ILE, MLE or OLE."""
    if ran.execution is None:
        return "CE"
    return verdict_by(ran.execution.limit, ok=ran.execution.ok)


def verdict_by(limit: LimitHit | None, *, ok: bool) -> str:
    """Say how something that was run ended: by a limit, else well or not."""
    if limit is not None:
        return _VERDICTS[limit]
    return "OK" if ok else "RE"


def checked_language(name: str) -> str:
    """Return the id of a language, by id or alias. Raises InputError if there is none."""
    return PYTHON if name == PYTHON else registry.get(name).id
