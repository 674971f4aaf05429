"""`proctor-tack`: the command line of Tack Timetable's execution host, run by proctor.

It takes the program on stdin, its timeout in seconds as the argument and `input.json` in the
working directory, and answers one line of JSON on stdout, with exit code 0 however the run ended.
docs/reference/solve-envelope.md lists where it differs from its model.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from proctor.cli import terminal
from proctor.errors import InputError, ProctorError
from proctor.sandbox.machine import plain_file
from proctor.service.http.tack import environment
from proctor.service.http.tack.envelope import TIMEOUT, crashed, fields
from proctor.service.http.tack.requests import for_input
from proctor.solver import profile
from proctor.solver.host import SolverHost
from proctor.solver.request import SolveRequest

_PROFILE = "timetable"
_USAGE = """usage: proctor-tack [SECONDS | --syntax-check | --ast-check | --daemon]

Runs the generated solver on stdin as Tack Timetable's execution host does; input.json is looked
for in the working directory, and results are kept in .ai_results there.
"""


def main() -> None:
    """Run the mode that the first argument names."""
    words = sys.argv[1:]
    if words in (["-h"], ["--help"]):
        terminal.write(_USAGE)
        return
    if len(words) > 1 or (words and words[0].startswith("-") and words[0] not in _MODES):
        terminal.write(_USAGE, stderr=True)
        sys.exit(2)
    if words == ["--daemon"]:
        from proctor.cli.main import main as proctor

        sys.argv = ["proctor", "daemon", "--no-hello"]
        proctor()
    signal.signal(
        signal.SIGTERM, signal.default_int_handler
    )  # so that the answer has the best solution so far
    answer = _check(words[0]) if words and words[0] in _MODES else _execute(words)
    terminal.write(json.dumps(answer, allow_nan=False), end="\n")


_MODES = ("--syntax-check", "--ast-check", "--daemon")


def _check(mode: str) -> dict[str, Any]:
    try:
        environment.adopt()
        with SolverHost(cells=1) as host:
            code = sys.stdin.buffer.read()
            checked = host.check(code, profile.load(_PROFILE), compiled=mode == "--syntax-check")
    except ProctorError as error:
        return {"ok": False, "error": str(error)}
    return {"ok": checked.ok, "error": checked.error}


def _execute(words: list[str]) -> dict[str, Any]:
    try:
        environment.adopt()
        code = sys.stdin.buffer.read()
        known = profile.load(_PROFILE)
        given = _input(known.input.max_bytes)
        request = SolveRequest(code, given, for_input(known, given), _seconds(words))
        with SolverHost(cells=1, store=Path.cwd()) as host:
            return fields(host.start(request).result_even_if_interrupted())
    except InputError as error:
        return crashed(str(error))


def _seconds(words: list[str]) -> float | None:
    """Return the timeout; None if the environment has one. Raises InputError."""
    if os.environ.get("EXECUTOR_TIMEOUT_SECONDS"):
        return None
    if not words:
        return TIMEOUT
    try:
        seconds = float(int(float(words[0])))
    except (ValueError, OverflowError) as error:
        raise InputError(f"{words[0]!r} is not a number of seconds", field="timeout") from error
    return seconds


def _input(most: int) -> bytes:
    """Read the input, if there is one. Raises InputError."""
    try:
        return plain_file.read(str(Path.cwd() / "input.json"), most)
    except FileNotFoundError:
        return b"{}"
