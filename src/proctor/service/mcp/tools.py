"""Arguments and results of the tools for language models, and how results read as text."""

from typing import Annotated, Literal

import msgspec

from proctor.service.http.native.schema import (
    Bytes,
    ComparisonJson,
    JudgeResult,
    Outcome,
    RunResult,
    SetName,
    TestJson,
)
from proctor.service.http.native.session_schema import ExecuteResult

_MOST_TEXT = 30_000
"""Characters of an output as text: a model reads them all. The structured content has more."""
_MOST_KEPT = 1_000_000
"""Characters of an output in the structured content."""


def _doc(text: str) -> msgspec.Meta:
    return msgspec.Meta(description=text)


Code = Annotated[str, _doc("Source of the program.")]
Language = Annotated[str, _doc("An id of list_languages.")]
Timeout = Annotated[
    float, msgspec.Meta(gt=0, le=600, description="CPU seconds. Waiting for a CPU is not counted.")
]
Idle = Annotated[
    float, msgspec.Meta(gt=0, le=86400, description="Ends unused after so long, in s.")
]
Packages = Annotated[
    SetName, _doc("Set of packages that the code may import, if the server has such sets.")
]
SessionId = Annotated[str, _doc("What open_session has returned.")]


class ExecuteCode(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of execute_code."""

    code: Code
    language: Language = "python"
    stdin: Annotated[str, _doc("What the program reads from standard input.")] = ""
    session_id: SessionId | None = None
    timeout: Timeout = 10.0
    memory: Bytes | None = None
    packages: Packages | None = None


class Executed(msgspec.Struct, frozen=True):
    """Outcome of a program or a cell."""

    outcome: Outcome
    verdict: str
    """OK, CE, RE, TLE, ILE, MLE or OLE."""
    stdout: str
    stderr: str
    result: str | None
    """Value of the last line of code, in a session."""
    error: str | None
    """Exception that ended a cell of a session; output of a compiler that failed."""
    exit_code: int | None
    signal: int | None
    limit: str | None
    cpu: float | None
    memory: int | None = None
    fresh: bool = True
    """True if no state of earlier calls was there."""


class JudgeSolution(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of judge_solution."""

    code: Code
    tests: Annotated[tuple[TestJson, ...], msgspec.Meta(min_length=1, max_length=1000)]
    language: Language = "python"
    function: Annotated[
        str | None,
        _doc("Python function to call: inputs are then JSON values, one a line, outputs one."),
    ] = None
    comparison: ComparisonJson | None = None
    timeout: Timeout = 10.0
    memory: Bytes | None = None
    stop: Annotated[
        Literal["first", "crash", "never"],
        _doc("End at the first test that fails, at a crash or an overrun limit, or never."),
    ] = "crash"
    packages: Packages | None = None


class Languages(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of list_languages, which takes none."""


class Listed(msgspec.Struct, frozen=True):
    """Languages by id."""

    languages: dict[str, str]


class OpenSession(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of open_session."""

    idle: Idle = 600.0
    memory: Bytes | None = None
    packages: Packages | None = None


class CloseSession(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of close_session."""

    session_id: SessionId


class Opened(msgspec.Struct, frozen=True):
    """A session."""

    session_id: str
    idle: float


def executed(found: ExecuteResult) -> Executed:
    """Return the tool's result for a cell."""
    error = None if found.error is None else "".join(found.error.traceback)
    if found.ended and error is None:
        error = "the interpreter ended: variables are lost, files are not"
    return Executed(
        found.outcome, found.verdict, _kept(found.stdout.text), _kept(found.stderr.text),
        found.result, error, found.exit_code, found.signal, found.limit, found.cpu,
        fresh=found.fresh,
    )  # fmt: skip


def ran(found: RunResult) -> Executed:
    """Return the tool's result for a run."""
    run, compiled = found.execution, found.compilation
    failed = compiled.output if compiled is not None and not compiled.ok else None
    if run is None:
        return Executed(found.outcome, found.verdict, "", "", None, failed, None, None, None, None)
    return Executed(
        found.outcome, found.verdict, _kept(run.stdout.text), _kept(run.stderr.text), None, None,
        run.exit_code, run.signal, run.limit, run.cpu, run.memory,
    )  # fmt: skip


def in_words(found: Executed) -> str:
    """Return a result as text: what a model needs to go on."""
    parts = [f"verdict: {found.verdict}" + (f" ({found.limit} limit)" if found.limit else "")]
    if found.verdict == "OK":
        parts = []
    for name, text in (
        ("stdout", found.stdout), ("stderr", found.stderr), ("result", found.result),
        ("error", found.error),
    ):  # fmt: skip
        if text:
            parts.append(f"{name}:\n{_cut(text)}")
    if found.signal is not None:
        parts.append(f"ended by signal {found.signal}")
    elif found.exit_code:
        parts.append(f"exit code {found.exit_code}")
    return "\n".join(parts) or "it printed nothing"


def judge_in_words(found: JudgeResult) -> str:
    """Return a judgement as text: which tests passed."""
    parts = [
        f"verdict: {found.verdict}" + ("" if found.score is None else f", score {found.score:g}")
    ]
    for number, test in enumerate(found.tests, 1):
        name = test.name or str(number)
        parts.append(
            f"test {name}: {test.verdict}" + (f" ({test.message})" if test.message else "")
        )
    parts += [_cut(text) for text in (found.message, found.compiler_output) if text]
    return "\n".join(parts)


def languages_in_words(found: Listed) -> str:
    """Return languages as text, one a line."""
    return "\n".join(f"{name}: {told}" for name, told in found.languages.items())


def opened_in_words(found: Opened) -> str:
    """Return a session as text: its id."""
    return f"session_id: {found.session_id}"


def _kept(text: str) -> str:
    return text[:_MOST_KEPT]


def _cut(text: str) -> str:
    if len(text) <= _MOST_TEXT:
        return text
    half = _MOST_TEXT // 2
    return f"{text[:half]}\n... {len(text) - 2 * half} characters left out ...\n{text[-half:]}"
