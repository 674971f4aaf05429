"""The routes of /v1: runs, judgements, batches, solvers, jobs, languages and capabilities."""

import asyncio
import hashlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Self

import msgspec
from litestar import Request, Router, delete, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.openapi import ResponseSpec
from litestar.params import HeaderParameter, Parameter
from litestar.types import ASGIApp

from proctor.errors import InfraFault, InputError, NotFound, ProctorError
from proctor.languages.run import RunRequest
from proctor.service.admission import RequestContext
from proctor.service.encoding import as_input_error, as_json
from proctor.service.engine import Engine
from proctor.service.http.incremental_json import SLICE, decode_each
from proctor.service.http.native import about, convert, schema, solving
from proctor.service.http.native.live import run_live
from proctor.service.http.native.packed_routes import packed_routes
from proctor.service.http.native.session_routes import session_routes
from proctor.service.http.native.solver_routes import solver_routes
from proctor.service.http.problem_details import TYPE, ProblemDetails, problem_of
from proctor.service.http.request import header_of, keep_body, owner_of
from proctor.service.http.responses import (
    EVENTS,
    JsonReply,
    PendingResponse,
    StreamingResponse,
    as_problem,
)
from proctor.service.jobs import AskedFor, Job, Method
from proctor.solver.envelope import Envelope

_logger = logging.getLogger(__name__)
HttpRequest = Request[Any, Any, Any]
Work = Callable[[Job], Coroutine[Any, Any, Any]]
Key = Annotated[str | None, HeaderParameter(name="Idempotency-Key", max_length=200)]
Wait = Annotated[bool, Parameter(description="False: answer 202 with the job at once.")]


_MAX_REQUESTS = 100_000


