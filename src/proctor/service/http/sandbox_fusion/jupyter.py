"""Runs cells in one interpreter, one after the other: POST /run_jupyter."""

import contextlib
import time
from typing import Any

import msgspec

from proctor.errors import InputError, NotFound, ProctorError
from proctor.execution import TIME_LIMITS
from proctor.limits import Limits
from proctor.sandbox.notebook import CellResult
from proctor.service.admission import RequestContext
from proctor.service.encoding import packed
from proctor.service.engine import Engine
from proctor.service.http.responses import JsonReply
from proctor.service.http.sandbox_fusion.convert import (
    DISK,
    POD,
    fetched,
    files_of,
    memory_limit,
)
from proctor.service.http.sandbox_fusion.schema import (
    CellRunResult,
    CommandRunResult,
    RunJupyterRequest,
    RunJupyterResponse,
)
from proctor.service.owned_session import OwnedSession

_LEAST = 0.01
"""CPU seconds: with less left, no cell is begun."""
_SLEEP = 20
"""Wall seconds that count as one CPU second, as with limits, so that cells that sleep end, too."""


async def run(
    engine: Engine, data: RunJupyterRequest, context: RequestContext
) -> RunJupyterResponse:
    """Run cells in a session of their own. Raises InputError, and what sessions raise."""
    files = files_of(data)
    wanted = dict(zip(data.fetch_files, fetched(data.fetch_files), strict=True))
    disk = DISK + sum(map(len, files.values()))
    limits = Limits(
        cpu=data.total_timeout, memory=memory_limit(data), disk=disk,
        loopback=await engine.loopback(), locks=data.locks,
    )  # fmt: skip
    async with engine.sessions.leased(context, limits) as session:
        for name, content in files.items():
            await session.write(name, content, context)
        began = time.monotonic()
        cells, last = await _cells(session, data, context)
        took = time.monotonic() - began
        found = {}
        for name, path in wanted.items():
            with contextlib.suppress(NotFound):
                found[name] = packed(await session.read(path, context))
    driver = _driver(last, took, complete=len(cells) == len(data.cells))
    ok = driver.status == "Finished" and driver.return_code == 0
    return RunJupyterResponse(
        "Success" if ok else "Failed", "", driver, cells, POD, found, session.isolation.level
    )


async def _cells(
    session: OwnedSession, data: RunJupyterRequest, context: RequestContext
) -> tuple[list[CellRunResult], CellResult | None]:
    """Run cells until one overruns its time or ends the interpreter; that one is the last."""
    left = data.total_timeout
    done: list[CellRunResult] = []
    made: CellResult | None = None
    for source in data.cells:
        if left < _LEAST:
            break
        cpu = min(data.cell_timeout, left) if data.cell_timeout > 0 else left
        began = time.monotonic()
        made = (await session.run_cell(source, context, cpu=cpu)).made
        left -= max(made.cpu, (time.monotonic() - began) / _SLEEP)
        done.append(_cell(made))
        if made.ended is not None or made.limit in TIME_LIMITS:
            break
    return done, made


def _driver(last: CellResult | None, took: float, *, complete: bool) -> CommandRunResult:
    """Return how the interpreter ended; upstream reports the process that feeds its kernel here."""
    wall = round(took, 6)
    limit = None if last is None else last.limit
    if last is not None and limit not in TIME_LIMITS and last.ended is not None:
        ended = last.ended
        code = -ended.signal if ended.signal is not None else (ended.exit_code or -9)
        return CommandRunResult(
            "Finished", wall, code, "", "a cell ended the interpreter", limit=limit
        )
    if limit in TIME_LIMITS or not complete:
        return CommandRunResult("TimeLimitExceeded", wall, None, "", "", limit=limit or "cpu")
    return CommandRunResult("Finished", wall, 0, "", "")


def _cell(made: CellResult) -> CellRunResult:
    display = [_plain(each) for each in made.displays]
    # A result of several media types is already the last of the displays.
    rich = len(display) > 0 and len(display[-1]) > 1
    if made.result is not None and not (rich and display[-1]["text/plain"] == made.result):
        display.append({"text/plain": made.result})
    error = []
    if made.error is not None:
        lines = "".join(made.error.traceback).splitlines()
        error.append({"ename": made.error.name, "evalue": made.error.value, "traceback": lines})
    return CellRunResult(
        made.stdout.decode("utf-8", "replace"),
        made.stderr.decode("utf-8", "replace"),
        display,
        error,
        None if made.limit is None else made.limit.value,
        round(made.cpu, 6),
    )


def _plain(shown: Any) -> dict[str, Any]:
    """Return a display as a kernel sends it: JSON as a value, all else as text."""
    found = dict(shown)
    if "application/json" in found:
        # The program wrote this: what cannot be encoded as JSON again stays a text.
        with contextlib.suppress(ValueError, OverflowError, RecursionError):
            value = msgspec.json.decode(found["application/json"])
            msgspec.json.encode(value)
            found["application/json"] = value
    return found


def failed(error: ProctorError) -> JsonReply:
    """Answer a fault of the server, or a request that is not served: both are SandboxError."""
    message = error.message if isinstance(error, InputError) else str(error)
    return JsonReply(RunJupyterResponse("SandboxError", message))
