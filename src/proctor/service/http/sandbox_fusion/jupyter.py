"""POST /run_jupyter: cells for one interpreter, one after the other."""

import contextlib
import os
import time
from typing import Any

import msgspec
from litestar import Request, post
from litestar.handlers import HTTPRouteHandler

from proctor.errors import InputError, NotFound, ProctorError
from proctor.execution import LimitHit
from proctor.limits import LEAST_MEMORY, MIB, Limits
from proctor.program import check_relative
from proctor.sandbox.notebook import CellResult
from proctor.service.engine import Asker, Engine
from proctor.service.http.answer import Answer, Reply
from proctor.service.http.asking import patient
from proctor.service.http.encoded import packed
from proctor.service.http.sandbox_fusion.run_code import DISK, MEMORY, decoded
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
"""Wall seconds that count as a CPU second, so that what sleeps ends as well; as for limits."""
_OVER_TIME = (LimitHit.CPU, LimitHit.WALL, LimitHit.IDLE)
_POD = os.environ.get("MY_POD_NAME")


def routes(engine: Engine) -> HTTPRouteHandler:
    """Return the route."""

    @post("/run_jupyter", status_code=200)
    async def run_jupyter(data: RunJupyterRequest, request: Request[Any, Any, Any]) -> Answer:
        """Run cells in one interpreter, which ends with the request.

        A cell that raises ends nothing but itself, and the status stays Success.
        """
        asker = patient(request)
        return Answer(_run(engine, data, asker), failed=_failed, pad=True)

    return run_jupyter


async def _run(engine: Engine, data: RunJupyterRequest, asker: Asker) -> RunJupyterResponse:
    files = decoded(data.files)
    for name in (*files, *data.fetch_files):
        check_relative(name)
    memory = max(data.memory_limit_MB * MIB, LEAST_MEMORY) if data.memory_limit_MB > 0 else MEMORY
    disk = DISK + sum(map(len, files.values()))
    limits = Limits(cpu=data.total_timeout, memory=memory, disk=disk)
    async with engine.sessions.leased(asker, limits) as session:
        for name, content in files.items():
            await session.write(name, content, asker)
        began = time.monotonic()
        cells, last = await _cells(session, data, asker)
        took = time.monotonic() - began
        fetched = {}
        for name in data.fetch_files:
            with contextlib.suppress(NotFound):
                fetched[name] = packed(await session.read(name, asker))
    driver = _driver(last, took, complete=len(cells) == len(data.cells))
    ok = driver.status == "Finished" and driver.return_code == 0
    return RunJupyterResponse(
        "Success" if ok else "Failed", "", driver, cells, _POD, fetched, session.isolation.level
    )


async def _cells(
    session: OwnedSession, data: RunJupyterRequest, asker: Asker
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
        made = (await session.run_cell(source, asker, cpu=cpu)).made
        left -= max(made.cpu, (time.monotonic() - began) / _SLEEP)
        done.append(_cell(made))
        if made.ended is not None or made.limit in _OVER_TIME:
            break
    return done, made


def _driver(last: CellResult | None, took: float, *, complete: bool) -> CommandRunResult:
    """Say how the interpreter fared: upstream tells of the process that feeds its kernel."""
    wall = round(took, 6)
    limit = None if last is None or last.limit is None else last.limit
    if last is not None and limit not in _OVER_TIME and last.ended is not None:
        ended = last.ended
        code = -ended.signal if ended.signal is not None else (ended.exit_code or -9)
        return CommandRunResult(
            "Finished", wall, code, "", "a cell ended the interpreter", limit=limit
        )
    if limit in _OVER_TIME or not complete:
        return CommandRunResult("TimeLimitExceeded", wall, None, "", "", limit=limit or "cpu")
    return CommandRunResult("Finished", wall, 0, "", "")


def _cell(made: CellResult) -> CellRunResult:
    display = [_plain(each) for each in made.displays]
    # A value in several types is among what was shown already.
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
    """As a kernel sends it: JSON as a value, all else as text."""
    found = dict(shown)
    if "application/json" in found:
        # The program's words: what cannot be said again as JSON stays a text.
        with contextlib.suppress(ValueError, OverflowError, RecursionError):
            value = msgspec.json.decode(found["application/json"])
            msgspec.json.encode(value)
            found["application/json"] = value
    return found


def _failed(error: ProctorError) -> Reply:
    """A fault of ours, or a request that cannot be served: upstream says SandboxError to both."""
    message = error.message if isinstance(error, InputError) else str(error)
    return Reply(RunJupyterResponse("SandboxError", message))
