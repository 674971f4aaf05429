"""Any server that speaks OpenAI's chat completions, through the official client.

A prompt that is one message of role `text` goes to the completions API, as base models need it.

Needs `pip install 'proctor[eval]'`. The client's retries and reply types are not used: retries
are bounded for the whole run as well, and a reply is read up to a limit and checked against a
schema, since servers that call themselves compatible send HTML, half a JSON and no choices.

Contracts: https://platform.openai.com/docs/api-reference/chat/create and
https://platform.openai.com/docs/api-reference/completions/create.
"""

import asyncio
import importlib
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from proctor.bounded_http import LONGEST_ANSWER, AnswerBounds, bounded, innermost
from proctor.errors import (
    ModelFault,
    ModelRefused,
    ModelReplyBroken,
    ModelStalled,
    ModelUnreachable,
    ReplyBroken,
    SettingsError,
)
from proctor.evals.models import wire
from proctor.evals.models.bodies import body_of, is_text
from proctor.evals.models.connections import Connections, Retry
from proctor.evals.models.model import ModelReply, ModelRequest, ModelTraffic
from proctor.evals.models.refusals import masking, refusal_of, refusal_text, secrets_of
from proctor.evals.models.wire import LONGEST_REPLY
from proctor.formats.tables import without_extra
from proctor.version import __version__

if TYPE_CHECKING:
    import openai

DEFAULT_BASE_URL = "https://api.openai.com/v1"
DOWNLOAD = AnswerBounds(None, 6 * 3600.0)
"""Bounds on whatever has none of its own: the results of a batch are large."""
PROBE_PATIENCE = 5.0
"""Seconds to wait for the answer to a probe."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Address of a model, and limits on its requests."""

    model: str
    base_url: str = DEFAULT_BASE_URL
    api_key: str | None = field(default=None, repr=False)
    timeout: float = 600.0
    """Seconds for one whole reply."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Sent with each request; they may hold secrets."""
    connections: int = 8
    """Requests under way at once, at most: fewer while the server is too busy."""

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise SettingsError(f"{self.base_url!r} is not an address such as http://host:8000/v1")
        if parts.username or parts.password or parts.query:
            raise SettingsError(
                "a base URL is written into records: put the key into OPENAI_API_KEY, not there"
            )
        if not self.api_key and self.base_url.rstrip("/") == DEFAULT_BASE_URL:
            raise SettingsError("OPENAI_API_KEY is not set; or name another server by --base-url")


class OpenAIServer:
    """The official client, with bounded reading and with proctor's faults."""

    def __init__(self, endpoint: Endpoint) -> None:
        """Open a client. Raises UnsupportedPlatform without the openai package."""
        try:
            import openai
        except ImportError as error:
            raise without_extra("a model behind a server", error) from error
        self.endpoint = endpoint
        self.errors = openai
        """Module that has the client's errors."""
        self.secrets = secrets_of((endpoint.api_key or "", *endpoint.headers.values()))
        # The client's HTTP library is not always the same; reading a body raises that one's errors.
        self._transport_error = _http_library(openai).HTTPError
        self.client = openai.AsyncOpenAI(
            api_key=endpoint.api_key or "none",
            base_url=endpoint.base_url,
            timeout=endpoint.timeout,
            # Whoever reads a reply counts its bytes and has a clock; errors are read by the client.
            http_client=openai.DefaultAsyncHttpxClient(**bounded(DOWNLOAD)),
            max_retries=0,
            default_headers={"User-Agent": f"proctor/{__version__}", **endpoint.headers},
        )

    @contextmanager
    def faults(self) -> Iterator[None]:
        """Turn the client's errors into ModelFaults."""
        with masking(self.secrets):
            try:
                yield
            except (TimeoutError, self.errors.APITimeoutError) as error:
                raise ModelStalled(
                    f"no whole reply within {self.endpoint.timeout:g} s", busy=True
                ) from error
            except self.errors.APIStatusError as error:
                raise refusal_of(error, self.secrets) from error
            except (self.errors.APIError, ReplyBroken) as error:
                raise _lost(error) from error

    async def body(self, call: Any, most: int = LONGEST_REPLY) -> bytes:
        """Read a response of `most` bytes at most."""
        chunks, size = [], 0
        async for chunk in self.chunks(call):
            size += len(chunk)
            if size > most:
                raise ModelReplyBroken(f"the reply is longer than {most} bytes")
            chunks.append(chunk)
        return b"".join(chunks)

    async def chunks(self, call: Any) -> AsyncIterator[bytes]:
        """Read a response, however long it is."""
        async with call as response:
            try:
                async for chunk in response.iter_bytes():
                    yield chunk
            except self._transport_error as error:
                raise ModelUnreachable(f"the reply breaks off: {_cause(error)}") from error

    async def probe(self) -> str | None:
        """Ask for the list of models, which costs nothing; servers may be without one.

        Returns a remark or None. Raises ModelFault if no request can succeed.
        """
        where = f"no usable model at {self.endpoint.base_url}"
        with masking(self.secrets):
            return await self._probed(where)

    async def _probed(self, where: str) -> str | None:
        try:
            async with asyncio.timeout(PROBE_PATIENCE):
                body = await self.body(self.client.models.with_streaming_response.list())
        except TimeoutError as error:
            raise ModelStalled(f"{where}: no answer within {PROBE_PATIENCE:g} s") from error
        except self.errors.APIStatusError as error:
            fault = refusal_of(error, self.secrets)
            if error.status_code in {401, 403}:
                hint = "check OPENAI_API_KEY"
                if not self.endpoint.api_key:
                    hint += "; a server of --start-server gets a key by --header only"
                raise ModelRefused(f"{where}: {fault}; {hint}") from error
            return None if error.status_code < 500 else f"{self.endpoint.base_url}: {fault}"
        except (self.errors.APIError, ReplyBroken) as error:
            raise _lost(error, f"{where}: ") from error
        return self._listed(wire.model_names(body), where)

    def _listed(self, names: list[str] | None, where: str) -> str | None:
        if names is None:
            raise ModelReplyBroken(f"{where}: /models is not JSON; is it the address of an API?")
        if names and self.endpoint.model not in names:
            shown = ", ".join(names[:5])
            return f"the server does not list {self.endpoint.model!r}; it has {shown}"
        return None

    async def close(self) -> None:
        """Close the connections."""
        await self.client.close()


