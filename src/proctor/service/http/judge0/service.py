"""The service behind Judge0's routes: submissions as jobs that the engine keeps."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import msgspec

from proctor.errors import Cancelled
from proctor.languages.run import Ran
from proctor.service.admission import RequestContext
from proctor.service.engine import Engine
from proctor.service.http.judge0 import convert
from proctor.service.http.judge0.callback import CallbackAddress, Callbacks
from proctor.service.http.judge0.counts import SubmissionCounts
from proctor.service.http.judge0.languages import Edition, Judge0Language, languages_by_number
from proctor.service.http.judge0.request import Judge0Submission, parsed
from proctor.service.http.judge0.schema import (
    USUAL_FIELDS,
    Judge0Result,
    Judge0Status,
)
from proctor.service.http.judge0.settings import Judge0Settings
from proctor.service.jobs import ENDED, Job


@dataclass(frozen=True, slots=True)
class SubmissionRecord:
    """Data kept with the job of a submission."""

    given: Mapping[str, Any]
    """Fields of the request, as they are shown again."""
    created: str
    edition: Edition


class Judge0Service:
    """Takes and finds submissions of one edition, and knows its languages."""

    def __init__(self, engine: Engine, settings: Judge0Settings, edition: Edition) -> None:
        self.engine, self.settings, self.edition = engine, settings, edition
        self.counts = SubmissionCounts()
        self._callbacks = Callbacks()
        self._calling: set[asyncio.Task[None]] = set()

    @cached_property
    def _languages(self) -> dict[int, Judge0Language]:
        return languages_by_number(
            self.engine.pool.setup.interpreter, self.engine.languages(), self.edition
        )

    def paths(self, *tails: str) -> list[str]:
        """Return these paths below all prefixes of the edition."""
        return [prefix + tail for prefix in self.edition.prefixes for tail in tails]

    async def languages(self) -> Mapping[int, Judge0Language]:
        """Return the languages of this machine, found when they are first asked for."""
        if "_languages" not in self.__dict__:
            await asyncio.to_thread(lambda: self._languages)
        return self._languages

    async def parse(self, body: Mapping[str, Any], *, base64: bool) -> Judge0Submission:
        """Check a submission. Raises InvalidSubmission."""
        known = await self.languages()
        if not body.get("additional_files"):
            return parsed(body, known, self.settings, base64=base64)
        return await asyncio.to_thread(parsed, body, known, self.settings, base64=base64)

    def is_full(self, owner: str, more: int = 1) -> bool:
        """Return True if this owner may not have `more` further submissions waiting."""
        admission = self.engine.admission
        return admission.waiting_of(owner) + more > admission.most

    def take(self, owner: str, submission: Judge0Submission) -> Job:
        """Start a submission."""

        async def work(job: Job) -> Judge0Result:
            runs: list[Ran] = []
            for _ in range(submission.runs):
                context = RequestContext(
                    owner, unlimited=True, on_start=None if runs else job.begin
                )
                runs.append(await self.engine.run(submission.request, context))
                if not convert.is_accepted(submission, runs[-1]):
                    break
            found = convert.result(submission, runs)
            self.counts.ended(owner, found.status)
            return Judge0Result(found.status, {**found.fields, "finished_at": _now()})

        job = self.engine.jobs.start(
            owner, work, about=SubmissionRecord(submission.shown, _now(), self.edition)
        )
        self.counts.taken(owner, submission.shown["language_id"])
        if submission.callback is not None:
            # The task is kept, since the loop has only a weak reference to it.
            calling = asyncio.create_task(self._call_back(job, submission.callback))
            self._calling.add(calling)
            calling.add_done_callback(self._calling.discard)
        return job

    async def _call_back(self, job: Job, to: CallbackAddress) -> None:
        async for _ in job.listen():
            pass
        body = convert.shown(job.id, given_of(job), state_of(job), USUAL_FIELDS, base64=True)
        data = msgspec.json.encode(body)
        del job, body  # else they would be held for as long as the host makes us wait
        settings = self.settings
        tries, timeout = settings.callbacks_max_tries, settings.callbacks_timeout
        await self._callbacks.call(to, data, tries, timeout)

    def find(self, owner: str, token: str) -> Job | None:
        """Return a submission of this owner, or None; jobs of other APIs are not found."""
        job = self.engine.jobs.get(owner, token)
        return job if job is not None and self._is_mine(job) else None

    def all(self, owner: str) -> list[Job]:
        """Return the submissions of this owner that are kept, the newest first."""
        return [job for job in reversed(self.engine.jobs.of(owner)) if self._is_mine(job)]

    def _is_mine(self, job: Job) -> bool:
        return isinstance(job.about, SubmissionRecord) and job.about.edition is self.edition

    async def end(self, job: Job) -> None:
        """Wait until a submission has ended; cancel it if this task is cancelled."""
        try:
            async for _ in job.listen():
                pass
        except asyncio.CancelledError:
            job.cancel()
            raise


def state_of(job: Job) -> Judge0Result:
    """Return the result of a submission so far."""
    if job.state not in ENDED:
        return convert.unfinished(
            Judge0Status.IN_QUEUE if job.state == "queued" else Judge0Status.PROCESSING
        )
    if isinstance(job.result, Judge0Result):
        return job.result
    return convert.fault(job.error or Cancelled("the job was cancelled"))


def given_of(job: Job) -> dict[str, Any]:
    """Return the fields of a submission's request, and the time at which it was made."""
    about = job.about
    assert isinstance(about, SubmissionRecord)
    return {**about.given, "created_at": about.created}


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
