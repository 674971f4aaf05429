"""POST /execute: one program, or one test of open-r1's packages."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from litestar import Request, post
from litestar.handlers import HTTPRouteHandler

from proctor.errors import Cancelled, InputError, LevelLacks, NoLanguage, ProctorError, UsageError
from proctor.languages import naming, registry
from proctor.languages.scripts import Scripts
from proctor.limits import Limits
from proctor.program import Program
from proctor.service.engine import Asker, Engine
from proctor.service.http.answer import Answer, Reply
from proctor.service.http.asking import patient
from proctor.service.http.piston import graded, packages
from proctor.service.http.piston.request import Job, NotJson, Refused, decoded, is_plain, parsed
from proctor.service.http.piston.runtimes import Runtime, runtimes
from proctor.service.http.piston.schema import ExecuteResponse, stages
from proctor.service.http.piston.settings import PistonSettings
from proctor.service.running import PYTHON, RunRequest

PREFIXES = ("/api/v2", "/api/v2/piston")
"""Piston's own, and that of its public instance."""
AGAIN = "Resource temporarily unavailable"
"""What open-r1's client takes for a server that cannot just now, whatever the status."""
NOT_JSON = "requests must be of type application/json"


class Door:
    """What all of Piston's routes share."""

    def __init__(self, engine: Engine, settings: PistonSettings) -> None:
        self.engine, self.settings = engine, settings
        directory = settings.packages
        seen = engine.pool.setup.directories
        self._packages = packages.runtimes(directory, seen) if directory else []

    @cached_property
    def _found(self) -> list[Runtime]:
        pool = self.engine.pool
        contests = pool.level != "container"
        found = runtimes(pool.setup.interpreter, self.engine.languages(), contests=contests)
        return [*found, *self._packages]

    async def runtimes(self) -> Sequence[Runtime]:
        """Return what this machine can run, found when it is first asked for."""
        return await asyncio.to_thread(lambda: self._found)

    async def job(self, body: Any) -> Job:
        """Check a request. Raises Refused, InputError."""
        return parsed(body, await self.runtimes(), self.settings)

    async def execute(self, job: Job, asker: Asker) -> ExecuteResponse:
        """Do as it says. Raises ProctorError for what is not the program's fault."""
        if is_plain(job):
            compiled, run = stages(await self.engine.run(asked(job), asker))
        else:
            compiled, run = await graded.judged(self.engine, job, asker)
        return ExecuteResponse(run, job.runtime.language, job.runtime.shown, compiled)


def routes(door: Door) -> HTTPRouteHandler:
    """Return the route."""

    @post([f"{prefix}/execute" for prefix in PREFIXES], status_code=200)
    async def execute(request: Request[Any, Any, Any]) -> Answer:
        """Run a program; the body is checked by hand, since its faults have fixed texts."""
        json = request.headers.get("content-type", "").startswith("application/json")
        body = await request.body() if json else None
        asker = patient(request)
        return Answer(_answered(door, body, asker), failed=failed, pad=True)

    return execute


async def _answered(door: Door, body: bytes | None, asker: Asker) -> ExecuteResponse | Reply:
    if body is None:
        return Reply({"message": NOT_JSON}, 415)
    try:
        job = await door.job(decoded(body))
    except NotJson as error:
        return Reply({"stack": str(error), "message": str(error)}, 400)
    except (Refused, InputError) as error:
        return Reply({"message": str(error)}, 400)
    return await door.execute(job, asker)


def asked(job: Job) -> RunRequest:
    """Turn a job into ours. Raises InputError."""
    program = job.program()
    name = job.name
    if job.runtime.scripts is not None:
        return _by_package(job, program, job.runtime.scripts)
    if job.runtime.ours == PYTHON:
        if not job.files and not job.args:
            name = ""  # then a warm interpreter runs it
    elif not naming.is_source(registry.get(job.runtime.ours), name):
        name = ""  # file0.code: the language's own name
    program = Program(program.source, program.language, name, program.files)
    return RunRequest(
        program, job.stdin, job.args, limits=job.limits, compile_cpu=job.compile_seconds
    )


def _by_package(job: Job, program: Program, scripts: Scripts) -> RunRequest:
    """`compile` is called with the names of all texts, `run` with that of the first."""
    compiling = Limits(
        job.compile_seconds, memory=job.compile_memory, output=job.limits.output,
        processes=job.limits.processes,
    )  # fmt: skip
    called = (*scripts.compile, *job.texts) if scripts.compile else ()
    scripts = replace(scripts, compile=called, limits=compiling)
    args = (job.name, *job.args)
    return RunRequest(program, job.stdin, args, limits=job.limits, scripts=scripts)


def failed(error: ProctorError) -> Reply:
    """Say what went wrong as clients look for it: with `message` no client takes it for a result.

    If blanks have been sent before, then the status is 200. open-r1's client asks again for another
    status, and for a run whose stderr has AGAIN in it, which is all that is there of a run: who
    does not look at `message` finds neither output nor exit code to go by.
    """
    if isinstance(error, UsageError | NoLanguage | LevelLacks):
        return Reply({"message": str(error)}, 400)
    if isinstance(error, Cancelled):
        return Reply({"message": str(error)}, 499)
    return Reply({"message": str(error), "run": {"stderr": f"{AGAIN}: {error}"}}, 500)
