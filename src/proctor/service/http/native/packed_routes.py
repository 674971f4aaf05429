"""The routes of /v1 for clients that judge on many servers: packed problems, judgements, load."""

import asyncio
import hashlib
import logging
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

from litestar import Request, delete, get, post, put
from litestar.handlers import HTTPRouteHandler
from litestar.openapi import ResponseSpec
from litestar.types import ASGIApp

from proctor.errors import Busy, InfraFault, ProctorError
from proctor.judging.packed import count_values, pack, unpack
from proctor.judging.remote import Payload
from proctor.service.admission import RequestContext
from proctor.service.engine import Engine
from proctor.service.http.incremental_json import SLICE
from proctor.service.http.native.packed_schema import (
    ANSWERS,
    LanguageVersion,
    PackedAnswer,
    PackedRequest,
    ServerLoad,
    checked_digest,
    decoded_requests,
    framed,
)
from proctor.service.http.problem_details import TYPE, ProblemDetails, problem_of
from proctor.service.http.request import owner_of
from proctor.service.http.responses import JsonReply, PendingResponse, StreamingResponse
from proctor.service.jobs import Job
from proctor.verdict import Verdict
from proctor.version import __version__

_GATHER, _STEPS, _ENOUGH = 0.01, 5, 8
"""Seconds of a step and number of steps for which an answer waits to be sent with others, and the
number of answers that is enough: a message costs as much as a small judgement."""
ABANDONED_AFTER = 10.0
"""Seconds after which judgements that nobody waits for any more are cancelled."""
_MOST_VALUES = 20_000
"""Values in a packed Payload: its program may have thousands of files."""
_MANY_TESTS = 500
"""Tests beyond which a judgement is packed in a thread, so that it holds up no other work."""
_COME_BACK = 1.0
_logger = logging.getLogger(__name__)
HttpRequest = Request[Any, Any, Any]


def packed_routes(engine: Engine) -> list[HTTPRouteHandler]:
    """Return the routes."""
    return [_problem(engine), *_judgements(engine), *_facts(engine)]


def _answers(result: Any, *more: int) -> dict[int, ResponseSpec]:
    refused = {
        status: ResponseSpec(ProblemDetails, media_type=TYPE, generate_examples=False)
        for status in (413, 422, 503, *more)
    }
    return {200: ResponseSpec(result, generate_examples=False), **refused}


def _problem(engine: Engine) -> HTTPRouteHandler:
    @put("/problems/{digest:str}", status_code=200, responses=_answers(dict[str, str], 429))
    async def problem_put(digest: str, request: HttpRequest) -> ASGIApp:
        """Keep a packed problem for later judgements; the path names it by its SHA-256."""
        checked_digest(digest)  # before the body is read
        data = await request.body()

        async def kept() -> JsonReply:
            await engine.problems.put(owner_of(request), digest, data)
            return JsonReply({"kept": digest})

        return PendingResponse(kept())

    return problem_put


def _judgements(engine: Engine) -> list[HTTPRouteHandler]:
    judging = PackedJudging(engine)

    @post("/judgements", status_code=200, responses=_answers(bytes))
    async def judgements(request: HttpRequest) -> ASGIApp:
        """Judge programs on problems that are kept; answers come in frames, as they are made."""
        requests = decoded_requests(await request.body())
        return StreamingResponse(judging.answers(owner_of(request), requests), ANSWERS, bytes)

    @delete("/judgements/{beginning:str}", status_code=200, responses=_answers(dict[str, int]))
    async def judgements_cancel(beginning: str, request: HttpRequest) -> dict[str, int]:
        """Cancel the judgements whose keys begin with `beginning`, as if never requested."""
        return {"cancelled": engine.judgements.cancel_keys(owner_of(request), beginning)}

    return [judgements, judgements_cancel]


def _facts(engine: Engine) -> list[HTTPRouteHandler]:
    @get("/load")
    async def load() -> ServerLoad:
        """Return the server's name and load, at once however busy it is."""
        admission = engine.admission
        return ServerLoad(
            engine.machine.id, engine.instance, __version__,
            admission.places, admission.running, admission.waiting,
            engine.problems.most_of_one, engine.stopping,
        )  # fmt: skip

    @get("/languages/{language:str}", responses=_answers(LanguageVersion))
    async def language_version(language: str) -> LanguageVersion:
        """Return a language's version, and a digest of all else that verdicts depend on there."""
        return await asyncio.to_thread(_language, engine, language)

    return [load, language_version]


