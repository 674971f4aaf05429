"""Converts between NeMo-Skills' requests and answers and the engine's."""

from proctor.errors import InputError, NoLanguage, ProctorError, SessionEnded
from proctor.execution import TIME_LIMITS
from proctor.languages.run import Ran, RunRequest
from proctor.limits import GIB, MIB, Limits
from proctor.program import Program
from proctor.sandbox.notebook import CellResult
from proctor.service.http.nemo.schema import NemoRequest, NemoResponse, NemoStatus
from proctor.service.http.problem_details import headers_of, status_of
from proctor.service.http.responses import JsonReply
from proctor.service.run_verdicts import verdict_by, verdict_of

MEMORY, DISK = 4 * GIB, 64 * MIB
_LANGUAGES = {"python": "python", "python3": "python", "pypy3": "pypy3", "shell": "bash"}
_CUT_MARK = "<output cut>"


def run_request(data: NemoRequest) -> RunRequest:
    """Return the engine's request for a client's. Raises InputError."""
    language = _LANGUAGES.get(data.language)
    if language is None:
        what = "Lean is not installed here" if data.language == "lean4" else "unknown"
        known = ", ".join(["ipython", *_LANGUAGES])
        raise InputError(f"{data.language!r}: {what}; there are: {known}", field="language")
    limits = Limits(cpu=data.timeout, memory=MEMORY, disk=DISK)
    stdin = b"" if data.language == "shell" else data.std_input.encode("utf-8", "surrogatepass")
    program = Program(data.generated_code, language)
    return RunRequest(program, stdin, limits=limits)


def run_response(ran: Ran, data: NemoRequest) -> NemoResponse:
    """Return the client's answer for a run."""
    done, verdict = ran.execution, verdict_of(ran)
    if done is None:
        said = ran.compilation.output if ran.compilation is not None else ""
        return NemoResponse("error", "", _cut(said, data), verdict=verdict)
    if done.limit in TIME_LIMITS:
        return NemoResponse("timeout", "", _cut(_late(data), data), verdict=verdict)
    # A Python program that crashes is completed, too, a command that fails is not.
    failed = data.language == "shell" and done.exit_code != 0
    stdout, stderr = (out.decode("utf-8", "replace") for out in (done.stdout, done.stderr))
    return NemoResponse(
        "error" if failed else "completed", _cut(stdout, data), _cut(stderr, data), verdict=verdict
    )


def cell_response(made: CellResult, data: NemoRequest) -> NemoResponse:
    """Return the client's answer for a cell of a session."""
    stdout, stderr = (out.decode("utf-8", "replace") for out in (made.stdout, made.stderr))
    shown = [each.get("text/plain", "") for each in made.displays if each.keys() <= {"text/plain"}]
    if made.result is not None:
        shown.append(made.result)
    late = made.limit in TIME_LIMITS
    if made.error is not None and not late:
        lines = made.error.traceback or (f"{made.error.name}: {made.error.value}\n",)
        minimal = data.traceback_verbosity.lower() == "minimal"
        shown.append((lines[-1] if minimal else "".join(lines)).rstrip("\n"))
    for each in shown:
        stdout += ("" if stdout.endswith("\n") or not stdout else "\n") + each + "\n"
    if late:
        stderr += _late(data)
    elif made.ended is not None:
        why = f"the {made.limit} limit" if made.limit is not None else "the code"
        stderr += f"\nthe interpreter was ended by {why}: its variables are lost\n"
    status: NemoStatus = "completed" if made.ok else "error"
    return NemoResponse(
        "timeout" if late else status,
        _cut(_tidy(stdout), data),
        _cut(_tidy(stderr), data),
        made.fresh or made.ended is not None,
        verdict_by(made.limit, ok=made.ok),
    )


def session_ended(error: SessionEnded, data: NemoRequest) -> NemoResponse:
    """Return the client's answer for a session that ended while it was used.

    Its programs have killed its first process, or it was deleted meanwhile: which of the two, or
    whether the fault is the server's, is not known. So there is no verdict.
    """
    return NemoResponse(
        "error", "", _cut(f"Session error: {error}\n", data), new_session_created=True
    )


def _late(data: NemoRequest) -> str:
    return f"Execution timed out after {data.timeout:g} seconds\n"


def _tidy(text: str) -> str:
    text = text.lstrip("\n").rstrip()
    return text + "\n" if text else ""


def _cut(text: str, data: NemoRequest) -> str:
    most = data.max_output_characters
    return text if len(text) <= most else text[:most] + _CUT_MARK


def failed(error: ProctorError) -> JsonReply:
    """Answer an error by the status, and in the body's usual form, all that clients look at."""
    request_at_fault = isinstance(error, InputError | NoLanguage)
    told = str(error)
    body = NemoResponse(
        "error",
        "",
        f"Sandbox error: {told}\n",
        verdict="" if request_at_fault else "INFRA_FAULT",
        error=told,
    )
    return JsonReply(body, 400 if request_at_fault else status_of(error), tuple(headers_of(error)))
