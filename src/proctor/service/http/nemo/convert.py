"""Converts between NeMo-Skills' requests and answers and the engine's."""

import re

import msgspec

from proctor.errors import InputError, NoLanguage, ProctorError, SessionEnded
from proctor.execution import TIME_LIMITS
from proctor.languages import registry
from proctor.languages.run import Ran, RunRequest
from proctor.languages.scripts import BASH, Scripts
from proctor.limits import GIB, MIB, Limits
from proctor.program import ON_COMMAND_LINE, Program
from proctor.sandbox.notebook import CellResult
from proctor.service.http.nemo.schema import NemoRequest, NemoResponse, NemoStatus
from proctor.service.http.problem_details import headers_of, status_of
from proctor.service.http.responses import JsonReply
from proctor.service.run_verdicts import verdict_by, verdict_of

MEMORY, DISK = 4 * GIB, 64 * MIB
_LANGUAGES = ("python", "python3", "pypy3", "shell")
_NO_LEAN = (
    "no Lean is installed here: its toolchains come from elan's servers alone, no registry of"
    " packages has one"
)
_CUT_MARK = "<output cut>"
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])")
_PROMPT = re.compile(r"^Out\[\d+\]:[^\S\n]*", re.MULTILINE)
_MOST_TIDIED = 1 << 20
"""Characters of an output that are cleaned in any case; more if more may be shown."""
_START = 0.02
"""Seconds in which an interpreter starts: upstream's clock counts them, proctor's does not."""
_MOST_ON_COMMAND_LINE = 60_000
"""Bytes up to which PyPy gets a program on its command line, as upstream does; else in a file."""


def run_request(data: NemoRequest) -> RunRequest:
    """Return the engine's request for a client's; may look for PyPy. Raises InputError."""
    if data.language not in _LANGUAGES:
        what = _NO_LEAN if data.language == "lean4" else "unknown"
        known = ", ".join(["ipython", *_LANGUAGES])
        raise InputError(f"{data.language!r}: {what}; there are: {known}", field="language")
    limits = Limits(cpu=data.timeout, elapsed=elapsed(data), memory=MEMORY, disk=DISK)
    code, scripts = data.generated_code, None
    stdin = data.std_input.encode("utf-8", "surrogatepass")
    if data.language == "shell":
        # There is no compile step: bash runs what comes before a syntax error.
        program, stdin = Program(code, "bash", "script.sh"), b""
        scripts = Scripts(run=(BASH, "script.sh"), compile=())
    elif data.language == "pypy3":
        program = Program(code, "pypy")
        if _fits_a_command_line(code):
            pypy = registry.find(registry.get("pypy"))
            words = (pypy.tools["python"], "-B", "-s", "-c", code)
            scripts = Scripts(
                run=words, compile=(), environment=dict(pypy.language.run.environment)
            )
    else:
        program = Program(code, "python", ON_COMMAND_LINE)
    return RunRequest(program, stdin, limits=limits, scripts=scripts)


def elapsed(data: NemoRequest) -> float:
    """Return the seconds that code may take, at work and at rest."""
    return max(data.timeout - _START, data.timeout / 2)


def _fits_a_command_line(code: str) -> bool:
    try:
        encoded = code.encode()
    except UnicodeEncodeError:
        return False
    return len(encoded) <= _MOST_ON_COMMAND_LINE and b"\0" not in encoded


def run_response(ran: Ran, data: NemoRequest) -> JsonReply:
    """Return the client's answer for a run."""
    done, verdict = ran.execution, verdict_of(ran)
    if done is None:
        said = ran.compilation.output if ran.compilation is not None else ""
        return _reply(NemoResponse("completed", "", _cut(said, data)), verdict)
    if done.limit in TIME_LIMITS:
        return _reply(NemoResponse("timeout", "", _cut(_late(data), data)), verdict)
    # A Python program that crashes counts as completed, a command that fails does not.
    failed = data.language == "shell" and done.exit_code != 0
    stdout, stderr = (
        _cut(out.decode("utf-8", "replace"), data) for out in (done.stdout, done.stderr)
    )
    return _reply(NemoResponse("error" if failed else "completed", stdout, stderr), verdict)


def cell_response(made: CellResult, data: NemoRequest) -> JsonReply:
    """Return the client's answer for a cell of a session."""
    stdout, stderr = _with_displays(made), made.stderr.decode("utf-8", "replace")
    late = made.limit in TIME_LIMITS
    if made.result is not None:
        # The prompt of a terminal; _tidy() removes it where it begins a line.
        gap = "\n" if "\n" in made.result else ""
        stdout += f"Out[1]: {gap}{made.result}\n"
    if made.error is not None and not late:
        minimal = data.traceback_verbosity.lower() == "minimal"
        stdout += made.error.brief if minimal else made.error.plain
    if late:
        stderr += _late(data)
    elif made.ended is not None:
        stderr += "\nconnection closed\n"
        if made.limit is not None:
            stderr += f"the interpreter overran its {made.limit} limit\n"
    status: NemoStatus = "timeout" if late else "completed" if made.ok else "error"
    response = NemoResponse(
        status,
        _cut(_tidy(stdout, data), data),
        _cut(_tidy(stderr, data), data),
        made.fresh or made.ended is not None,
    )
    return _reply(response, verdict_by(made.limit, ok=made.ok))


def _with_displays(made: CellResult) -> str:
    """Return the printed text, with what display() showed inserted at the reported places."""
    parts, at = [], 0
    # A last value that is rich is among the displays, but has no reported place.
    for shown, told in zip(made.displays, made.shown_at, strict=False):
        place = min(max(told, at), len(made.stdout))
        parts += [made.stdout[at:place], shown.get("text/plain", "").encode(errors="replace")]
        parts.append(b"\n")
        at = place
    return b"".join([*parts, made.stdout[at:]]).decode("utf-8", "replace")


def session_ended(error: SessionEnded, data: NemoRequest) -> JsonReply:
    """Return the client's answer for a session that ended while it was used.

    Its programs may have killed its first process, it may have been deleted, or the server may be
    at fault: this is not known, so there is no verdict.
    """
    said = _cut(f"Session error: {error}\n", data)
    return JsonReply(NemoResponse("error", "", said, new_session_created=True))


def _reply(response: NemoResponse, verdict: str) -> JsonReply:
    return JsonReply(response, headers=((VERDICT, verdict.encode()),))


VERDICT = b"x-proctor-verdict"
"""Header that says how a program ended; no key of the body, since clients compare all keys."""


def _late(data: NemoRequest) -> str:
    return f"Execution timed out after {data.timeout} seconds\n"


def _tidy(text: str, data: NemoRequest) -> str:
    """Return text as upstream cleans it: no colours, prompts or blank lines around it."""
    text = text[: _MOST_TIDIED + 8 * data.max_output_characters]  # the rest is not shown
    text = _PROMPT.sub("", _ANSI.sub("", text)).lstrip("\n").rstrip()
    return text + "\n" if text else ""


def _cut(text: str, data: NemoRequest) -> str:
    most = data.max_output_characters
    return text if len(text) <= most else text[:most] + _CUT_MARK


def failed(error: ProctorError) -> JsonReply:
    """Answer an error by a status and a body of the usual form: clients look at nothing else."""
    at_fault = isinstance(error, InputError | NoLanguage)
    told = str(error)
    headers = headers_of(error)
    if not at_fault:
        headers.append((VERDICT, b"INFRA_FAULT"))
    body = NemoResponse("error", "", f"Sandbox error: {told}\n", msgspec.UNSET, told)
    return JsonReply(body, 400 if at_fault else status_of(error), tuple(headers))
