"""`proctor run`."""

import base64
import sys
from pathlib import Path
from typing import Any

import msgspec

from proctor.cli import terminal
from proctor.errors import InputError
from proctor.execution import Execution
from proctor.languages.run import run as run_program
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
) -> Limits:
    """Build limits from what was typed."""
    return Limits(
        cpu=seconds(cpu, "--cpu"),
        wall=seconds(wall, "--wall") if wall is not None else None,
        memory=size(memory, "--memory"),
        output=size(output, "--output"),
        processes=processes,
        disk=size(disk, "--disk"),
        loopback=loopback,
    )


def run(
    file: str,
    stdin: str | None,
    language: str | None,
    limits: Limits,
    pool: dict[str, Any],
    *,
    as_json: bool,
) -> int:
    """Run, print what the program printed (or all facts as JSON), return the exit code."""
    if file == "-" and sys.stdin is None:
        raise InputError("there is no standard input to read the program from", file="-")
    source = sys.stdin.buffer.read() if file == "-" else _read(file)
    try:
        program = Program(source.decode("utf-8"), _language(file, language))
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text: {error}", file=file) from error
    data = _read(stdin) if stdin is not None else _piped(file)
    if program.language != "python":
        from proctor.languages import registry

        pool = {**pool, "directories": registry.reads([registry.get(program.language)])}
    with open_pool(**pool, cells=1) as opened:
        execution = run_program(program, data, limits=limits, pool=opened)
    if as_json:
        terminal.write_json(facts(execution))
    else:
        _show(execution)
    return exit_code(execution)


def _language(file: str, named: str | None) -> str:
    """Return the language: as said, else as the file's name says, else Python."""
    if named is None and (file.endswith(".py") or file == "-"):
        return "python"
    from proctor.languages import registry

    if named is not None:
        return registry.get(named).id
    found = registry.by_extension(file)
    return found.id if found is not None else "python"


def _piped(file: str) -> bytes:
    """Without --stdin the program gets what is piped to us, but a terminal is left alone."""
    absent = file == "-" or sys.stdin is None or sys.stdin.isatty()
    return b"" if absent else sys.stdin.buffer.read()


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from error


def _show(execution: Execution) -> None:
    for data, stream in (
        (execution.stdout, terminal.binary()),
        (execution.stderr, terminal.binary(stderr=True)),
    ):
        stream.write(data)
        stream.flush()
    if execution.limit is not None:
        used = f"{execution.cpu:.2f} s CPU, {execution.wall:.2f} s wall"
        used += f", {execution.memory / (1 << 20):.0f} MiB"
        terminal.write(f"proctor: stopped at the {execution.limit} limit ({used})\n", stderr=True)


def exit_code(execution: Execution) -> int:
    """Exit code that stands for an execution (see `proctor run --help`)."""
    if execution.limit is not None:
        return LIMIT_EXIT
    if execution.signal is not None:
        return 128 + execution.signal
    return execution.exit_code or 0


def facts(execution: Execution) -> dict[str, Any]:
    """Return an execution as JSON values; output that is not UTF-8 is given in base64 beside."""
    row = msgspec.to_builtins(execution, builtin_types=(bytes,))
    assert isinstance(row, dict)
    for name in ("stdout", "stderr"):
        data = row[name]
        row[name] = data.decode("utf-8", "replace")
        if row[name].encode() != data:
            row[f"{name}_base64"] = base64.b64encode(data).decode()
    return row
