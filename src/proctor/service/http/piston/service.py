"""The service behind Piston's routes: the runtimes of this machine, and jobs in the engine."""

import asyncio
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from proctor.service.admission import RequestContext
from proctor.service.engine import Engine
from proctor.service.http.piston import graded, packages
from proctor.service.http.piston.convert import run_request, stages
from proctor.service.http.piston.request import PistonJob, is_plain, parsed
from proctor.service.http.piston.runtimes import Runtime, runtimes
from proctor.service.http.piston.schema import ExecuteResponse
from proctor.service.http.piston.settings import PistonSettings

PREFIXES = ("/api/v2", "/api/v2/piston")
"""Paths that the routes are below: Piston's own, and that of its public instance."""


class PistonService:
    """Checks and runs jobs, and knows the runtimes. One for all of Piston's routes."""

    def __init__(self, engine: Engine, settings: PistonSettings) -> None:
        self.engine, self.settings = engine, settings
        directory = settings.packages
        readable = engine.pool.setup.directories
        self._packages = packages.runtimes(directory, readable) if directory else []

    @cached_property
    def _found(self) -> list[Runtime]:
        pool = self.engine.pool
        contests = not pool.only_python
        found = runtimes(pool.setup.interpreter, self.engine.languages(), contests=contests)
        return [*found, *self._packages]

    async def runtimes(self) -> Sequence[Runtime]:
        """Return the runtimes of this machine, found when they are first asked for."""
        if "_found" not in self.__dict__:
            await asyncio.to_thread(lambda: self._found)
        return self._found

    async def job(self, body: Any) -> PistonJob:
        """Check a request. Raises Refused, InputError."""
        return parsed(body, await self.runtimes(), self.settings)

    async def execute(self, job: PistonJob, context: RequestContext) -> ExecuteResponse:
        """Run or judge a job. Raises ProctorError for faults that are not the program's."""
        if is_plain(job):
            compiled, run = stages(await self.engine.run(run_request(job), context))
        else:
            compiled, run = await graded.judged(self.engine, job, context)
        return ExecuteResponse(run, job.runtime.language, job.runtime.shown, compiled)