class BatchJson(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Many judgements. POST /v1/batch."""

    requests: Annotated[tuple[schema.JudgeRequest, ...], msgspec.Meta(max_length=_MAX_REQUESTS)]
    """Requests for judgements."""

    @classmethod
    async def salvaged(cls, body: bytes) -> Self | None:
        """Return the batch of a body, with an InputError for each request that is broken."""
        found = await decode_each(body, "requests", schema.JudgeRequest, _MAX_REQUESTS)
        if found is None:
            return None
        requests: Any = (
            as_input_error(each) if isinstance(each, Exception) else each for each in found
        )
        return cls(tuple(requests))


class BatchResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """Outcome of one judgement of a batch: a line of the answer, sent when the judgement ends."""

    index: int
    """Index of the request in the batch, from 0."""
    result: schema.JudgeResult | None = None
    """The judgement."""
    error: ProblemDetails | None = None
    """Reason for which there is no result."""


def _answers(result: type) -> dict[int, ResponseSpec]:
    refused = {
        status: ResponseSpec(ProblemDetails, media_type=TYPE, generate_examples=False)
        for status in (400, 409, 413, 422, 429, 501, 503)
    }
    return {
        200: ResponseSpec(result, generate_examples=False),
        202: ResponseSpec(schema.JobState, generate_examples=False),
        **refused,
    }


def door(engine: Engine) -> Router:
    """Return the routes of /v1."""
    handlers = [_run(engine), _judge(engine), _batch(engine), _solve(engine), *_jobs(engine),
                *_about(engine), *session_routes(engine), *solver_routes(engine),
                *packed_routes(engine)]  # fmt: skip
    return Router("/v1", route_handlers=handlers, tags=["native"])


def _run(engine: Engine) -> HTTPRouteHandler:
    @post("/run", status_code=200, responses=_answers(schema.RunResult))
    async def run(
        data: schema.RunRequestJson,
        request: HttpRequest,
        idempotency_key: Key = None,
        wait: Wait = True,
    ) -> ASGIApp:
        """Run one program. If events are accepted, its output comes while it runs.

        The events are `stdout` and `stderr`, and the result's own output is then empty.
        """
        run_request = convert.run_request(data)
        if _wants_events(request) and not run_request.collect:
            live = partial(_run_live, engine, run_request)
            return await _answer(
                engine, request, live, idempotency_key, wait=wait, asked=("stream", data)
            )

        async def work(job: Job) -> schema.RunResult:
            ran = await engine.run(run_request, RequestContext(job.owner, on_start=job.begin))
            return msgspec.structs.replace(convert.run_result(ran), id=job.id)

        return await _answer(engine, request, work, idempotency_key, wait=wait, asked=("run", data))

    return run


async def _run_live(engine: Engine, run_request: RunRequest, job: Job) -> schema.RunResult:
    context = RequestContext(job.owner, on_start=job.begin)
    found = await run_live(
        engine, run_request, context, lambda stream, out: job.tell(stream.value, out)
    )
    return msgspec.structs.replace(found, id=job.id)


def _judge(engine: Engine) -> HTTPRouteHandler:
    @post("/judge", status_code=200, responses=_answers(schema.JudgeResult))
    async def judge(
        data: schema.JudgeRequest,
        request: HttpRequest,
        idempotency_key: Key = None,
        wait: Wait = True,
    ) -> ASGIApp:
        """Judge one program, which is compiled once and run on the tests that can matter."""

        async def work(job: Job) -> schema.JudgeResult:
            context = RequestContext(job.owner, on_start=job.begin)
            found = await convert.judge(engine, data, context, lambda test: job.tell("test", test))
            job.final = found.outcome != "infra_fault"
            return msgspec.structs.replace(found, id=job.id)

        return await _answer(
            engine, request, work, idempotency_key, wait=wait, asked=("judge", data)
        )

    return judge


def _batch(engine: Engine) -> HTTPRouteHandler:
    @post("/batch", status_code=200, responses=_answers(BatchResult))
    async def batch(
        data: BatchJson, request: HttpRequest, idempotency_key: Key = None, wait: Wait = True
    ) -> ASGIApp:
        """Judge many programs; results come as they are made, a line of JSON each.

        With `wait=false`, or if events are accepted, they are events `judged` of the job.
        """

        async def work(job: Job) -> dict[str, int]:
            job.begin()
            # All of a batch may wait; none is refused for want of room.
            context = RequestContext(job.owner, unlimited=True)
            async for each in _judged(engine, data, context):
                job.tell("judged", each)
            return {"judged": len(data.requests)}

        if _wants_events(request) or not wait:
            return await _answer(engine, request, work, idempotency_key, wait=wait)
        lines = _judged(engine, data, RequestContext(owner_of(request), unlimited=True))
        return StreamingResponse(lines, "application/x-ndjson", _line)

    return batch


async def _judged(
    engine: Engine, batch: BatchJson, context: RequestContext
) -> AsyncIterator[BatchResult]:
    """Yield results as they are made. A few more than there are places are under way at a time."""
    began = time.monotonic()

    async def one(index: int) -> BatchResult:
        waited = time.monotonic() - began
        judge_request: schema.JudgeRequest | InputError = batch.requests[index]
        if isinstance(judge_request, InputError):
            return BatchResult(index, error=problem_of(judge_request))
        try:
            found = await convert.judge(engine, judge_request, context)
        except Exception as error:  # noqa: BLE001 - a defect is logged, and the other requests go on
            return BatchResult(index, error=_problem(error))
        return BatchResult(index, msgspec.structs.replace(found, queue=found.queue + waited))

    ahead = 4 * engine.admission.places
    todo = iter(range(len(batch.requests)))
    running: set[asyncio.Task[BatchResult]] = set()
    try:
        while True:
            while len(running) < ahead and (at := next(todo, None)) is not None:
                running.add(asyncio.ensure_future(one(at)))
            if not running:
                return
            done, running = await asyncio.wait(running, return_when="FIRST_COMPLETED")
            for task in done:
                yield task.result()
    finally:
        for task in running:
            task.cancel()


def _solve(engine: Engine) -> HTTPRouteHandler:
    @post("/solve", status_code=200, responses=_answers(Envelope))
    async def solve(
        data: schema.SolveRequestJson,
        request: HttpRequest,
        idempotency_key: Key = None,
        wait: Wait = True,
    ) -> ASGIApp:
        """Run a generated solver once, and check its result.

        If events are accepted, its incumbents come as it finds them. The result of a cancelled job
        has what it had found.
        """
        solve_request = solving.solve_request(engine, data)

        async def work(job: Job) -> Envelope:
            context = RequestContext(job.owner, on_start=job.begin)
            named = replace(solve_request, job_id=job.id)
            return await solving.solve(
                engine, named, context, lambda one: job.tell("incumbent", one)
            )

        return await _answer(engine, request, work, idempotency_key, wait=wait)

    return solve


def _jobs(engine: Engine) -> list[HTTPRouteHandler]:
    @get("/jobs/{identity:str}")
    async def job_state(identity: str, request: HttpRequest) -> schema.JobState:
        """Return the state of a job, and its result if it is done."""
        return _state(_find(engine, request, identity))

    @get("/jobs/{identity:str}/events")
    async def job_events(identity: str, request: HttpRequest) -> StreamingResponse:
        """Send all events of a job, as server-sent events, until it ends."""
        return StreamingResponse(_find(engine, request, identity).listen(), EVENTS, _event)

    @get("/jobs/{identity:str}/request")
    async def job_request(identity: str, request: HttpRequest) -> schema.JobRequest:
        """Return the request of a run or a judgement, as long as it is kept."""
        asked = _find(engine, request, identity).asked
        if asked is None:
            raise NotFound(
                f"the request of job {identity!r} is not kept: it was forgotten for newer ones, or"
                " belongs to no run or judgement"
            )
        return schema.JobRequest(identity, asked.method, asked.request)

    @delete("/jobs/{identity:str}", status_code=200)
    async def job_cancel(identity: str, request: HttpRequest) -> schema.JobState:
        """Cancel a job and end all its processes. Nothing happens to one that has ended."""
        job = _find(engine, request, identity)
        job.cancel()
        async for _ in job.listen():
            pass
        return _state(job)

    return [job_state, job_events, job_request, job_cancel]


def _about(engine: Engine) -> list[HTTPRouteHandler]:
    @get("/languages")
    async def languages() -> list[schema.LanguageJson]:
        """List the languages whose tools are installed."""
        return await asyncio.to_thread(about.languages, engine)

    @get("/capabilities")
    async def capabilities(request: HttpRequest) -> schema.Capabilities:
        """Return the isolation in force with its guarantees, and the load of the server."""
        return await about.capabilities(engine, RequestContext(owner_of(request), unlimited=True))

    return [languages, capabilities]


async def _answer(
    engine: Engine,
    request: HttpRequest,
    work: Work,
    key: str | None,
    *,
    wait: bool,
    asked: tuple[Method, Any] | None = None,
) -> ASGIApp:
    """Start a job and answer with its result, its events, or its state at once."""
    fingerprint = b"" if key is None else await _fingerprint(request)
    kept = None
    # A client can ask about none but these jobs later.
    if asked is not None and (key is not None or not wait or _wants_events(request)):
        kept = AskedFor(*asked, len(await request.body()))
    job = engine.jobs.start(owner_of(request), work, key=key, fingerprint=fingerprint, asked=kept)
    if job.asked is kept:  # else it was there, under the same key
        keep_body(request, job)
    if not wait:
        return PendingResponse(_at_once(JsonReply(_state(job), 202)))
    if _wants_events(request):
        return StreamingResponse(
            job.listen(), EVENTS, _event, lambda: None if key else job.cancel()
        )
    return PendingResponse(_awaited(engine, job))


async def _fingerprint(request: HttpRequest) -> bytes:
    """Return a hash of path and body, by which requests under the same key are told apart."""
    digest, body = hashlib.sha256(request.url.path.encode()), await request.body()
    if len(body) > SLICE:
        await asyncio.to_thread(digest.update, body)  # update() releases the interpreter's lock
    else:
        digest.update(body)
    return digest.digest()


async def _awaited(engine: Engine, job: Job) -> JsonReply:
    """Wait for a job. A client that hangs up cancels it, unless it has an idempotency key."""
    try:
        return JsonReply(await job.wait(), headers=((b"x-job-id", job.id.encode()),))
    except ProctorError as error:
        return as_problem(error)
    finally:
        if job.key is None:
            job.cancel()
            engine.jobs.drop(job)


async def _at_once(reply: JsonReply) -> JsonReply:
    return reply


def _state(job: Job) -> schema.JobState:
    error = None if job.error is None else _problem(job.error)
    return schema.JobState(job.id, job.state, job.result, error)


def _problem(error: Exception) -> ProblemDetails:
    if not isinstance(error, ProctorError):  # a defect of proctor
        _logger.error("please report this", exc_info=error)
        error = InfraFault(f"internal error: {type(error).__name__}")
    return problem_of(error)


def _event(event: Any) -> bytes:
    name: str = event.name
    found = _problem(event.data) if isinstance(event.data, Exception) else event.data

    def instead(fault: InfraFault) -> Any:
        nonlocal name
        if isinstance(found, BatchResult):
            return BatchResult(found.index, error=problem_of(fault))
        name = "failed" if name == "done" else name
        return problem_of(fault)

    data = as_json(found, instead)
    return b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"


def _line(each: BatchResult) -> bytes:
    fault = lambda error: BatchResult(each.index, error=problem_of(error))  # noqa: E731
    return as_json(each, fault) + b"\n"


def _find(engine: Engine, request: HttpRequest, identity: str) -> Job:
    job = engine.jobs.get(owner_of(request), identity)
    if job is None:
        raise NotFound(f"there is no job {identity!r} of yours")
    return job


def _wants_events(request: HttpRequest) -> bool:
    return EVENTS in header_of(request, b"accept")
