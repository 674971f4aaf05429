"""Answers in Piston's form. `limit` is proctor's own."""

from collections.abc import Mapping
from signal import Signals
from typing import Any

import msgspec

from proctor.execution import Execution, LimitHit
from proctor.service.running import Compilation, Ran

_OVER_TIME = {
    LimitHit.CPU: "Time limit exceeded",
    LimitHit.WALL: "Time limit exceeded (wall clock)",
    LimitHit.IDLE: "Time limit exceeded (wall clock)",
}


class Stage(msgspec.Struct, frozen=True):
    """Compiling, or running."""

    stdout: str = ""
    stderr: str = ""
    output: str = ""
    """Both: all of stdout, then all of stderr."""
    code: int | None = None
    """None where a signal ended it."""
    signal: str | None = None
    message: str | None = None
    status: str | None = None
    """As isolate's: RE, SG, TO; OL and EL for stdout and stderr over their limit; XX: our fault."""
    cpu_time: int | None = None
    """ms."""
    wall_time: int | None = None
    """ms."""
    memory: int | None = None
    """Peak bytes."""
    limit: str | None = None
    """Proctor's: the limit that was hit."""


class ExecuteResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of a request."""

    run: Stage
    language: str
    version: str
    compile: Stage | None = None


class RuntimeInfo(msgspec.Struct, frozen=True, omit_defaults=True):
    """One entry of /runtimes."""

    language: str
    version: str
    aliases: tuple[str, ...] | None = None
    runtime: str | None = None


class Package(msgspec.Struct, frozen=True):
    """One entry of /packages."""

    language: str
    language_version: str
    installed: bool


def stages(ran: Ran) -> tuple[Stage | None, Stage]:
    """Compiling, if there was any, and the run: of what does not compile the same, as there."""
    compiled = None if ran.compilation is None else compile_stage(ran.compilation)
    if ran.execution is not None:
        return compiled, stage(ran.execution)
    assert compiled is not None
    return compiled, compiled


def compile_stage(compilation: Compilation) -> Stage:
    """Tell of a compiler."""
    said = compilation.output
    if compilation.execution is not None:
        made = stage(compilation.execution)
        return msgspec.structs.replace(made, stdout="", stderr=said, output=said)
    wall = round(compilation.wall * 1000)
    if compilation.ok:
        return Stage(code=0, stderr=said, output=said, wall_time=wall)
    return Stage(code=1, stderr=said, output=said, wall_time=wall, **_exited(1))


def stage(execution: Execution) -> Stage:
    """Tell of a program's run."""
    stdout = execution.stdout.decode("utf-8", "replace")
    stderr = execution.stderr.decode("utf-8", "replace")
    return Stage(
        stdout,
        stderr,
        stdout + stderr,
        cpu_time=round(execution.cpu * 1000),
        wall_time=round(execution.wall * 1000),
        memory=execution.memory,
        **ending(execution),
    )


def ending(execution: Execution, overran: str | None = None) -> Mapping[str, Any]:
    """Say how it ended. `overran`: which of its streams was too long, if they are elsewhere."""
    limit = execution.limit
    if limit is None:
        if execution.signal is not None:
            return _signalled(execution.signal)
        return _exited(execution.exit_code)
    if limit in _OVER_TIME:
        found = {"signal": "SIGKILL", "status": "TO", "message": _OVER_TIME[limit]}
    elif limit is LimitHit.OUTPUT:
        longer = "stdout" if len(execution.stdout) >= len(execution.stderr) else "stderr"
        which = overran or longer
        status = "OL" if which == "stdout" else "EL"
        found = {"signal": "SIGKILL", "status": status, "message": f"{which} length exceeded"}
    elif execution.exit_code:  # it was refused memory, say, and said so itself
        found = {**_exited(execution.exit_code), "message": f"{limit} limit exceeded".capitalize()}
    else:
        found = {"signal": "SIGKILL", "status": "SG"}
        found["message"] = f"{limit} limit exceeded".capitalize()
    return {**found, "limit": limit.value}


def _exited(code: int | None) -> dict[str, Any]:
    if not code:
        return {"code": code}
    return {"code": code, "status": "RE", "message": f"Exited with error status {code}"}


def _signalled(number: int) -> dict[str, Any]:
    return {
        "signal": signal_name(number),
        "status": "SG",
        "message": f"Caught fatal signal {number}",
    }


def signal_name(number: int) -> str:
    """Return a signal's name, such as SIGSEGV."""
    try:
        return Signals(number).name
    except ValueError:
        return f"SIG{number}"
