"""Converts Piston's jobs to the engine's requests, and runs to Piston's answers."""

from collections.abc import Mapping
from dataclasses import replace
from signal import Signals
from typing import Any

import msgspec

from proctor.execution import Execution, LimitHit
from proctor.languages import naming, registry
from proctor.languages.run import PYTHON, Compilation, Ran, RunRequest
from proctor.languages.scripts import Scripts
from proctor.limits import Limits
from proctor.program import Program
from proctor.service.http.isolate import (
    TIME_MESSAGES,
    exit_message,
    limit_message,
    signal_message,
)
from proctor.service.http.piston.request import PistonJob
from proctor.service.http.piston.schema import Stage


def run_request(job: PistonJob) -> RunRequest:
    """Return the engine's request for a job. Raises InputError."""
    program = job.program()
    name = job.name
    if job.runtime.scripts is not None:
        return _by_package(job, program, job.runtime.scripts)
    if job.runtime.language_id == PYTHON:
        if not job.files and not job.args:
            name = ""  # then a warm interpreter runs it
    elif not naming.is_source(registry.get(job.runtime.language_id), name):
        name = ""  # such as file0.code: the language's usual name is taken instead
    program = Program(program.source, program.language, name, program.files)
    return RunRequest(
        program, job.stdin, job.args, limits=job.limits, compile_cpu=job.compile_seconds
    )


def _by_package(job: PistonJob, program: Program, scripts: Scripts) -> RunRequest:
    """Return a request that runs a package's scripts.

    `compile` is called with the names of all text files, `run` with that of the first.
    """
    compiling = Limits(
        job.compile_seconds, memory=job.compile_memory, output=job.limits.output,
        processes=job.limits.processes,
    )  # fmt: skip
    called = (*scripts.compile, *job.texts) if scripts.compile else ()
    scripts = replace(scripts, compile=called, limits=compiling)
    args = (job.name, *job.args)
    return RunRequest(program, job.stdin, args, limits=job.limits, scripts=scripts)


def stages(ran: Ran) -> tuple[Stage | None, Stage]:
    """Return the stages of a run: compile, if there was one, and run.

    If a program does not compile, both are the compiler's stage, as in Piston.
    """
    compiled = None if ran.compilation is None else compile_stage(ran.compilation)
    if ran.execution is not None:
        return compiled, stage(ran.execution)
    assert compiled is not None
    return compiled, compiled


def compile_stage(compilation: Compilation) -> Stage:
    """Return the stage of compiling."""
    said = compilation.output
    if compilation.execution is not None:
        made = stage(compilation.execution)
        return msgspec.structs.replace(made, stdout="", stderr=said, output=said)
    wall = round(compilation.wall * 1000)
    if compilation.ok:
        return Stage(code=0, stderr=said, output=said, wall_time=wall)
    return Stage(code=1, stderr=said, output=said, wall_time=wall, **_exited(1))


def stage(execution: Execution) -> Stage:
    """Return the stage of a program's run."""
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
    """Return the fields of a stage that say how it ended.

    `overran` names the stream that was too long where `execution` does not have the output.
    """
    limit = execution.limit
    if limit is None:
        if execution.signal is not None:
            return _signalled(execution.signal)
        return _exited(execution.exit_code)
    if limit in TIME_MESSAGES:
        found = {"signal": "SIGKILL", "status": "TO", "message": TIME_MESSAGES[limit]}
    elif limit is LimitHit.OUTPUT:
        longer = "stdout" if len(execution.stdout) >= len(execution.stderr) else "stderr"
        which = overran or longer
        status = "OL" if which == "stdout" else "EL"
        found = {"signal": "SIGKILL", "status": status, "message": f"{which} length exceeded"}
    elif execution.exit_code:  # for example, it was refused memory and exited by itself
        found = {**_exited(execution.exit_code), "message": limit_message(limit)}
    else:
        found = {"signal": "SIGKILL", "status": "SG", "message": limit_message(limit)}
    return {**found, "limit": limit.value}


def _exited(code: int | None) -> dict[str, Any]:
    if not code:
        return {"code": code}
    return {"code": code, "status": "RE", "message": exit_message(code)}


def _signalled(number: int) -> dict[str, Any]:
    return {
        "signal": signal_name(number),
        "status": "SG",
        "message": signal_message(number),
    }


def signal_name(number: int) -> str:
    """Return a signal's name, such as SIGSEGV."""
    try:
        return Signals(number).name
    except ValueError:
        return f"SIG{number}"
