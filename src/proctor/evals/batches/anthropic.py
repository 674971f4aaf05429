"""Anthropic's Message Batches, over HTTP.

The requests stand in the body of one call; when the batch has ended, its results are lines of JSON.
Contracts: https://docs.anthropic.com/en/api/creating-message-batches,
https://docs.anthropic.com/en/docs/build-with-claude/batch-processing and
https://docs.anthropic.com/en/api/messages.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from proctor.bounded_http import BOUNDS, AnswerBounds, bounded
from proctor.errors import (
    ModelFault,
    ModelRefused,
    ModelReplyBroken,
    ModelStalled,
    ModelUnreachable,
    ReplyBroken,
    SettingsError,
)
from proctor.evals.batches.service import (
    CLOCKS,
    MOST_PAGES,
    BatchForm,
    BatchState,
    RequestBatch,
    custom_id_of,
    read,
)
from proctor.evals.models.bodies import is_text
from proctor.evals.models.model import ModelReply, ModelRequest, TokenUsage, plain
from proctor.evals.models.openai import DOWNLOAD, Endpoint
from proctor.evals.models.refusals import masking, one_line, refusal, secrets_of
from proctor.evals.models.wire import LONGEST_REPLY
from proctor.formats.tables import without_extra
from proctor.version import __version__

if TYPE_CHECKING:
    import httpx

BASE_URL = "https://api.anthropic.com"
VERSION = "2023-06-01"
"""The anthropic-version (https://docs.anthropic.com/en/api/versioning). In the next, 2026-10-21,
messages have no temperature, top_p and top_k. `--header 'anthropic-version: ...'` sends another."""
LIMITS = BatchForm(
    requests=100_000, size=256_000_000, head=b'{"requests":[', between=b",\n", tail=b"]}"
)
_PATH = "/v1/messages"
_LISTED = 100
_PIECE = 1 << 20
_FINISHED = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}
"""Finish reasons, as OpenAI has them, by `stop_reason`."""


class _RequestCounts(msgspec.Struct):
    processing: int = 0
    succeeded: int = 0
    errored: int = 0
    canceled: int = 0
    expired: int = 0

    @property
    def done(self) -> int:
        return self.succeeded + self.errored + self.canceled + self.expired


class _MessageBatch(msgspec.Struct):
    id: str
    processing_status: str
    created_at: datetime
    request_counts: _RequestCounts
    results_url: str | None = None

    @property
    def ended(self) -> bool:
        return self.processing_status == "ended"


class _MessageBatchList(msgspec.Struct):
    data: list[_MessageBatch]
    has_more: bool = False
    last_id: str | None = None


class _Block(msgspec.Struct):
    type: str
    text: str = ""
    thinking: str = ""


class _OutputDetails(msgspec.Struct):
    thinking_tokens: int | None = None


class _MessageUsage(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens_details: _OutputDetails | None = None

    @property
    def prompt(self) -> int | None:
        """Tokens of the whole prompt, which stand in three counts."""
        if self.input_tokens is None:
            return None
        cached = (self.cache_creation_input_tokens or 0) + (self.cache_read_input_tokens or 0)
        return self.input_tokens + cached


class _ReceivedMessage(msgspec.Struct):
    content: list[_Block]
    stop_reason: str | None = None
    usage: _MessageUsage | None = None


class _ErrorObject(msgspec.Struct, frozen=True):
    type: str = ""
    message: str = ""


class _ErrorResponse(msgspec.Struct):
    error: _ErrorObject = _ErrorObject()


class _Result(msgspec.Struct):
    type: str
    message: _ReceivedMessage | None = None
    error: _ErrorResponse | None = None


class _IndividualResponse(msgspec.Struct):
    result: _Result


class AnthropicBatches:
    """Batches at Anthropic."""

    def __init__(self, endpoint: Endpoint, form: BatchForm = LIMITS) -> None:
        """Open a client. Raises UnsupportedPlatform without httpx."""
        try:
            import httpx
        except ImportError as error:
            raise without_extra("a model behind a server", error) from error
        self.form = form
        self._httpx = httpx
        self._endpoint = endpoint
        self._secrets = secrets_of((endpoint.api_key or "", *endpoint.headers.values()))
        headers = httpx.Headers({
            "User-Agent": f"proctor/{__version__}",
            "anthropic-version": VERSION,
            "x-api-key": endpoint.api_key or "",
        })  # fmt: skip
        headers.update(endpoint.headers)
        self._client = httpx.AsyncClient(
            base_url=endpoint.base_url.rstrip("/").removesuffix("/v1"),
            headers=headers,
            timeout=endpoint.timeout,
            **bounded(AnswerBounds(LONGEST_REPLY)),
        )

    async def probe(self) -> str | None:
        where = f"no usable model at {self._endpoint.base_url}"
        try:
            await self._body("GET", f"/v1/models/{self._endpoint.model}", timeout=5.0)
        except ModelRefused as fault:
            if not fault.passing:
                raise ModelRefused(f"{where}: {fault}", passing=False) from fault
            return str(fault)
        except ModelFault as fault:
            raise type(fault)(f"{where}: {fault}") from fault
        return None

    def path(self, request: ModelRequest) -> str:
        if is_text(request):
            raise SettingsError("a text to be completed cannot be asked of Anthropic")
        return _PATH

    def line(self, request: ModelRequest, custom_id: str) -> bytes:
        params = params_of(request, self._endpoint.model)
        return msgspec.json.encode({"custom_id": custom_id, "params": params})

    async def submit(self, batch: RequestBatch, file: Path) -> str:  # noqa: ARG002 - they have no names
        headers = {
            "content-type": "application/json", "content-length": str(file.stat().st_size)
        }  # fmt: skip
        body = await self._body("POST", f"{_PATH}/batches", headers=headers, content=_pieces(file))
        return read(body, _MessageBatch, self._secrets).id

    async def found(self, batch: RequestBatch, known: Collection[str]) -> str | None:
        uncertain = []
        for each in await self._since(batch.made - CLOCKS):
            counts = each.request_counts
            if each.id in known or counts.done + counts.processing != batch.count:
                continue
            if each.ended and each.results_url:
                if await self._is(each.id, batch):
                    return each.id
            else:
                uncertain.append(each.id)
        if uncertain:
            raise ModelRefused(
                f"it is not known whether a batch of {batch.count} requests was handed in: "
                f"{', '.join(uncertain)} may be it, which can be told when this has ended. "
                "Nothing is handed in until then, lest it be paid for twice",
                passing=False,
            )
        return None

    async def state(self, batch_id: str) -> BatchState:
        body = await self._body("GET", f"{_PATH}/batches/{batch_id}")
        found = read(body, _MessageBatch, self._secrets)
        fault = ""
        if found.ended and not found.results_url:
            fault = f"batch {batch_id} has ended, but its results are not kept any more"
        results = (batch_id,) if found.ended and not fault else ()
        return BatchState(
            found.processing_status, found.ended, found.request_counts.done, results, fault
        )

    async def results(self, name: str) -> AsyncIterator[bytes]:
        # Not from `results_url`: the key must not go to an address that a server names.
        own = {BOUNDS: DOWNLOAD}
        request = self._response("GET", f"{_PATH}/batches/{name}/results", extensions=own)
        async with request as response:
            async for chunk in response.aiter_bytes():
                yield chunk

    async def close(self) -> None:
        await self._client.aclose()

    async def _since(self, time: float) -> list[_MessageBatch]:
        """List batches made after a Unix time, the newest first."""
        found: list[_MessageBatch] = []
        query: dict[str, Any] = {"limit": _LISTED}
        for _ in range(MOST_PAGES):
            body = await self._body("GET", f"{_PATH}/batches", params=query)
            page = read(body, _MessageBatchList, self._secrets)
            new = [each for each in page.data if each.created_at.timestamp() >= time]
            found += new
            if len(new) < len(page.data) or not page.has_more or not page.last_id:
                return found
            query["after_id"] = page.last_id
        raise ModelReplyBroken("the list of batches does not end")

    async def _is(self, batch_id: str, batch: RequestBatch) -> bool:
        """Return True if the first result under this id belongs to `batch`."""
        start = b""
        async for chunk in self.results(batch_id):
            start += chunk
            if b"\n" in start or len(start) > LONGEST_REPLY:
                break
        return batch.key(custom_id_of(start.partition(b"\n")[0])) is not None

    async def _body(self, method: str, path: str, **more: Any) -> bytes:
        # The size of what is sent decides how long that takes.
        patience = None if "content" in more else more.get("timeout", self._endpoint.timeout)
        with self._faults():
            async with asyncio.timeout(patience), self._response(method, path, **more) as response:
                return await response.aread()

    @asynccontextmanager
    async def _response(
        self, method: str, path: str, **more: Any
    ) -> AsyncIterator["httpx.Response"]:
        with self._faults():
            async with self._client.stream(method, path, **more) as response:
                if response.status_code >= 300:
                    words = one_line(
                        (await response.aread()).decode("utf-8", "replace"), self._secrets
                    )
                    if response.status_code in {401, 403}:
                        words += "; check ANTHROPIC_API_KEY"
                    retry_after = response.headers.get("retry-after", "")
                    raise refusal(response.status_code, words, retry_after)
                yield response

    @contextmanager
    def _faults(self) -> Iterator[None]:
        with masking(self._secrets):
            try:
                yield
            except ReplyBroken as error:
                raise ModelReplyBroken(str(error)) from error
            except (TimeoutError, self._httpx.TimeoutException) as error:
                raise ModelStalled("no answer in time", busy=True) from error
            except self._httpx.HTTPError as error:
                raise ModelUnreachable(str(error) or type(error).__name__) from error


def params_of(request: ModelRequest, model: str) -> dict[str, Any]:
    """Return the body of a message's request; system messages stand apart from the others."""
    sampling = request.sampling
    messages = plain(request.messages)
    system = [each["content"] for each in messages if each["role"] == "system"]
    effort = sampling.reasoning_effort
    wanted = {
        "system": "\n\n".join(system) or None,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": sampling.top_k,
        "stop_sequences": list(sampling.stop) or None,
        "output_config": {"effort": effort} if effort else None,
    }
    return {
        "model": model,
        "max_tokens": sampling.max_tokens,
        "messages": [each for each in messages if each["role"] != "system"],
        **{name: value for name, value in wanted.items() if value is not None},
        **sampling.extra_body,
    }


def reply_of(line: bytes, secrets: Collection[str]) -> ModelReply:
    """Read the reply of a line of results. Raises the ModelFault that is in its place."""
    result = read(line, _IndividualResponse, secrets).result
    if result.type == "succeeded" and result.message is not None:
        return _reply(result.message)
    error = result.error.error if result.error is not None else _ErrorObject()
    words = ": ".join(each for each in (error.type, error.message) if each)
    raise ModelRefused(one_line(f"the request is {result.type}: {words}", secrets).rstrip(": "))


def _reply(message: _ReceivedMessage) -> ModelReply:
    usage = message.usage or _MessageUsage()
    details = usage.output_tokens_details
    reason = message.stop_reason or ""
    return ModelReply(
        text="".join(each.text for each in message.content if each.type == "text"),
        reasoning="".join(each.thinking for each in message.content if each.type == "thinking"),
        usage=TokenUsage(
            usage.prompt,
            usage.output_tokens,
            details.thinking_tokens if details else None,
            usage.cache_read_input_tokens,
        ),
        finish_reason=_FINISHED.get(reason, reason),
    )


async def _pieces(file: Path) -> AsyncIterator[bytes]:
    with file.open("rb") as content:
        while piece := content.read(_PIECE):
            yield piece