def _language(engine: Engine, language: str) -> LanguageVersion:
    version = engine.judges.version_of(language)
    return LanguageVersion(version, next(iter(engine.judges.surroundings()), None))


class PackedJudging:
    """Judgements on kept problems, as jobs that their owners may ask for again by their keys."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._listeners = Counter[str]()
        """Requests that wait for a job, by its id."""

    async def answers(self, owner: str, requests: list[PackedRequest]) -> AsyncIterator[bytes]:
        """Yield answers as they are made, several together.

        If the client stops reading, judgements go on for a while: it may come back for them.
        """
        ended: asyncio.Queue[Job | PackedAnswer] = asyncio.Queue()
        jobs: list[Job] = []
        try:
            for number, each in enumerate(requests):
                if number % 64 == 63:
                    await asyncio.sleep(0)  # others have their turn
                await self._begin(owner, each, jobs, ended)
            left = len(requests)
            while left:
                found = [await ended.get()]
                for _ in range(_STEPS):
                    if ended.qsize() + 1 >= min(left, _ENOUGH):
                        break
                    await asyncio.sleep(_GATHER)
                while not ended.empty():
                    found.append(ended.get_nowait())
                left -= len(found)
                yield b"".join([framed(_answer_of(each)) for each in found])
        finally:
            for job in jobs:
                self._leave(job)

    async def _begin(
        self,
        owner: str,
        request: PackedRequest,
        jobs: list[Job],
        ended: "asyncio.Queue[Job | PackedAnswer]",
    ) -> None:
        """Start a job, or find the one of this key; `ended` gets it when it ends, or its error."""
        try:
            job = await self._job(owner, request)
        except ProctorError as error:
            ended.put_nowait(PackedAnswer(request.key, error=problem_of(error)))
            return
        jobs.append(job)
        self._listeners[job.id] += 1
        assert job.task is not None
        job.task.add_done_callback(lambda _task: ended.put_nowait(job))

    async def _job(self, owner: str, request: PackedRequest) -> Job:
        """Return a request's job. Raises InputError for a bad payload, or another request's key."""
        engine = self._engine
        if engine.stopping:
            raise Busy("the server is about to end", _COME_BACK)
        digest = checked_digest(request.problem)
        count_values(request.payload, _MOST_VALUES)
        what = unpack(request.payload, Payload)

        async def work(job: Job) -> bytes:
            context = RequestContext(owner, on_start=job.begin)
            with engine.problems.use(owner, digest) as problem:
                made = await engine.judge(
                    problem, what.program, what.settings, context, subtasks=what.subtasks
                )
            judgement = replace(made.judgement, machine=engine.machine)
            job.final = judgement.verdict is not Verdict.INFRA_FAULT
            if len(judgement.tests) > _MANY_TESTS:
                return await asyncio.to_thread(pack, judgement)
            return pack(judgement)

        fingerprint = hashlib.sha256(digest.encode())
        if len(request.payload) > SLICE:
            await asyncio.to_thread(fingerprint.update, request.payload)
        else:
            fingerprint.update(request.payload)
        return engine.judgements.start(
            owner, work, key=request.key, fingerprint=fingerprint.digest()
        )

    def _leave(self, job: Job) -> None:
        """Stop waiting for a job; cancel it if nobody waits for it for some time."""
        self._listeners[job.id] -= 1
        if self._listeners[job.id] > 0:
            return
        del self._listeners[job.id]
        assert job.task is not None
        if not job.task.done():
            loop = asyncio.get_running_loop()
            loop.call_later(ABANDONED_AFTER, self._cancel_if_abandoned, job)

    def _cancel_if_abandoned(self, job: Job) -> None:
        if job.id not in self._listeners:
            job.cancel()


def _answer_of(ended: Job | PackedAnswer) -> PackedAnswer:
    if isinstance(ended, PackedAnswer):
        return ended
    key = ended.key or ""
    if ended.state == "done":
        return PackedAnswer(key, ended.result)
    error = ended.error
    if error is None:  # cancelled: when the server is to end, jobs that have not begun are
        error = Busy("the judgement was taken back", _COME_BACK)
    elif not isinstance(error, ProctorError):
        _logger.error("please report this", exc_info=error)
        error = InfraFault(f"internal error: {type(error).__name__}")
    return PackedAnswer(key, error=problem_of(error))
