"""Ways in which programs get into a cell, besides `run()` and judging."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

from proctor.errors import NoIsolation
from proctor.execution import Execution
from proctor.limits import MIB, Limits
from proctor.program import Program
from proctor.sandbox.cell import Cell
from proctor.sandbox.clock import ContestClock
from proctor.sandbox.command import ENVIRONMENT, Command, Script, Streams
from proctor.sandbox.directory_job import DirectoryJob, ignore
from proctor.sandbox.pool import Job
from proctor.sandbox.stop import Stop

_NAME = "attack.py"
_STDIN = "import io, sys\nsys.stdin = io.StringIO({given!r})\n"


def job(way: str, source: str, stdin: bytes, limits: Limits) -> Job[Execution]:
    """Return a job that runs a program as a `script`, a `command` or a `solver`.

    Raises CellDied, and NoIsolation where cells cannot do this.
    """
    clock = ContestClock(limits)

    def script(cell: Cell, _queued: float) -> Execution:
        return cell.run_script(Script(Program(source), _NAME), Streams(stdin), limits, clock)

    def command(cell: Cell, _queued: float) -> Execution:
        python = shutil.which("python3", path=ENVIRONMENT["PATH"])
        if python is None or not Path(python).resolve().is_relative_to("/usr"):
            raise NoIsolation("there is no python3 that cells could execute")
        words = Command((python, "-c", source))
        return cell.execute(words, Streams(stdin), limits, clock).execution

    def solver(cell: Cell, _queued: float) -> Execution:
        stop = Stop()
        program = Program(_STDIN.format(given=stdin.decode()) + source, name=_NAME)
        work = DirectoryJob(program, "result.json", re.compile("(?!)"))
        with_disk = replace(limits, disk=max(limits.disk, MIB))
        try:
            return cell.run_in_directory(work, with_disk, stop, ignore).execution
        finally:
            stop.close()

    return {"script": script, "command": command, "solver": solver}[way]
