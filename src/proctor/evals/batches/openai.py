"""OpenAI's batches, through the official client.

A file of requests, one a line, is uploaded and a batch is made of it; when that has ended, one file
has the replies and another what failed. Contracts:
https://platform.openai.com/docs/api-reference/batch and
https://platform.openai.com/docs/guides/batch.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Collection
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from proctor.errors import ModelRefused, ModelReplyBroken
from proctor.evals.batches.service import (
    CLOCKS,
    MOST_PAGES,
    BatchForm,
    BatchState,
    RequestBatch,
    read,
)
from proctor.evals.models import wire
from proctor.evals.models.bodies import body_of, is_text
from proctor.evals.models.model import ModelReply, ModelRequest
from proctor.evals.models.openai import Endpoint, OpenAIServer
from proctor.evals.models.refusals import one_line, refusal

LIMITS = BatchForm(requests=50_000, size=200_000_000, between=b"\n", tail=b"\n")
LIMIT_FIELD = "max_completion_tokens"
"""Name of the token limit in chat completions: all of OpenAI's models know it, and none of a
batch's requests can be sent again under the older name."""
MARK = "proctor"
"""Key of the batch's token among its metadata."""
_ENDED = frozenset({"failed", "completed", "expired", "cancelled"})
_T = TypeVar("_T")


class _UploadedFile(msgspec.Struct):
    id: str


class _Counts(msgspec.Struct):
    total: int = 0
    completed: int = 0
    failed: int = 0


class _Reason(msgspec.Struct):
    code: str | None = None
    message: str | None = None
    line: int | None = None


class _Reasons(msgspec.Struct):
    data: list[_Reason] | None = None


class _OpenAIBatch(msgspec.Struct):
    id: str
    status: str
    created_at: float = 0
    metadata: dict[str, Any] | None = None
    request_counts: _Counts | None = None
    output_file_id: str | None = None
    error_file_id: str | None = None
    errors: _Reasons | None = None


class _OpenAIBatchList(msgspec.Struct):
    data: list[_OpenAIBatch]
    has_more: bool = False


class _Answer(msgspec.Struct):
    status_code: int = 0
    body: Any = None


class _ResultLine(msgspec.Struct):
    response: _Answer | None = None
    error: _Reason | None = None


class OpenAIBatches:
    """Batches at OpenAI, or at a server with the same API."""

    def __init__(self, endpoint: Endpoint, form: BatchForm = LIMITS) -> None:
        """Open a client. Raises UnsupportedPlatform without the openai package."""
        self.form = form
        self._endpoint = endpoint
        self._server = OpenAIServer(endpoint)

    async def probe(self) -> str | None:
        return await self._server.probe()

    def path(self, request: ModelRequest) -> str:
        return "/v1/completions" if is_text(request) else "/v1/chat/completions"

    def line(self, request: ModelRequest, custom_id: str) -> bytes:
        return msgspec.json.encode({
            "custom_id": custom_id,
            "method": "POST",
            "url": self.path(request),
            "body": body_of(request, self._endpoint.model, LIMIT_FIELD),
        })  # fmt: skip

    async def submit(self, batch: RequestBatch, file: Path) -> str:
        api = self._server.client
        with file.open("rb") as content:
            # The size decides how long this takes: only the client's limit on stalls holds.
            call = api.files.with_streaming_response.create(
                file=(f"proctor-{batch.token}.jsonl", content), purpose="batch"
            )
            with self._server.faults():
                uploaded = read(await self._server.body(call), _UploadedFile, self._server.secrets)
        made = await self._asked(
            api.batches.with_streaming_response.create(
                completion_window="24h",
                endpoint=batch.path,  # type: ignore[arg-type] # one of those it lists
                input_file_id=uploaded.id,
                metadata={MARK: batch.token},
                extra_headers={"Idempotency-Key": batch.token},
            ),
            _OpenAIBatch,
        )
        return made.id

    async def found(self, batch: RequestBatch, known: Collection[str]) -> str | None:  # noqa: ARG002 - its token is enough
        after: dict[str, str] = {}
        for _ in range(MOST_PAGES):
            list_ = self._server.client.batches.with_streaming_response.list
            page = await self._asked(list_(limit=100, extra_query=after), _OpenAIBatchList)
            for each in page.data:
                if (each.metadata or {}).get(MARK) == batch.token:
                    return each.id
            if not page.has_more or not page.data:
                return None
            if page.data[-1].created_at < batch.made - CLOCKS:  # the newest batches come first
                return None
            after = {"after": page.data[-1].id}
        raise ModelReplyBroken("the list of batches does not end")

    async def state(self, batch_id: str) -> BatchState:
        call = self._server.client.batches.with_streaming_response.retrieve(batch_id)
        found = await self._asked(call, _OpenAIBatch)
        counts = found.request_counts or _Counts()
        files = (found.output_file_id, found.error_file_id)
        fault = ""
        if found.status in _ENDED and not any(files):
            reasons = found.errors.data if found.errors and found.errors.data else []
            fault = (
                "; ".join(_said(each, self._server.secrets) for each in reasons[:3])
                or f"batch {batch_id} is {found.status}"
            )
        return BatchState(
            found.status,
            found.status in _ENDED,
            counts.completed + counts.failed,
            tuple(each for each in files if each),
            fault,
        )

    async def results(self, name: str) -> AsyncIterator[bytes]:
        with self._server.faults():
            call = self._server.client.files.with_streaming_response.content(name)
            async for chunk in self._server.chunks(call):
                yield chunk

    async def close(self) -> None:
        await self._server.close()

    async def _asked(self, call: Any, kind: type[_T]) -> _T:
        with self._server.faults():
            async with asyncio.timeout(self._endpoint.timeout):
                return read(await self._server.body(call), kind, self._server.secrets)


def reply_of(line: bytes, secrets: Collection[str]) -> ModelReply:
    """Read the reply of a line of results. Raises the ModelFault that is in its place."""
    found = read(line, _ResultLine, secrets)
    answer = found.response
    if answer is None:
        raise ModelRefused(_said(found.error or _Reason("no response"), secrets), passing=False)
    body = json.dumps(answer.body)  # json escapes lone surrogates
    if answer.status_code != 200:
        raise refusal(answer.status_code, one_line(body, secrets), "")
    return wire.replies(body.encode(), 1, 0.0, secrets)[0]


def _said(reason: _Reason, secrets: Collection[str]) -> str:
    line = "" if reason.line is None else f"line {reason.line}: "
    words = ": ".join(each for each in (reason.code, reason.message) if each)
    return one_line(line + words, secrets)
