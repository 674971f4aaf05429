"""Cells of a sandbox's interpreter, and their outcome in E2B's lines."""

import json
import time
from collections.abc import Mapping
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.sandbox.notebook import CellResult
from proctor.service.admission import RequestContext
from proctor.service.http.e2b.sandboxes import Sandbox

_FORMATS = {
    "text/plain": "text", "text/html": "html", "text/markdown": "markdown", "image/svg+xml": "svg",
    "image/png": "png", "image/jpeg": "jpeg", "application/pdf": "pdf", "text/latex": "latex",
    "application/json": "json", "application/javascript": "javascript",
}  # fmt: skip
"""Fields of a result by MIME type."""
_COMMANDS = {"bash": ("/bin/bash", "-c"), "javascript": ("node", "-e"), "js": ("node", "-e")}
"""Languages that are run anew each time; only Python keeps its state."""
_VARIABLES = "__import__('os').environ.update(__import__('json').loads({}))"


class CellRequest(msgspec.Struct, frozen=True):
    """Body of POST /execute."""

    code: str
    context_id: str | None = None
    language: str | None = None
    env_vars: dict[str, str] | None = None


async def run_cell(
    sandbox: Sandbox, asked: CellRequest, context: RequestContext
) -> list[dict[str, Any]]:
    """Run a cell, and return its lines. Raises InputError, and as methods of OwnedSession do."""
    language = (asked.language or "python").lower()
    variables = {**sandbox.variables, **(asked.env_vars or {})}
    sandbox.executions += 1
    if language in {"python", "python3"}:
        if variables:
            setting = _VARIABLES.format(repr(json.dumps(variables)))
            await sandbox.session.run_cell(setting, context)
        made = (await sandbox.session.run_cell(asked.code, context)).made
        lines = [*_outputs(made.stdout, made.stderr), *_results(made), *_end(made)]
    elif language in _COMMANDS:
        words = (*with_variables(variables), *_COMMANDS[language], asked.code)
        ran = (await sandbox.session.command(words, b"", context)).made
        lines = [*_outputs(ran.stdout, ran.stderr)]
        if not ran.ok:
            lines.append(_error("ExecutionError", ran.limit or f"exit code {ran.exit_code}", ""))
    else:
        known = ", ".join(["python", *_COMMANDS])
        raise InputError(f"cells in {language!r} are not run here (there are: {known})")
    return [*lines, {"type": "number_of_executions", "execution_count": sandbox.executions}]


def with_variables(variables: Mapping[str, str]) -> tuple[str, ...]:
    """Return the words that set variables for the command after them."""
    if not variables:
        return ()
    return ("/usr/bin/env", *(f"{name}={value}" for name, value in variables.items()))


def _outputs(stdout: bytes, stderr: bytes) -> list[dict[str, Any]]:
    now = time.time_ns()
    return [
        {"type": name, "text": data.decode(errors="replace"), "timestamp": now}
        for name, data in (("stdout", stdout), ("stderr", stderr))
        if data
    ]


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
