"""POST /run_code: one program, as its clients ask for it."""

import os
from typing import Any

from litestar import Request, post
from litestar.handlers import HTTPRouteHandler

from proctor.errors import InputError, NoLanguage, ProctorError
from proctor.execution import Execution, LimitHit
from proctor.limits import GIB, LEAST_MEMORY, MIB, Limits
from proctor.program import Program
from proctor.service.ceilings import physical_memory
from proctor.service.engine import Asker, Engine
from proctor.service.http.answer import Answer, Reply
from proctor.service.http.asking import patient
from proctor.service.http.encoded import as_text, packed, unpacked
from proctor.service.http.sandbox_fusion.schema import (
    CommandRunResult,
    CommandStatus,
    RunCodeRequest,
    RunCodeResponse,
)
from proctor.service.running import Compilation, Ran, RunRequest, verdict_of

MEMORY = min(4 * GIB, physical_memory())
"""Bytes, where the client names no limit: upstream then sets none."""
DISK = 64 * MIB
LANGUAGES = {
    "python": "python", "cpp": "cpp17", "nodejs": "javascript", "go": "go", "java": "java",
    "php": "php", "csharp": "csharp", "bash": "bash", "typescript": "typescript", "rust": "rust",
    "lua": "lua", "perl": "perl", "ruby": "ruby",
}  # fmt: skip
"""Ours by theirs. The others are test frameworks and languages that proctor has no file for."""
_OVER_TIME = (LimitHit.CPU, LimitHit.WALL, LimitHit.IDLE)
_POD = os.environ.get("MY_POD_NAME")


def routes(engine: Engine) -> HTTPRouteHandler:
    """Return the route."""

    @post("/run_code", status_code=200)
    async def run_code(data: RunCodeRequest, request: Request[Any, Any, Any]) -> Answer:
        """Run a program. What it does wrong is in the answer, never a status other than 200."""
        asker = patient(request)
        return Answer(_run(engine, data, asker), failed=_failed, pad=True)

    return run_code


async def _run(engine: Engine, data: RunCodeRequest, asker: Asker) -> RunCodeResponse:
    return response(await engine.run(asked(data), asker))


def asked(data: RunCodeRequest) -> RunRequest:
    """Turn a client's request into ours. Raises InputError, NoLanguage."""
    language = LANGUAGES.get(data.language)
    if language is None:
        known = ", ".join(sorted(LANGUAGES))
        raise NoLanguage(f"language {data.language!r} is not served here (there are: {known})")
    memory = max(data.memory_limit_MB * MIB, LEAST_MEMORY) if data.memory_limit_MB > 0 else MEMORY
    limits = Limits(cpu=data.run_timeout, memory=memory, disk=DISK)
    program = Program(data.code, language, files=decoded(data.files))
    return RunRequest(
        program,
        _stdin(data),
        limits=limits,
        compile_cpu=Limits(cpu=data.compile_timeout).cpu,
        collect=tuple(data.fetch_files),
        assertions=True,  # as upstream: `java -ea`, `dotnet run` and `rustc` without -O
    )


def _stdin(data: RunCodeRequest) -> bytes:
    if data.stdin_base64 is None:
        return (data.stdin or "").encode()
    return unpacked(data.stdin_base64, "stdin_base64")


def decoded(files: dict[str, str | None]) -> dict[str, bytes]:
    """Files as bytes. Raises InputError."""
    return {name: unpacked(content or "", f"files.{name}") for name, content in files.items()}


def response(ran: Ran) -> RunCodeResponse:
    """Say what happened in the client's words."""
    compiled = None if ran.compilation is None else _compile_result(ran.compilation)
    if ran.execution is None:
        return RunCodeResponse("Failed", "", compiled, executor_pod_name=_POD, verdict="CE")
    execution = ran.execution
    return RunCodeResponse(
        "Success" if execution.ok else "Failed",
        "",
        compiled,
        _result(execution),
        _POD,
        {name: packed(data) for name, data in ran.files.items()},
        verdict_of(ran),
        execution.isolation.level,
        round(ran.queue, 6),
    )


def _compile_result(compilation: Compilation) -> CommandRunResult:
    if compilation.execution is not None:
        return _result(compilation.execution, compilation.output)
    code = 0 if compilation.ok else 1
    return CommandRunResult("Finished", round(compilation.wall, 6), code, "", compilation.output)


def _result(execution: Execution, complaint: str | None = None) -> CommandRunResult:
    late = execution.limit in _OVER_TIME
    status: CommandStatus = "TimeLimitExceeded" if late else "Finished"
    code = execution.exit_code
    if execution.signal is not None:
        code = -execution.signal
    elif code == 0 and execution.limit is not None:
        code = -9  # it overran a limit that is noticed afterwards
    stdout, stdout_bytes = as_text(execution.stdout)
    stderr, stderr_bytes = as_text(execution.stderr)
    return CommandRunResult(
        status,
        round(execution.wall, 6),
        None if late else code,
        stdout,
        stderr if complaint is None else complaint,
        round(execution.cpu, 6),
        execution.memory,
        None if execution.limit is None else execution.limit.value,
        stdout_bytes,
        stderr_bytes,
    )


def _failed(error: ProctorError) -> Reply:
    """A fault of ours, or a request that cannot be served: upstream says SandboxError to both."""
    verdict = "" if isinstance(error, InputError | NoLanguage) else "INFRA_FAULT"
    return Reply(RunCodeResponse("SandboxError", str(error), verdict=verdict))
