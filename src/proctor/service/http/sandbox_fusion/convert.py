"""Converts between SandboxFusion's requests and answers and the engine's."""

import os
import posixpath
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from proctor.errors import InputError, NoLanguage, ProctorError
from proctor.execution import TIME_LIMITS, Execution
from proctor.languages.run import Compilation, Ran, RunRequest
from proctor.limits import GIB, LEAST_MEMORY, MIB, Limits, physical_memory
from proctor.program import Program, check_relative
from proctor.sandbox.container.size import WORK
from proctor.service.admission import RequestContext
from proctor.service.encoding import as_text, packed, unpacked, unpacked_files
from proctor.service.engine import Engine
from proctor.service.http.responses import JsonReply
from proctor.service.http.sandbox_fusion.schema import (
    CommandRunResult,
    CommandStatus,
    RunCodeRequest,
    RunCodeResponse,
    RunJupyterRequest,
)
from proctor.service.run_verdicts import verdict_of

MEMORY = min(4 * GIB, physical_memory())
"""Bytes of memory where the client names no limit: upstream then sets none."""
DISK = 64 * MIB
"""Bytes that a program may write to its working directory."""
LANGUAGES = {
    "python": "python", "cpp": "cpp17", "nodejs": "javascript", "go": "go", "java": "java",
    "php": "php", "csharp": "csharp", "bash": "bash", "typescript": "typescript", "rust": "rust",
    "lua": "lua", "perl": "perl", "ruby": "ruby", "R": "r", "D_ut": "d", "scala": "scala",
    "kotlin_script": "kotlin-script", "verilog": "verilog", "racket": "racket",
    "pytest": "pytest", "go_test": "go-test", "junit": "junit", "jest": "jest",
}  # fmt: skip
"""Proctor's languages by SandboxFusion's names.

Missing are those that proctor has no file for: cuda, julia, lean, python_gpu, sql, swift.
"""
_COMPILED = frozenset(
    {"cpp", "go", "java", "junit", "rust", "scala", "D_ut", "verilog"},
)
"""Names of the languages that upstream compiles in a separate step, reported as compile_result.

For the others, the failure of a source that does not compile is reported as that of the run.
"""
_USINGS = """\
using System; using System.Collections.Generic; using System.IO; using System.Linq;\
 using System.Threading; using System.Threading.Tasks;
#line 1
"""
"""Namespaces that a .NET project uses implicitly, except for System.Net.Http."""
_FIRST = re.compile(r"^[^\S\n]*+(?:#\s*+(?:define|undef)|extern\s++alias)\b", re.MULTILINE)
"""Lines that must come before all lines that use a namespace."""
POD = os.environ.get("MY_POD_NAME")
"""Name of the Kubernetes pod that this server runs in, if it does."""


async def run_code(
    engine: Engine, data: RunCodeRequest, context: RequestContext
) -> RunCodeResponse:
    """Run a program. Raises what run_request and Engine.run raise."""
    request = run_request(data, loopback=await engine.loopback())
    return run_response(await engine.run(request, context), data)


def run_request(data: RunCodeRequest, *, loopback: bool) -> RunRequest:
    """Return the engine's request for a client's. Raises InputError, NoLanguage."""
    language = LANGUAGES.get(data.language)
    if language is None:
        known = ", ".join(sorted(LANGUAGES))
        raise NoLanguage(f"language {data.language!r} is not served here (there are: {known})")
    code = data.code
    if language == "csharp" and not _FIRST.search(code):
        code = _USINGS + code.removeprefix("\ufeff")
    program = Program(code, language, files=files_of(data))
    compiled = data.language in _COMPILED
    return RunRequest(
        program,
        _stdin(data),
        limits=_limits(data.run_timeout, memory_limit(data), loopback=loopback, locks=data.locks),
        # Others are checked by their own limit; upstream, which does not check, has only the run's.
        compile_cpu=_limits(data.compile_timeout, MEMORY).cpu if compiled else None,
        collect=fetched(data.fetch_files),
        assertions=True,  # as upstream: `java -ea`, `dotnet run` and `rustc` without -O
    )


def files_of(data: RunCodeRequest | RunJupyterRequest) -> dict[str, bytes]:
    """Return a request's files by their relative paths. Raises InputError for other paths."""
    files = unpacked_files(data.files, "files").items()
    return {check_relative(plain_path(name)): content for name, content in files}


def fetched(names: Iterable[str]) -> tuple[str, ...]:
    """Return the plain relative paths of files to fetch. Raises InputError for others."""
    return tuple(check_relative(plain_path(name)) for name in names)


def packed_as(files: Mapping[str, bytes], names: Iterable[str]) -> dict[str, str]:
    """Return fetched files as base64, by the names that the client has for them."""
    found = {name: files.get(plain_path(name)) for name in names}
    return {name: packed(data) for name, data in found.items() if data is not None}


def plain_path(name: str) -> str:
    """Return a path in normal form, relative to the working directory if it lies in there."""
    return posixpath.normpath(name).removeprefix(f"{WORK}/") if name else name


@lru_cache(64)
def _limits(cpu: float, memory: int, *, loopback: bool = False, locks: bool = False) -> Limits:
    """Return limits, cached since many requests have the same. Raises InputError."""
    return Limits(cpu=cpu, elapsed=cpu, memory=memory, disk=DISK, loopback=loopback, locks=locks)


def _stdin(data: RunCodeRequest) -> bytes:
    if data.stdin_base64 is None:
        return (data.stdin or "").encode()
    return unpacked(data.stdin_base64, "stdin_base64")


def memory_limit(data: RunCodeRequest | RunJupyterRequest) -> int:
    """Return the bytes of memory that a request asks for, enough for an interpreter to start."""
    return max(data.memory_limit_MB * MIB, LEAST_MEMORY) if data.memory_limit_MB > 0 else MEMORY


def run_response(ran: Ran, data: RunCodeRequest) -> RunCodeResponse:
    """Return the client's answer for a request's run."""
    compiled = None if ran.compilation is None else _compile_result(ran.compilation)
    failed = None
    if data.language not in _COMPILED:
        compiled, failed = None, compiled
    if ran.execution is None:
        return RunCodeResponse("Failed", "", compiled, failed, POD, verdict="CE")
    execution = ran.execution
    return RunCodeResponse(
        "Success" if execution.ok else "Failed",
        "",
        compiled,
        _result(execution),
        POD,
        packed_as(ran.files, data.fetch_files),
        verdict_of(ran),
        execution.isolation.level,
        round(ran.queue, 6),
    )


def _compile_result(compilation: Compilation) -> CommandRunResult:
    if compilation.execution is not None:
        return _result(compilation.execution, compilation.output)
    code = 0 if compilation.ok else 1
    return CommandRunResult("Finished", round(compilation.wall, 6), code, "", compilation.output)


def _result(execution: Execution, compiler_output: str | None = None) -> CommandRunResult:
    late = execution.limit in TIME_LIMITS
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
        stderr if compiler_output is None else compiler_output,
        round(execution.cpu, 6),
        execution.memory,
        None if execution.limit is None else execution.limit.value,
        stdout_bytes,
        stderr_bytes,
    )


def run_code_failed(error: ProctorError) -> JsonReply:
    """Answer a fault of the server, or a request that is not served: both are SandboxError."""
    verdict = "" if isinstance(error, InputError | NoLanguage) else "INFRA_FAULT"
    return JsonReply(RunCodeResponse("SandboxError", str(error), verdict=verdict))
