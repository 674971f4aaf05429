"""Routes of SandboxFusion's HTTP API.

After its OpenAPI document (github.com/bytedance/SandboxFusion); docs/reference/sandbox-fusion.md
lists where it differs.
"""

from typing import Any

import msgspec
from litestar import MediaType, Request, Response, Router, get, post
from litestar.exceptions import HTTPException, ValidationException
from litestar.handlers import HTTPRouteHandler

from proctor.errors import ProctorError
from proctor.service.engine import Engine
from proctor.service.http.request import context_of
from proctor.service.http.responses import PendingResponse
from proctor.service.http.sandbox_fusion import convert, datasets, jupyter
from proctor.service.http.sandbox_fusion.schema import (
    GetPromptByIdRequest,
    GetPromptsRequest,
    MetricsRequest,
    PromptJson,
    RowId,
    RunCodeRequest,
    RunJupyterRequest,
    SubmitRequest,
)

_Request = Request[Any, Any, Any]


def door(engine: Engine) -> Router:
    """Return the router of this API."""
    return Router(
        "/",
        route_handlers=[_ping, *_runs(engine), *_datasets(engine)],
        tags=["SandboxFusion"],
        exception_handlers={HTTPException: _http_error, ProctorError: _dataset_error},
    )


@get("/v1/ping")
async def _ping() -> Response[bytes]:
    """Say that the server answers: "pong", as a JSON string."""
    return Response(b'"pong"', media_type=MediaType.JSON)


def _runs(engine: Engine) -> list[HTTPRouteHandler]:
    @post("/run_code", status_code=200)
    async def run_code(data: RunCodeRequest, request: _Request) -> PendingResponse:
        """Run a program. Its faults are reported in the answer, always with status 200."""
        work = convert.run_code(engine, data, context_of(request))
        return PendingResponse(work, failed=convert.run_code_failed, pad=True)

    @post("/run_jupyter", status_code=200)
    async def run_jupyter(data: RunJupyterRequest, request: _Request) -> PendingResponse:
        """Run cells in one interpreter, which ends with the request.

        A cell that raises ends nothing but itself, and the status stays Success.
        """
        work = jupyter.run(engine, data, context_of(request))
        return PendingResponse(work, failed=jupyter.failed, pad=True)

    return [run_code, run_jupyter]


def _datasets(engine: Engine) -> list[HTTPRouteHandler]:
    @get("/list_datasets")
    async def list_datasets() -> list[str]:
        """Data sets whose rows the server has: there are none."""
        return []

    @post("/list_ids", status_code=200)
    async def list_ids(data: GetPromptsRequest) -> list[RowId]:
        """Ids of the rows that are sent along."""
        return [row.id for row in datasets.page(data)]

    @post("/get_prompts", status_code=200)
    async def get_prompts(data: GetPromptsRequest) -> list[PromptJson]:
        """Prompts of the rows that are sent along."""
        return [datasets.prompt(data.dataset, row, data.config) for row in datasets.page(data)]

    @post("/get_prompt_by_id", status_code=200)
    async def get_prompt_by_id(data: GetPromptByIdRequest) -> PromptJson:
        """Prompt of one of the rows that are sent along."""
        row = datasets.find_row(data.dataset, data.config, data.id)
        return datasets.prompt(data.dataset, row, data.config)

    @post("/submit", status_code=200)
    async def submit(data: SubmitRequest, request: _Request) -> PendingResponse:
        """Judge a reply. A fault of the server is status 503, after which clients try again."""
        row = datasets.find_row(data.dataset, data.config, data.id)
        work = datasets.submit(engine, data, row, context_of(request))
        return PendingResponse(work, failed=datasets.failed)

    @post("/get_metrics", status_code=200)
    async def get_metrics(data: MetricsRequest) -> dict[str, Any]:
        """Metrics of judged rows: these kinds of data sets have none, as upstream."""
        datasets.check_kind(data.dataset, data.config)
        return {}

    @post("/get_metrics_function", status_code=200)
    async def get_metrics_function(data: MetricsRequest) -> dict[str, None]:
        """Code that computes metrics: these kinds of data sets have none, as upstream."""
        datasets.check_kind(data.dataset, data.config)
        return {"function": None}

    rows = [list_datasets, list_ids, get_prompts, get_prompt_by_id, submit]
    return [*rows, get_metrics, get_metrics_function]


class _FieldError(msgspec.Struct):
    loc: list[str]
    msg: str
    type: str = "value_error"


class _FieldErrors(msgspec.Struct):
    detail: list[_FieldError]


def _http_error(_request: _Request, error: HTTPException) -> Response[_FieldErrors]:
    """Answer in FastAPI's form: 422 for a body that is not as described."""
    status = 422 if isinstance(error, ValidationException) else error.status_code
    found = [_FieldError(["body"], error.detail)]
    if isinstance(error.extra, list):
        found = [
            _FieldError(["body", str(each.get("key", ""))], str(each.get("message", "")))
            for each in error.extra
        ] or found
    return Response(_FieldErrors(found), status_code=status)


def _dataset_error(_request: _Request, error: ProctorError) -> Response[dict[str, str]]:
    """Answer in upstream's form: {"detail": ...}."""
    return Response({"detail": str(error)}, status_code=400)
