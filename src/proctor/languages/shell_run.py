"""Running one program as a shell would: with arguments, while somebody reads along and types."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath

from proctor.errors import CellDied, InfraFault, InputError
from proctor.execution import Execution
from proctor.languages import registry
from proctor.languages.cache import Cache
from proctor.languages.run import PYTHON, Runner, RunRequest
from proctor.limits import Limits
from proctor.program import Program
from proctor.sandbox.cell import Cell
from proctor.sandbox.clock import AttendedClock
from proctor.sandbox.command import Script, Streams
from proctor.sandbox.executor import in_pool
from proctor.sandbox.output import OnOutput
from proctor.sandbox.pool import Pool


@dataclass(frozen=True, slots=True)
class Attendance:
    """The streams of a program that somebody may attend: what it reads, and who sees its output."""

    stdin: bytes | int = b""
    """Its input, or a descriptor of a pipe that it comes through, which stays open here."""
    ended: Callable[[], bool] = lambda: True
    """Says whether all of the input has come: until then a program may be idle."""
    on_output: OnOutput | None = None
    """Called from some thread with output as it comes. What it raises ends the program."""
    line_buffered: bool = False
    """True if each line that a Python program prints is to come at once, as at a terminal."""


def run_as_in_shell(
    program: Program,
    name: str,
    args: tuple[str, ...],
    attendance: Attendance,
    *,
    limits: Limits,
    pool: Pool,
) -> Execution:
    """Run a program once, called `name` in its own messages, and return the facts of the run.

    A cell that dies is replaced by another only if nobody has seen anything of the program yet.
    Raises as `run` does, and what `on_output` raises.
    """
    for text in args:
        if "\0" in text:
            raise InputError("an argument cannot hold NUL", field="args")
    if program.language == PYTHON:
        script = Script(program, name, args, attendance.line_buffered)
        return _run(
            attendance, pool,
            lambda cell, streams: cell.run_script(
                script, streams, limits, AttendedClock(limits, attendance.ended)
            ),
        )  # fmt: skip
    named = Program(program.source, program.language, _own_name(program, name))
    runner = Runner(pool.setup, Cache(), only_python=pool.only_python)
    prepared = runner.compile(in_pool(pool), RunRequest(named, args=args, limits=limits))
    return _run(
        attendance, pool,
        lambda cell, streams: cell.execute(
            prepared.command, streams, prepared.limits,
            AttendedClock(prepared.limits, attendance.ended),
        ).execution,
    )  # fmt: skip


def _own_name(program: Program, name: str) -> str:
    """Return the file's own name for the compiler's messages, if it is one of the language's."""
    own = PurePath(name).name
    plain = own.isascii() and own[:1].isalnum() and all(c.isalnum() or c in "._+-" for c in own)
    fits = PurePath(own).suffix in registry.get(program.language).extensions
    return own if plain and fits else ""


def _run(
    attendance: Attendance, pool: Pool, start: Callable[[Cell, Streams], Execution]
) -> Execution:
    seen = False

    def tell(which: int, data: bytes) -> None:
        nonlocal seen
        seen = True
        assert attendance.on_output is not None
        attendance.on_output(which, data)

    def job(cell: Cell, _queued: float) -> Execution:
        stdin = attendance.stdin
        given = os.dup(stdin) if isinstance(stdin, int) else stdin
        streams = Streams(given, on_output=None if attendance.on_output is None else tell)
        try:
            return start(cell, streams)
        except CellDied as error:
            if seen or isinstance(stdin, int):
                raise InfraFault(f"{error}; it cannot be run again, having begun") from error
            raise

    return pool.do(job)
