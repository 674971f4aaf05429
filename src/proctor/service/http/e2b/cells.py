"""Cells of a sandbox's interpreter, and their outcome in E2B's lines."""

import asyncio
import codecs
import json
import time
from collections.abc import AsyncGenerator, Mapping
from typing import Any

import msgspec

from proctor.errors import InputError, ProctorError
from proctor.execution import Execution
from proctor.sandbox.notebook import CellResult
from proctor.service.admission import RequestContext
from proctor.service.http.e2b.contexts import COMMANDS, CodeContext, known_language
from proctor.service.http.e2b.live_output import LiveOutput
from proctor.service.http.e2b.paths import relative
from proctor.service.http.e2b.sandboxes import Sandbox
from proctor.service.owned_session import SessionOutcome

_FORMATS = {
    "text/plain": "text", "text/html": "html", "text/markdown": "markdown", "image/svg+xml": "svg",
    "image/png": "png", "image/jpeg": "jpeg", "application/pdf": "pdf", "text/latex": "latex",
    "application/json": "json", "application/javascript": "javascript",
}  # fmt: skip
"""Fields of a result by MIME type."""
_IN = ("/bin/sh", "-c", 'cd -- "$1" && shift && exec "$@"', "sh")
"""Words to put before a directory and a command, to run the command in the directory."""
_STREAMS = ("", "stdout", "stderr")
_VARIABLES = "__import__('os').environ.update(__import__('json').loads({}))"


class CellRequest(msgspec.Struct, frozen=True):
    """Body of POST /execute."""

    code: str
    context_id: str | None = None
    language: str | None = None
    env_vars: dict[str, str] | None = None


async def cell_lines(
    sandbox: Sandbox, asked: CellRequest, context: RequestContext
) -> AsyncGenerator[dict[str, Any]]:
    """Run a cell, and yield its lines as they come.

    Raises InputError, NotFound, and what methods of OwnedSession raise. A fault after the first
    line is yielded as a line instead.
    """
    place = _context_of(sandbox, asked)
    sandbox.executions += 1
    count, begun = sandbox.executions, False
    live = LiveOutput()
    made = await _started(sandbox, asked, place, live, context)
    decode = [codecs.getincrementaldecoder("utf-8")("replace").decode for _ in _STREAMS]
    try:
        async for which, data in live.until(made):
            if text := decode[which](data):
                begun = True
                yield _output(which, text)
        for which in (1, 2):
            if text := decode[which](b"", True):
                yield _output(which, text)
        found = made.result().made
    except ProctorError as error:
        if not begun:
            raise
        yield _error(type(error).__name__, str(error), "")
        return
    for line in _ended(found) if isinstance(found, CellResult) else _ended_command(found):
        yield line
    yield {"type": "number_of_executions", "execution_count": count}


def _context_of(sandbox: Sandbox, asked: CellRequest) -> CodeContext:
    """Return the context that a cell is for. Raises InputError, NotFound."""
    place = sandbox.contexts.get(asked.context_id or "default")
    if asked.language is None:
        return place
    language = known_language(asked.language)
    if asked.context_id is not None and language != place.language:
        raise InputError(f"the context is for {place.language}: leave the language out")
    return place if place.language == language else CodeContext(language=language)


async def _started(
    sandbox: Sandbox,
    asked: CellRequest,
    place: CodeContext,
    live: LiveOutput,
    context: RequestContext,
) -> asyncio.Future[SessionOutcome[CellResult] | SessionOutcome[Execution]]:
    """Begin to run a cell, once its variables are set."""
    session, variables = sandbox.session, {**sandbox.variables, **(asked.env_vars or {})}
    if not place.is_python:
        words = (*with_variables(variables), *COMMANDS[place.language], asked.code)
        return asyncio.ensure_future(
            session.command(within(place.cwd, words), b"", context, on_output=live.take)
        )
    if variables:
        setting = _VARIABLES.format(repr(json.dumps(variables)))
        await session.run_cell(setting, context, notebook=place.notebook)
    return asyncio.ensure_future(
        session.run_cell(asked.code, context, notebook=place.notebook, on_output=live.take)
    )


def within(directory: str | None, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words that run a command in a directory of the sandbox. Raises InputError."""
    place = relative(directory or ".")
    return words if place == "." else (*_IN, place, *words)


def with_variables(variables: Mapping[str, str]) -> tuple[str, ...]:
    """Return the words that set variables for the command after them."""
    if not variables:
        return ()
    return ("/usr/bin/env", *(f"{name}={value}" for name, value in variables.items()))


def _output(which: int, text: str) -> dict[str, Any]:
    return {"type": _STREAMS[which], "text": text, "timestamp": time.time_ns()}


def _results(made: CellResult) -> list[dict[str, Any]]:
    shown = [
        {"type": "result", "is_main_result": False, **_formats(each)} for each in made.displays
    ]
    if made.result is not None:
        shown.append({"type": "result", "is_main_result": True, "text": made.result})
    return shown


def _formats(display: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {
        _FORMATS[kind]: text for kind, text in display.items() if kind in _FORMATS
    }
    extra = {kind: text for kind, text in display.items() if kind not in _FORMATS}
    return {**found, "extra": extra} if extra else found


def _ended_command(made: Execution) -> list[dict[str, Any]]:
    if made.ok:
        return []
    return [_error("ExecutionError", made.limit or f"exit code {made.exit_code}", "")]


def _ended(made: CellResult) -> list[dict[str, Any]]:
    return [*_results(made), *_end(made)]


def _end(made: CellResult) -> list[dict[str, Any]]:
    if made.error is not None:
        return [_error(made.error.name, made.error.value, "".join(made.error.traceback))]
    if made.limit is not None:
        return [_error("LimitExceeded", f"{made.limit} limit exceeded", "")]
    if made.ended is not None:
        return [_error("SystemExit", str(made.ended.exit_code), "")]
    return []


def _error(name: str, value: str, traceback: str) -> dict[str, Any]:
    return {"type": "error", "name": name, "value": str(value), "traceback": traceback}
