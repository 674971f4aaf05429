"""Programs that bring their own `compile` and `run`: bash scripts, beside the files they work on.

The contract that Judge0's multi-file programs, Piston's packages and tasks of contests share: a
script finds the files in its working directory. `compile` has an execution of its own, with nothing
on stdin and limits of its own; if it ends with another code than 0, the program does not compile.
The files that it leaves are those that `run` finds, which reads the program's stdin. Neither
script is trusted: nothing that the program must not see may be among the files.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from proctor.languages.compiler import failed, limit_name
from proctor.limits import MIB, Limits
from proctor.sandbox.command import Command, Finished, disk_for
from proctor.sandbox.executor import Executor

BASH = "/bin/bash"
COMPILE, RUN = "compile", "run"
ROOM = 512 * MIB
"""Bytes that a `compile` may write: its files are held in this process's memory for a while."""
ALL_FILES = ("**/*", "**/.*", "**/.*/**/*")
"""Patterns of all files: names that begin with a dot are matched by patterns that do so, too."""


@dataclass(frozen=True, slots=True)
class Scripts:
    """How a directory of files is compiled, and how it is run."""

    run: tuple[str, ...] = (BASH, RUN)
    """Command that runs the program; arguments are added to it."""
    compile: tuple[str, ...] = (BASH, COMPILE)
    """Command that compiles it; empty if there is nothing to compile."""
    environment: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=lambda: Limits(cpu=30.0, memory=2 * 1024 * MIB))
    """Limits of `compile`; their `disk` is for what it writes besides the files."""


@dataclass(frozen=True, slots=True)
class CompiledFiles:
    """The files that `compile` left, and its execution."""

    files: Mapping[str, bytes]
    finished: Finished | None


def run_compile(execute: Executor, scripts: Scripts, files: Mapping[str, bytes]) -> CompiledFiles:
    """Run the `compile` script. Raises CompileFailed, InfraFault."""
    if not scripts.compile:
        return CompiledFiles(files, None)
    finished = execute(*_compile_command(scripts, files))
    execution = finished.execution
    if execution.limit is not None:
        raise failed(f"compiling exceeded its {limit_name(execution.limit)} limit", finished)
    if not execution.ok:
        raise failed("the program does not compile", finished)
    return CompiledFiles(finished.files, finished)


def _compile_command(scripts: Scripts, files: Mapping[str, bytes]) -> tuple[Command, bytes, Limits]:
    plain = Command(
        scripts.compile, files=files, environment=scripts.environment, collect=ALL_FILES
    )
    room = disk_for(plain, scripts.limits.disk or ROOM)
    # Bounded by the disk, so that nothing that fits there is left behind.
    return replace(plain, most=room), b"", replace(scripts.limits, disk=room)


def run_command(
    scripts: Scripts,
    files: Mapping[str, bytes],
    args: tuple[str, ...] = (),
    *,
    environment: Mapping[str, str] | None = None,
    collect: tuple[str, ...] = (),
    most: int = 64 * MIB,
) -> Command:
    """Return the command that runs what was compiled."""
    return Command(
        (*scripts.run, *args),
        files=files,
        environment={**scripts.environment, **(environment or {})},
        collect=collect,
        most=most,
    )