class OpenAIModel:
    """A model behind a server."""

    def __init__(
        self,
        endpoint: Endpoint,
        retry: Retry | None = None,
        check: Callable[[], None] | None = None,
    ) -> None:
        """Open a client. Raises UnsupportedPlatform without the openai package.

        `check` is called before each request and after its reply; it raises ModelFault if they go
        to, or come from, another than the server.
        """
        self._endpoint = endpoint
        self._check = check or (lambda: None)
        self._server = OpenAIServer(endpoint)
        self._retry = retry or Retry(asyncio.sleep)
        self._connections = Connections(endpoint.connections)
        self._limit_field = "max_tokens"

    @property
    def name(self) -> str:
        return self._endpoint.model

    async def probe(self) -> str | None:
        self._check()
        return await self._server.probe()

    async def generate(self, request: ModelRequest) -> ModelReply:
        return (await self.generate_many(request, 1))[0]

    async def generate_many(self, request: ModelRequest, n: int) -> list[ModelReply]:
        async def once() -> list[ModelReply]:
            with self._server.faults():
                return await self._once(request, n)

        return await self._retry.call(self._connections, once)

    def recorded(self, problem_id: str) -> int | None:  # noqa: ARG002 - any number of any
        return None

    @property
    def traffic(self) -> ModelTraffic:
        return self._retry.traffic(self._connections)

    async def close(self) -> None:
        await self._server.close()

    async def _once(self, request: ModelRequest, n: int) -> list[ModelReply]:
        began = time.monotonic()
        self._check()
        try:
            # The client's own time-out starts anew with every byte that comes.
            async with asyncio.timeout(self._endpoint.timeout):
                most = min(n * LONGEST_REPLY, LONGEST_ANSWER)
                body = await self._server.body(self._call(request, n), most)
        except self._server.errors.APIStatusError as error:
            if self._renamed(error):
                return await self._once(request, n)
            raise
        self._check()
        return wire.replies(body, n, time.monotonic() - began, self._server.secrets)

    def _call(self, request: ModelRequest, n: int) -> Any:
        api = self._server.client
        create: Any = api.chat.completions.with_streaming_response.create
        body = body_of(request, self._endpoint.model, self._limit_field, n)
        needed = ("model", "messages")
        if is_text(request):
            create = api.completions.with_streaming_response.create
            needed = ("model", "prompt")
        return create(
            **{name: body.pop(name) for name in needed},
            extra_headers={"Idempotency-Key": request.key if n == 1 else f"{request.key}-{n}"},
            # Not as the client's own arguments: older clients do not know all of them.
            extra_body=body,
        )

    def _renamed(self, error: "openai.APIStatusError") -> bool:
        """Return True, and switch, if the server wants OpenAI's newer name of the token limit."""
        if error.status_code != 400 or self._limit_field == "max_completion_tokens":
            return False
        if "max_completion_tokens" not in refusal_text(error):
            return False
        self._limit_field = "max_completion_tokens"
        return True


def _lost(error: BaseException, where: str = "") -> ModelFault:
    """Return the fault of a reply that has not come, or that is not read any further."""
    kind = ModelReplyBroken if isinstance(innermost(error), ReplyBroken) else ModelUnreachable
    return kind(f"{where}{_cause(error)}")


def _cause(error: BaseException) -> str:
    reason = innermost(error)
    return str(reason) or type(reason).__name__


def _http_library(client: ModuleType) -> Any:
    """Return the module that the client connects by, which changed with openai 3."""
    base = client.DefaultAsyncHttpxClient.__mro__[1]
    return importlib.import_module(base.__module__.partition(".")[0])
