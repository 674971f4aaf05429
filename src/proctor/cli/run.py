"""`proctor run`."""

import base64
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import msgspec

from proctor.cell.python_job import STDIN_NAME
from proctor.cli import terminal
from proctor.cli.piped_input import Input, own_input
from proctor.errors import InputError
from proctor.execution import Execution
from proctor.languages.shell_run import Attendance, run_as_in_shell
from proctor.limits import Limits
from proctor.program import Program
from proctor.sandbox.pool import open_pool
from proctor.units import seconds, size

LIMIT_EXIT = 124


def limits(
    cpu: str,
    wall: str | None,
    memory: str,
    output: str,
    processes: int,
    disk: str,
    *,
    loopback: bool,
    locks: bool,
) -> Limits:
    """Build limits from what was typed."""
    return Limits(
        cpu=seconds(cpu, "--cpu"),
        wall=seconds(wall, "--timeout") if wall is not None else None,
        memory=size(memory, "--memory"),
        output=size(output, "--output"),
        processes=processes,
        disk=size(disk, "--disk"),
        loopback=loopback,
        locks=locks,
    )


def run(
    file: str,
    args: Sequence[str],
    stdin: str | None,
    language: str | None,
    limits: Limits,
    pool: dict[str, Any],
    *,
    as_json: bool,
) -> int:
    """Run, print what the program prints (or all facts as JSON), return the exit code."""
    if file == "-" and sys.stdin is None:
        raise InputError("there is no standard input to read the program from", file="-")
    source = sys.stdin.buffer.read() if file == "-" else _read(file)
    try:
        program = Program(source.decode("utf-8"), _language(file, language))
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text: {error}", file=file) from error
    if program.language != "python":
        from proctor.languages import registry

        pool = {**pool, "directories": registry.reads([registry.get(program.language)])}
    with _input(file, stdin) as given, open_pool(**pool, cells=1) as opened:
        attendance = Attendance(
            given.stdin, given.ended, None if as_json else _LiveOutput(),
            line_buffered=not as_json and sys.stdout.isatty(),
        )  # fmt: skip
        name = STDIN_NAME if file == "-" else file
        try:
            execution = run_as_in_shell(
                program, name, tuple(args), attendance, limits=limits, pool=opened
            )
        except _NobodyReads as error:
            raise error.cause from error
    if as_json:
        terminal.write_json(facts(execution))
    else:
        _explain(execution, limits.processes, Path(file).parent)
    return exit_code(execution)


class _NobodyReads(Exception):
    """Output cannot be written. Not an OSError, since a pool would try again after one."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(cause)
        self.cause = cause


class _LiveOutput:
    """Writes output as it comes."""

    def __init__(self) -> None:
        self._streams = {1: terminal.binary(), 2: terminal.binary(stderr=True)}

    def __call__(self, which: int, data: bytes) -> None:
        try:
            self._streams[which].write(data)
            self._streams[which].flush()
        except OSError as error:
            raise _NobodyReads(error) from error


def _input(file: str, stdin: str | None) -> AbstractContextManager[Input]:
    if stdin is not None:
        return nullcontext(Input(_read(stdin)))
    return nullcontext(Input()) if file == "-" else own_input()


def _language(file: str, named: str | None) -> str:
    """Return the language: the one named, else that of the file's name, else Python."""
    if named is None and (file.endswith(".py") or file == "-"):
        return "python"
    from proctor.languages import registry

    if named is not None:
        return registry.get(named).id
    found = registry.by_extension(file)
    return found.id if found is not None else "python"


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from error


def _explain(execution: Execution, most: int, beside: Path) -> None:
    """Report which limit a program hit, or how to give it the module that it lacks."""
    if execution.limit is not None:
        used = f"{execution.cpu:.2f} s CPU, {execution.wall:.2f} s wall"
        used += f", {execution.memory / (1 << 20):.0f} MiB"
        terminal.note(f"stopped at the {execution.limit} limit ({used})")
    elif execution.exit_code == 1 and b"ModuleNotFoundError" in execution.stderr:
        from proctor.judging.missing_modules import missing_module

        if missing := missing_module(execution.stderr.decode("utf-8", "replace")):
            terminal.note(_advice(*missing, beside))
    if not execution.ok:
        from proctor.sandbox import process_limit

        if process_limit.reached(execution.stderr):
            terminal.note(f"{process_limit.named(most)}; --processes allows more")


def _advice(module: str, place: str, beside: Path) -> str:
    """Return advice on giving a program a module; `beside` is the program's directory."""
    if any(beside.glob(f"{module}.py")) or (beside / module).is_dir():
        return (
            f"programs do not see the files beside them: --packages {beside} lets this one import"
            f" {module}, and read all that is there"
        )
    if place:
        return (
            f"programs can import the standard library only: --packages {place}, where {module} is"
            " installed, adds what is there"
        )
    return (
        f"programs can import the standard library only: install {module} for them, such as by"
        f" `pip install --target packages {module}`, and add --packages packages"
    )


def exit_code(execution: Execution) -> int:
    """Exit code that stands for an execution (see `proctor run --help`)."""
    if execution.limit is not None:
        return LIMIT_EXIT
    if execution.signal is not None:
        return 128 + execution.signal
    return execution.exit_code or 0


def facts(execution: Execution) -> dict[str, Any]:
    """Return an execution as JSON values; output that is not UTF-8 is also given in base64."""
    row = msgspec.to_builtins(execution, builtin_types=(bytes,))
    assert isinstance(row, dict)
    for name in ("stdout", "stderr"):
        data = row[name]
        row[name] = data.decode("utf-8", "replace")
        if row[name].encode() != data:
            row[f"{name}_base64"] = base64.b64encode(data).decode()
    return row
