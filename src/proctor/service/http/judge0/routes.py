"""Routes of Judge0's API.

After its documentation (github.com/judge0/judge0); docs/reference/judge0.md lists where it differs.
"""

import logging
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from litestar import Request, Response, Router, delete, get, post
from litestar.exceptions import HTTPException
from litestar.handlers import HTTPRouteHandler

from proctor.errors import ProctorError
from proctor.service.engine import Engine
from proctor.service.http.judge0.convert import NoText, shown, wanted
from proctor.service.http.judge0.request import InvalidSubmission
from proctor.service.http.judge0.schema import DESCRIPTIONS
from proctor.service.http.judge0.service import Judge0Service, given_of, state_of
from proctor.service.http.judge0.settings import Judge0Settings, read_settings
from proctor.service.http.request import header_of, owner_of
from proctor.service.http.responses import JsonReply, PendingResponse, ReplyError
from proctor.service.jobs import ENDED, Job
from proctor.version import __version__

PREFIXES = ("", "/judge0")
"""Paths that the routes are below: Judge0's own, and one that names it."""
_NO_TEXT = (
    "some attributes for {} cannot be converted to UTF-8, use base64_encoded=true query parameter"
)
_ONE = "this submission"
_SERVED = {
    "maintenance_mode": False,
    "enable_wait_result": True,
    "enable_compiler_options": True,
    "enable_command_line_arguments": True,
    "enable_submission_delete": True,
    "enable_additional_files": True,
    "enable_batched_submissions": True,
    "number_of_runs": 1,
    "redirect_stderr_to_stdout": False,
    "enable_network": False,
    "allow_enable_network": False,
    "enable_per_process_and_thread_time_limit": False,
    "allow_enable_per_process_and_thread_time_limit": False,
    "enable_per_process_and_thread_memory_limit": False,
    "allow_enable_per_process_and_thread_memory_limit": False,
}
"""Features and their defaults, as /config_info lists them."""
_logger = logging.getLogger(__name__)
_Request = Request[Any, Any, Any]


def door(engine: Engine, settings: Judge0Settings | None = None) -> Router:
    """Return the router of this API; settings are those of the environment if not given.

    Raises SettingsError.
    """
    if settings is None:
        settings = read_settings(os.environ)
    service = Judge0Service(engine, settings)
    return Router(
        "/",
        route_handlers=[*_submissions(service), *_languages(service), *_server(service)],
        tags=["Judge0"],
        exception_handlers={HTTPException: _http_error},
    )


def _http_error(_request: _Request, error: HTTPException) -> Response[dict[str, str]]:
    """Answer errors of the framework in Judge0's form."""
    return Response({"error": error.detail}, status_code=error.status_code)


def paths(*tails: str) -> list[str]:
    """Return these paths below all prefixes."""
    return [prefix + tail for prefix in PREFIXES for tail in tails]


def _submissions(service: Judge0Service) -> list[HTTPRouteHandler]:
    @post(paths("/submissions"), status_code=201)
    async def create(request: _Request) -> PendingResponse:
        """Take a submission; with wait=true answer when it has ended."""
        body = await request.body()
        return PendingResponse(_created(service, request, body), failed=_failed)

    @post(paths("/submissions/batch"), status_code=201)
    async def create_batch(request: _Request) -> PendingResponse:
        """Take several submissions: a token for each, or what is wrong with it."""
        body = await request.body()
        return PendingResponse(_created_batch(service, request, body), failed=_failed)

    @get(paths("/submissions/batch"))
    async def show_batch(request: _Request) -> PendingResponse:
        """Show several submissions; null for one that does not exist."""
        return PendingResponse(_shown_batch(service, request), failed=_failed)

    @get(paths("/submissions/{token:str}"))
    async def show(token: str, request: _Request) -> PendingResponse:
        """Show a submission."""
        return PendingResponse(_shown(service, request, token), failed=_failed)

    @delete(paths("/submissions/{token:str}"), status_code=200)
    async def forget(token: str, request: _Request) -> PendingResponse:
        """Forget a submission that has ended; its texts come as base64."""
        return PendingResponse(_deleted(service, request, token), failed=_failed)

    return [create, create_batch, show_batch, show, forget]


def _languages(service: Judge0Service) -> list[HTTPRouteHandler]:
    @get(paths("/languages", "/languages/all"))
    async def languages() -> list[dict[str, Any]]:
        """Languages that this machine can run, by Judge0's numbers."""
        return [{"id": each.id, "name": each.name} for each in (await service.languages()).values()]

    @get(paths("/languages/{number:int}"))
    async def language(number: int) -> Response[dict[str, Any]]:
        """One language, by Judge0's number."""
        found = (await service.languages()).get(number)
        if found is None:
            raise _error(404, f"language with id {number} doesn't exist")
        about = {
            "id": found.id, "name": found.name, "is_archived": False,
            "source_file": found.source_file, "compile_cmd": None, "run_cmd": None,
        }  # fmt: skip
        return Response(about)

    @get(paths("/statuses"))
    async def statuses() -> list[dict[str, Any]]:
        """Statuses that a submission may have."""
        return [{"id": int(each), "description": text} for each, text in DESCRIPTIONS.items()]

    return [languages, language, statuses]


def _server(service: Judge0Service) -> list[HTTPRouteHandler]:
    @get(paths("/system_info"))
    async def system_info() -> dict[str, str]:
        """Facts of the machine that a client may plan by, and no more."""
        return {"Architecture": platform.machine(), "CPU(s)": str(os.cpu_count() or 1)}

    @get(paths("/config_info"))
    async def config_info() -> dict[str, Any]:
        """Limits, and features that are served."""
        most_waiting = service.engine.admission.most
        told = asdict(service.settings)
        told["enable_callbacks"] = bool(told.pop("callback_hosts"))
        return {**told, **_SERVED, "max_queue_size": most_waiting}

    @get(paths("/about"))
    async def about() -> dict[str, str]:
        """Versions of the API and of proctor."""
        return {"version": "1.13.1", "server": f"proctor {__version__}"}

    @get(paths("/workers"))
    async def workers() -> list[dict[str, Any]]:
        """Load of the server."""
        admission = service.engine.admission
        return [
            {
                "queue": "default", "size": admission.waiting, "available": admission.places,
                "idle": admission.places - admission.running, "working": admission.running,
                "paused": 0, "failed": 0,
            }
        ]  # fmt: skip

    return [system_info, config_info, about, workers]


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
        except Exception:  # those before it have been taken: their tokens must not be lost
            _logger.exception("please report this")
            answers.append({"error": "internal error"})
            continue
        answers.append({"token": service.take(owner_of(request), submission).id})
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


def _one_of_many(view: "_SubmissionView", job: Job) -> dict[str, Any]:
    """Return a submission of a batch, or an error: Judge0 refuses all for one that is no text."""
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
        raise _error(400, "the body is no JSON object")
    return found


def _failed(error: ProctorError) -> JsonReply:
    """Answer a fault of the server: never as a status, which could be taken for the program's."""
    return JsonReply({"error": str(error)}, 503)


def _is_base64(request: _Request) -> bool:
    return request.query_params.get("base64_encoded") == "true"
