"""The routes of submissions: /submissions, /submissions/TOKEN, /submissions/batch."""

import logging
from collections.abc import Coroutine, Mapping
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from litestar import Request, delete, get, post
from litestar.handlers import HTTPRouteHandler

from proctor.errors import ProctorError
from proctor.service.http.answer import Answer, Reply
from proctor.service.http.asking import owner_of
from proctor.service.http.judge0 import desk as desks
from proctor.service.http.judge0.desk import Desk
from proctor.service.http.judge0.request import Invalid
from proctor.service.http.judge0.result import DESCRIPTIONS
from proctor.service.http.judge0.shown import NoText, shown, wanted
from proctor.service.jobs import ENDED, Job

PREFIXES = ("", "/judge0")
"""Judge0's own place, and one that says whose it is."""
_NO_TEXT = (
    "some attributes for {} cannot be converted to UTF-8, use base64_encoded=true query parameter"
)
_ONE = "this submission"
_logger = logging.getLogger(__name__)
Asked = Request[Any, Any, Any]


def paths(*tails: str) -> list[str]:
    """Return these paths below all prefixes."""
    return [prefix + tail for prefix in PREFIXES for tail in tails]


def routes(desk: Desk) -> list[HTTPRouteHandler]:
    """Return the routes."""

    @post(paths("/submissions"), status_code=201)
    async def create(request: Asked) -> Answer:
        """Take a submission; with wait=true answer when it has ended."""
        body = await request.body()
        return Answer(_answered(_created(desk, request, body)), failed=_failed)

    @post(paths("/submissions/batch"), status_code=201)
    async def create_batch(request: Asked) -> Answer:
        """Take several submissions: a token for each, or what is wrong with it."""
        body = await request.body()
        return Answer(_answered(_created_batch(desk, request, body)), failed=_failed)

    @get(paths("/submissions/batch"))
    async def show_batch(request: Asked) -> Answer:
        """Tell of several submissions; null for one that there is not."""
        return Answer(_answered(_shown_batch(desk, request)), failed=_failed)

    @get(paths("/submissions/{token:str}"))
    async def show(token: str, request: Asked) -> Answer:
        """Tell of a submission."""
        return Answer(_answered(_shown(desk, request, token)), failed=_failed)

    @delete(paths("/submissions/{token:str}"), status_code=200)
    async def forget(token: str, request: Asked) -> Answer:
        """Forget a submission that has ended; its texts come as base64."""
        return Answer(_answered(_deleted(desk, request, token)), failed=_failed)

    return [create, create_batch, show_batch, show, forget]


class _Refused(Exception):
    """A request that is answered otherwise than by what it asks for."""

    def __init__(self, status: int, text: str, **more: str) -> None:
        super().__init__(text)
        self.reply = Reply({"error": text, **more}, status)


async def _answered(making: Coroutine[Any, Any, Reply]) -> Reply:
    try:
        return await making
    except _Refused as refused:
        return refused.reply


async def _created(desk: Desk, request: Asked, body: bytes) -> Reply:
    view = _View(request)
    found = _decoded(request, body)
    try:
        submission = await desk.parse(found, base64=view.base64)
    except Invalid as error:
        return Reply(error.errors, 422)
    _check_room(desk, request, 1)
    job = desk.take(owner_of(request), submission)
    if request.query_params.get("wait") != "true":
        return Reply({"token": job.id}, 201)
    await desk.end(job)
    try:
        return Reply(view.of(job), 201)
    except NoText:
        raise _Refused(201, _NO_TEXT.format(_ONE), token=job.id) from None


