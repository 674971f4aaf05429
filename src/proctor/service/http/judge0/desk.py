"""Submissions that were taken: they are jobs, kept for their owner as the engine keeps jobs."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import msgspec

from proctor.errors import Cancelled
from proctor.service.engine import Asker, Engine
from proctor.service.http.judge0 import result as results
from proctor.service.http.judge0.callback import Address, call
from proctor.service.http.judge0.languages import Offered, offered
from proctor.service.http.judge0.request import Submission, parsed
from proctor.service.http.judge0.result import Result, Status
from proctor.service.http.judge0.settings import Judge0Settings
from proctor.service.http.judge0.shown import OURS, USUAL, shown
from proctor.service.jobs import ENDED, Job
from proctor.service.running import Ran


@dataclass(frozen=True, slots=True)
class Taken:
    """What a job of this door is about."""

    given: Mapping[str, Any]
    """The request's fields, as they are shown again."""
    created: str


class Desk:
    """What all of Judge0's routes share."""

    def __init__(self, engine: Engine, settings: Judge0Settings) -> None:
        self.engine, self.settings = engine, settings
        self._calling: set[asyncio.Task[None]] = set()

    @cached_property
    def _offered(self) -> dict[int, Offered]:
        return offered(self.engine.pool.setup.interpreter, self.engine.languages())

    async def languages(self) -> Mapping[int, Offered]:
        """Return what this machine can run, found when it is first asked for."""
        return await asyncio.to_thread(lambda: self._offered)

    async def parse(self, body: Mapping[str, Any], *, base64: bool) -> Submission:
        """Check a submission. Raises Invalid."""
        known = await self.languages()
        if not body.get("additional_files"):
            return parsed(body, known, self.settings, base64=base64)
        return await asyncio.to_thread(parsed, body, known, self.settings, base64=base64)

    def is_full(self, owner: str, more: int = 1) -> bool:
        """Whether so many more of this owner's may not wait."""
        admission = self.engine.admission
        return admission.waiting_of(owner) + more > admission.most

    def take(self, owner: str, submission: Submission) -> Job:
        """Start it."""

        async def work(job: Job) -> Result:
            runs: list[Ran] = []
            for _ in range(submission.runs):
                asker = Asker(owner, patient=True, begun=None if runs else job.begin)
                runs.append(await self.engine.run(submission.request, asker))
                if not results.is_accepted(submission, runs[-1]):
                    break
            found = results.result(submission, runs)
            return Result(found.status, {**found.fields, "finished_at": _now()})

        job = self.engine.jobs.start(owner, work, about=Taken(submission.shown, _now()))
        if submission.callback is not None:
            # Kept, or the loop's weak reference would be the only one.
            calling = asyncio.create_task(self._call_back(job, submission.callback))
            self._calling.add(calling)
            calling.add_done_callback(self._calling.discard)
        return job

    async def _call_back(self, job: Job, to: Address) -> None:
        async for _ in job.listen():
            pass
        body = shown(job.id, given(job), state(job), (*USUAL, *OURS), base64=True)
        settings = self.settings
        tries, timeout = settings.callbacks_max_tries, settings.callbacks_timeout
        await call(to, msgspec.json.encode(body), tries, timeout)

    def find(self, owner: str, token: str) -> Job | None:
        """Return a submission of this owner's; other doors' jobs are none."""
        job = self.engine.jobs.get(owner, token)
        return job if job is not None and isinstance(job.about, Taken) else None

    async def end(self, job: Job) -> None:
        """Wait until it has ended, however; call it off if nobody waits any more."""
        try:
            async for _ in job.listen():
                pass
        except asyncio.CancelledError:
            job.cancel()
            raise


def state(job: Job) -> Result:
    """Say how far it has come."""
    if job.state not in ENDED:
        return results.unfinished(Status.IN_QUEUE if job.state == "queued" else Status.PROCESSING)
    if isinstance(job.result, Result):
        return job.result
    return results.fault(job.error or Cancelled("the job was called off"))


def given(job: Job) -> dict[str, Any]:
    """Return what it was asked with, and when."""
    about = job.about
    assert isinstance(about, Taken)
    return {**about.given, "created_at": about.created}


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
