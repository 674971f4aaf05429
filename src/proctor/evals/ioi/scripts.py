"""Tasks that bring their own `compile` and `run`: the files and scripts as given, in one cell.

The contract is that of the published pipeline's Piston package: in the working directory are the
submission as graders/ID.cpp, the grader files, input.txt and correct_output.txt; `compile` is
called with the names of all files, `run` with that of the first; `run` prints the score on stdout
and what it has to say on stderr. Whoever writes the scripts answers for the grading: submission,
answers and checker are in one place, and a hostile submission can reach them. But `compile` runs
before the test's files are there, and once per submission.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proctor.errors import CompileFailed, InputError
from proctor.evals.ioi import feedback
from proctor.execution import Execution, LimitHit
from proctor.languages import scripts as by_script
from proctor.languages.scripts import BASH, COMPILE, ROOM, RUN
from proctor.limits import GIB, MIB, Limits
from proctor.sandbox.command import Command, disk_for
from proctor.sandbox.executor import in_pool
from proctor.sandbox.pool import Pool

_INPUT, _ANSWER = "input.txt", "correct_output.txt"
_KEPT = 16  # compiled submissions
_COMPILING = Limits(cpu=120.0, memory=2 * GIB, output=16 * MIB)


@dataclass(frozen=True, slots=True)
class Compiled:
    """Files that `compile` made of a submission, or the reason why there are none."""

    files: Mapping[str, bytes]
    failure: str | None = None


class ScriptRunner:
    """A runner (see runners.py) that calls a pair of scripts."""

    def __init__(self, place: Path, pool: Pool) -> None:
        """`place` holds `compile` and `run`. Raises InputError."""
        self._scripts = {name: _script(place / name) for name in (COMPILE, RUN)}
        self._execute = in_pool(pool)
        self._compiled: OrderedDict[str, Compiled] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(
        self, problem: Mapping[str, Any], test_input: str, submission: str, test_output: str | None
    ) -> tuple[str, str]:
        """Run one test; returns score and feedback. Raises InfraFault."""
        compiled = self._compile(problem, submission)
        if compiled.failure is not None:
            return "0", compiled.failure
        files = {**compiled.files, _INPUT: _encoded(test_input)}
        if test_output:
            files[_ANSWER] = _encoded(test_output)
        first = f"graders/{str(problem['id']).lower()}.cpp"
        command = Command((BASH, RUN, first), files=files)
        seconds, memory = float(problem["time_limit"]), int(problem["memory_limit"])
        # The scripts limit the submission; these limits only end what escapes the scripts.
        # There may be a manager and several processes in the cell.
        limits = Limits(
            cpu=4 * (seconds + 3), wall=8 * (seconds + 3), memory=memory + GIB, stack=memory,
            processes=256, disk=disk_for(command, ROOM),
        )  # fmt: skip
        return _answer(self._execute(command, b"", limits).execution)

    def _compile(self, problem: Mapping[str, Any], submission: str) -> Compiled:
        files = {f"graders/{str(problem['id']).lower()}.cpp": _encoded(submission)}
        files |= {name: _encoded(text) for name, text in problem["grader_files"] if text}
        key = hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()
        with self._lock:
            if key in self._compiled:
                self._compiled.move_to_end(key)
                return self._compiled[key]
        made = self._compile_anew(files)
        with self._lock:
            self._compiled[key] = made
            while len(self._compiled) > _KEPT:
                self._compiled.popitem(last=False)
        return made

    def _compile_anew(self, files: Mapping[str, bytes]) -> Compiled:
        scripts = by_script.Scripts(compile=(BASH, COMPILE, *files), limits=_COMPILING)
        try:
            return Compiled(
                by_script.run_compile(self._execute, scripts, {**files, **self._scripts}).files
            )
        except CompileFailed as error:
            execution = error.execution
            assert execution is not None
            code = 128 + execution.signal if execution.signal else execution.exit_code
            said = (execution.stdout + execution.stderr)[:65536].decode("utf-8", "replace")
            return Compiled({}, f"{feedback.COMPILE_ERROR} {code}\n{said}")


def _answer(execution: Execution) -> tuple[str, str]:
    """Return score and feedback, in the published words where the script did not end well."""
    if execution.limit is LimitHit.MEMORY:
        return "0", feedback.MEMORY
    if execution.limit is not None:
        return "0", feedback.TIME
    score = execution.stdout.decode("utf-8", "replace").strip()
    if not score:  # e.g. killed by the submission, which shares the cell with the script
        return "0", feedback.UNKNOWN
    return score, execution.stderr.decode("utf-8", "replace")


def _script(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        what = f"cannot be read: {error.strerror}; the directory must hold `compile` and `run`"
        raise InputError(what, file=str(path), field="--runner") from error


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
