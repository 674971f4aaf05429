"""Routes of Judge0's API.

After its documentation (github.com/judge0/judge0); docs/reference/judge0.md lists where it differs.
"""

import logging
import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from litestar import Request, Response, Router, delete, get, post
from litestar.exceptions import HTTPException
from litestar.handlers import HTTPRouteHandler

from proctor.errors import ProctorError
from proctor.service.engine import Engine
from proctor.service.http.judge0.convert import NoText, shown, wanted
from proctor.service.http.judge0.info_routes import info_routes
from proctor.service.http.judge0.languages import CE, EXTRA_CE
from proctor.service.http.judge0.request import InvalidSubmission
from proctor.service.http.judge0.schema import DESCRIPTIONS
from proctor.service.http.judge0.service import Judge0Service, given_of, state_of
from proctor.service.http.judge0.settings import Judge0Settings, read_settings
from proctor.service.http.request import header_of, keep_body, owner_of
from proctor.service.http.responses import JsonReply, PendingResponse, ReplyError
from proctor.service.jobs import ENDED, Job

_NO_TEXT = (
    "some attributes for {} cannot be converted to UTF-8, use base64_encoded=true query parameter"
)
_ONE = "this submission"
_PAGE = 20
"""Submissions on a page of a list."""
_DIGITS = 10
_logger = logging.getLogger(__name__)
_Request = Request[Any, Any, Any]


def door(engine: Engine, settings: Judge0Settings | None = None) -> Router:
    """Return the router of this API; settings are those of the environment if not given.

    Raises SettingsError.
    """
    if settings is None:
        settings = read_settings(os.environ)
    handlers: list[HTTPRouteHandler] = []
    for edition in (CE, EXTRA_CE):
        service = Judge0Service(engine, settings, edition)
        handlers += [*_submissions(service), *info_routes(service)]
    return Router(
        "/",
        route_handlers=handlers,
        tags=["Judge0"],
        exception_handlers={HTTPException: _http_error},
    )


def _http_error(_request: _Request, error: HTTPException) -> Response[dict[str, str]]:
    """Answer errors of the framework in Judge0's form."""
    return Response({"error": error.detail}, status_code=error.status_code)


def _submissions(service: Judge0Service) -> list[HTTPRouteHandler]:
    @post(service.paths("/submissions"), status_code=201)
    async def create(request: _Request) -> PendingResponse:
        """Take a submission; with wait=true answer when it has ended."""
        body = await request.body()
        return PendingResponse(_created(service, request, body), failed=_failed)

    @post(service.paths("/submissions/batch"), status_code=201)
    async def create_batch(request: _Request) -> PendingResponse:
        """Take several submissions; the answer has a token for each, or its errors."""
        body = await request.body()
        return PendingResponse(_created_batch(service, request, body), failed=_failed)

    @get(service.paths("/submissions"))
    async def index(request: _Request) -> PendingResponse:
        """List the caller's submissions, the newest first, in pages."""
        return PendingResponse(_listed(service, request), failed=_failed)

    @get(service.paths("/submissions/batch"))
    async def show_batch(request: _Request) -> PendingResponse:
        """Show several submissions; null for one that does not exist."""
        return PendingResponse(_shown_batch(service, request), failed=_failed)

    @get(service.paths("/submissions/{token:str}"))
    async def show(token: str, request: _Request) -> PendingResponse:
        """Show a submission."""
        return PendingResponse(_shown(service, request, token), failed=_failed)

    @delete(service.paths("/submissions/{token:str}"), status_code=200)
    async def forget(token: str, request: _Request) -> PendingResponse:
        """Delete a submission that has ended, and return it with its texts as base64."""
        return PendingResponse(_deleted(service, request, token), failed=_failed)

    return [create, create_batch, index, show_batch, show, forget]


def _error(status: int, text: str, **more: str) -> ReplyError:
    return ReplyError(JsonReply({"error": text, **more}, status))


async def _created(service: Judge0Service, request: _Request, body: bytes) -> JsonReply:
    view = _SubmissionView(request)
    found = _decoded(request, body)
    try:
        submission = await service.parse(found, base64=view.base64)
    except InvalidSubmission as error:
        return JsonReply(error.errors, 422)
    _check_room(service, request, 1)
    job = service.take(owner_of(request), submission)
    keep_body(request, job)
    if request.query_params.get("wait") != "true":
        return JsonReply({"token": job.id}, 201)
    await service.end(job)
    try:
        return JsonReply(view.of(job), 201)
    except NoText:
        raise _error(201, _NO_TEXT.format(_ONE), token=job.id) from None