async def _created_batch(desk: Desk, request: Asked, body: bytes) -> Reply:
    listed = _decoded(request, body).get("submissions")
    if not isinstance(listed, list):
        listed = []
    _check_number(desk, len(listed))
    _check_room(desk, request, len(listed))
    base64 = _is_base64(request)
    answers: list[Mapping[str, Any]] = []
    taken = False
    for each in listed:
        if not isinstance(each, dict):
            answers.append({"error": "a submission is a JSON object"})
            continue
        try:
            submission = await desk.parse(each, base64=base64)
        except Invalid as error:
            answers.append(error.errors)
            continue
        except Exception:  # those before it have been taken: their tokens must not be lost
            _logger.exception("please report this")
            answers.append({"error": "internal error"})
            continue
        answers.append({"token": desk.take(owner_of(request), submission).id})
        taken = True
    return Reply(answers, 201 if taken else 422)


async def _shown(desk: Desk, request: Asked, token: str) -> Reply:
    view = _View(request)
    try:
        return Reply(view.of(_found(desk, request, token)))
    except NoText:
        raise _Refused(400, _NO_TEXT.format(_ONE)) from None


async def _shown_batch(desk: Desk, request: Asked) -> Reply:
    view = _View(request)
    text = request.headers.get("tokens") or request.query_params.get("tokens") or ""
    tokens = [each.strip() for each in text.split(",") if each.strip()]
    _check_number(desk, len(tokens))
    jobs = [desk.find(owner_of(request), token) for token in tokens]
    found = [None if job is None else _one_of_many(view, job) for job in jobs]
    return Reply({"submissions": found})


def _one_of_many(view: "_View", job: Job) -> dict[str, Any]:
    """Judge0 refuses all for one that is no text; here the others come."""
    try:
        return view.of(job)
    except NoText:
        return {"error": _NO_TEXT.format(_ONE), "token": job.id}


async def _deleted(desk: Desk, request: Asked, token: str) -> Reply:
    view = _View(request, base64=True)
    job = _found(desk, request, token)
    if job.state not in ENDED:
        status = desks.state(job).status
        what = f"{status:d} ({DESCRIPTIONS[status]})"
        raise _Refused(400, f"submission cannot be deleted because its status is {what}")
    desk.engine.jobs.drop(job)
    return Reply(view.of(job))


class _View:
    """How the client wants submissions shown. Raises _Refused for fields that there are not."""

    def __init__(self, request: Asked, *, base64: bool = False) -> None:
        self._names, unknown = wanted(request.query_params.get("fields"))
        if unknown:
            raise _Refused(400, f"invalid fields: [{', '.join(unknown)}]")
        self.base64 = base64 or _is_base64(request)

    def of(self, job: Job) -> dict[str, Any]:
        """Return a submission's fields. Raises NoText."""
        given, state = desks.given(job), desks.state(job)
        return shown(job.id, given, state, self._names, base64=self.base64)


def _found(desk: Desk, request: Asked, token: str) -> Job:
    job = desk.find(owner_of(request), token)
    if job is None:
        raise _Refused(404, f"there is no submission {token!r} of yours")
    return job


def _check_number(desk: Desk, number: int) -> None:
    most = desk.settings.max_submission_batch_size
    if not number:
        raise _Refused(400, "there should be at least one submission in a batch")
    if number > most:
        what = "number of submissions in a batch should be less than or equal to"
        raise _Refused(400, f"{what} {most}")


def _check_room(desk: Desk, request: Asked, number: int) -> None:
    if desk.is_full(owner_of(request), number):
        raise _Refused(503, "queue is full")


def _decoded(request: Asked, body: bytes) -> dict[str, Any]:
    """The body as an object. A form has numbers as texts."""
    kind = request.headers.get("content-type", "")
    try:
        if kind.startswith("application/x-www-form-urlencoded"):
            return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=100))
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise _Refused(400, f"the body cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise _Refused(400, "the body is no JSON object")
    return found


def _failed(error: ProctorError) -> Reply:
    """A fault of ours: no status of a submission, which could be taken for one of the program's."""
    return Reply({"error": str(error)}, 503)


def _is_base64(request: Asked) -> bool:
    return request.query_params.get("base64_encoded") == "true"