async def _created_batch(service: Judge0Service, request: _Request, body: bytes) -> JsonReply:
    listed = _decoded(request, body).get("submissions")
    if not isinstance(listed, list):
        listed = []
    _check_number(service, len(listed))
    _check_room(service, request, len(listed))
    base64 = _is_base64(request)
    answers: list[Mapping[str, Any]] = []
    taken = False
    for each in listed:
        if not isinstance(each, dict):
            answers.append({"error": "a submission is a JSON object"})
            continue
        try:
            submission = await service.parse(each, base64=base64)
        except InvalidSubmission as error:
            answers.append(error.errors)
            continue
        except Exception:  # earlier ones are accepted already: their tokens must not be lost
            _logger.exception("please report this")
            answers.append({"error": "internal error"})
            continue
        job = service.take(owner_of(request), submission)
        keep_body(request, job)
        answers.append({"token": job.id})
        taken = True
    return JsonReply(answers, 201 if taken else 422)


async def _shown(service: Judge0Service, request: _Request, token: str) -> JsonReply:
    view = _SubmissionView(request)
    try:
        return JsonReply(view.of(_found(service, request, token)))
    except NoText:
        raise _error(400, _NO_TEXT.format(_ONE)) from None


async def _shown_batch(service: Judge0Service, request: _Request) -> JsonReply:
    view = _SubmissionView(request)
    text = request.headers.get("tokens") or request.query_params.get("tokens") or ""
    tokens = [each.strip() for each in text.split(",") if each.strip()]
    _check_number(service, len(tokens))
    jobs = [service.find(owner_of(request), token) for token in tokens]
    found = [None if job is None else _one_of_many(view, job) for job in jobs]
    return JsonReply({"submissions": found})


async def _listed(service: Judge0Service, request: _Request) -> JsonReply:
    view = _SubmissionView(request)
    page, size = _number_of(request, "page", 1), _number_of(request, "per_page", _PAGE)
    jobs = service.all(owner_of(request))
    pages = max(1, -(-len(jobs) // size))
    shown = [_one_of_many(view, job) for job in jobs[(page - 1) * size : page * size]]
    meta = {
        "current_page": page, "next_page": page + 1 if page < pages else None,
        "prev_page": page - 1 if page > 1 else None, "total_pages": pages,
        "total_count": len(jobs),
    }  # fmt: skip
    return JsonReply({"submissions": shown, "meta": meta})


def _number_of(request: _Request, name: str, default: int) -> int:
    """Return a whole number of the query, of at least 1."""
    text = request.query_params.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < _DIGITS and int(text)):
        raise _error(400, f"invalid {name}: {text[:_DIGITS]}")
    return int(text)


def _one_of_many(view: "_SubmissionView", job: Job) -> dict[str, Any]:
    """Return a submission of a batch, or an error if it is not text: Judge0 then refuses all."""
    try:
        return view.of(job)
    except NoText:
        return {"error": _NO_TEXT.format(_ONE), "token": job.id}


async def _deleted(service: Judge0Service, request: _Request, token: str) -> JsonReply:
    view = _SubmissionView(request, base64=True)
    job = _found(service, request, token)
    if job.state not in ENDED:
        status = state_of(job).status
        what = f"{status:d} ({DESCRIPTIONS[status]})"
        raise _error(400, f"submission cannot be deleted because its status is {what}")
    service.engine.jobs.drop(job)
    return JsonReply(view.of(job))


class _SubmissionView:
    """The way in which a client wants submissions shown: fields, and text or base64."""

    def __init__(self, request: _Request, *, base64: bool = False) -> None:
        self._names, unknown = wanted(request.query_params.get("fields"))
        if unknown:
            raise _error(400, f"invalid fields: [{', '.join(unknown)}]")
        self.base64 = base64 or _is_base64(request)

    def of(self, job: Job) -> dict[str, Any]:
        """Return a submission's fields. Raises NoText."""
        given, state = given_of(job), state_of(job)
        return shown(job.id, given, state, self._names, base64=self.base64)


def _found(service: Judge0Service, request: _Request, token: str) -> Job:
    job = service.find(owner_of(request), token)
    if job is None:
        raise _error(404, f"there is no submission {token!r} of yours")
    return job


def _check_number(service: Judge0Service, number: int) -> None:
    most = service.settings.max_submission_batch_size
    if not number:
        raise _error(400, "there should be at least one submission in a batch")
    if number > most:
        what = "number of submissions in a batch should be less than or equal to"
        raise _error(400, f"{what} {most}")


def _check_room(service: Judge0Service, request: _Request, number: int) -> None:
    if service.is_full(owner_of(request), number):
        raise _error(503, "queue is full")


def _decoded(request: _Request, body: bytes) -> dict[str, Any]:
    """Return the body as an object. A form has numbers as texts."""
    kind = header_of(request, b"content-type")
    try:
        if kind.startswith("application/x-www-form-urlencoded"):
            return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=100))
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise _error(400, f"the body cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise _error(400, "the body is not a JSON object")
    return found


def _failed(error: ProctorError) -> JsonReply:
    """Answer a fault of the server, never as a status, which would blame the program."""
    return JsonReply({"error": str(error)}, 503)


def _is_base64(request: _Request) -> bool:
    return request.query_params.get("base64_encoded") == "true"
