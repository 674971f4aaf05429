"""Any server that speaks OpenAI's chat completions, through the official client.

A prompt that is one message of role `text` goes to the completions API, as base models need it.

Needs `pip install 'proctor[eval]'`. The client's retries and reply types are not used: these are
bounded for the run as well, and a reply is read up to a limit and checked against a schema, since
what calls itself compatible sends HTML, half a JSON and no choices.

Contracts: https://platform.openai.com/docs/api-reference/chat/create and
https://platform.openai.com/docs/api-reference/completions/create.
"""

import asyncio
import importlib
import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from types import ModuleType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from proctor.errors import (
    ModelFault,
    ModelRefused,
    ModelReplyBroken,
    ModelStalled,
    ModelUnreachable,
    SettingsError,
)
from proctor.evals.models import wire
from proctor.evals.models.connections import Connections, Retry
from proctor.evals.models.model import ModelReply, ModelRequest, ModelTraffic, plain
from proctor.formats.tables import without_extra
from proctor.version import __version__

if TYPE_CHECKING:
    import openai

DEFAULT_BASE_URL = "https://api.openai.com/v1"
LONGEST_REPLY = 8 << 20
"""Bytes of one reply, as sent: a model of a million tokens sends half of it."""
PROBE_PATIENCE = 5.0
"""Seconds to wait for the answer to a probe."""
_LONGEST_WORDS = 300
_SHORTEST_SECRET = 6
_TOO_MANY = 429
_PASSING = frozenset({408, 409, 425, _TOO_MANY})
_BUSY = frozenset({_TOO_MANY, 503, 529})
"""529 is Anthropic's for being overloaded."""


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
            raise SettingsError(f"{self.base_url!r} is no address such as http://host:8000/v1")
        if parts.username or parts.password or parts.query:
            raise SettingsError(
                "a base URL is written into records: put the key into OPENAI_API_KEY, not there"
            )
        if not self.api_key and self.base_url.rstrip("/") == DEFAULT_BASE_URL:
            raise SettingsError("OPENAI_API_KEY is not set; or name another server by --base-url")


class OpenAIModel:
    """A model behind a server."""

    def __init__(self, endpoint: Endpoint, retry: Retry | None = None) -> None:
        """Open a client. Raises UnsupportedPlatform without the openai package."""
        try:
            import openai
        except ImportError as error:
            raise without_extra("a model behind a server", error) from error
        self._openai = openai
        self._endpoint = endpoint
        self._retry = retry or Retry(asyncio.sleep)
        self._connections = Connections(endpoint.connections)
        self._too_many = 0
        self._limit_field = "max_tokens"
        # A header may be `Bearer` and a key; a server may say the key alone.
        known = " ".join((endpoint.api_key or "", *endpoint.headers.values())).split()
        self._secrets = [each for each in known if len(each) >= _SHORTEST_SECRET]
        # The client's HTTP library is not always the same one, and reading raises its errors.
        self._transport_error = _http_library(openai).HTTPError
        self._client = openai.AsyncOpenAI(
            api_key=endpoint.api_key or "none",
            base_url=endpoint.base_url,
            timeout=endpoint.timeout,
            max_retries=0,
            default_headers={"User-Agent": f"proctor/{__version__}", **endpoint.headers},
        )

    @property
    def name(self) -> str:
        return self._endpoint.model

    async def probe(self) -> str | None:
        """Ask for the list of models, which costs nothing; servers may be without one."""
        where = f"no usable model at {self._endpoint.base_url}"
        with self._masking():
            return await self._probed(where)

    async def _probed(self, where: str) -> str | None:
        try:
            async with asyncio.timeout(PROBE_PATIENCE):
                body = await self._body(self._client.models.with_streaming_response.list())
        except TimeoutError as error:
            raise ModelStalled(f"{where}: no answer within {PROBE_PATIENCE:g} s") from error
        except self._openai.APIStatusError as error:
            fault = _refusal(error)
            if error.status_code in {401, 403}:
                raise ModelRefused(f"{where}: {fault}; check OPENAI_API_KEY") from error
            return None if error.status_code < 500 else f"{self._endpoint.base_url}: {fault}"
        except self._openai.APIError as error:
            raise ModelUnreachable(f"{where}: {_cause(error)}") from error
        return self._listed(wire.model_names(body), where)

    def _listed(self, names: list[str] | None, where: str) -> str | None:
        if names is None:
            raise ModelReplyBroken(f"{where}: /models is no JSON; is it the address of an API?")
        if names and self._endpoint.model not in names:
            shown = ", ".join(names[:5])
            return f"the server does not list {self._endpoint.model!r}; it has {shown}"
        return None

    async def generate(self, request: ModelRequest) -> ModelReply:
        return (await self.generate_many(request, 1))[0]

    async def generate_many(self, request: ModelRequest, n: int) -> list[ModelReply]:
        async def once() -> list[ModelReply]:
            with self._masking():
                return await self._once(request, n)

        return await self._retry.call(self._connections, once)

    @contextmanager
    def _masking(self) -> Iterator[None]:
        """Keep the key and headers out of faults: some servers say them back."""
        try:
            yield
        except ModelFault as fault:
            text = str(fault)
            for secret in self._secrets:
                text = text.replace(secret, "***")
            fault.args = (text,)
            raise

    def recorded(self, problem_id: str) -> int | None:  # noqa: ARG002 - any number of any
        return None

    @property
    def traffic(self) -> ModelTraffic:
        return ModelTraffic(self._too_many, self._retry.made, self._connections.limit)

    async def close(self) -> None:
        await self._client.close()

    async def _once(self, request: ModelRequest, n: int) -> list[ModelReply]:
        began = time.monotonic()
        try:
            # The client's own time-out starts anew with every byte that comes.
            async with asyncio.timeout(self._endpoint.timeout):
                body = await self._body(self._call(request, n), n)
        except (TimeoutError, self._openai.APITimeoutError) as error:
            raise ModelStalled(
                f"no whole reply within {self._endpoint.timeout:g} s", busy=True
            ) from error
        except self._openai.APIStatusError as error:
            if self._renamed(error):
                return await self._once(request, n)
            self._too_many += error.status_code == _TOO_MANY
            raise _refusal(error) from error
        except self._openai.APIError as error:
            raise ModelUnreachable(_cause(error)) from error
        return wire.replies(body, n, time.monotonic() - began)

    async def _body(self, call: Any, n: int = 1) -> bytes:
        """Read a response, up to LONGEST_REPLY bytes for each of n replies."""
        chunks, size = [], 0
        async with call as response:
            try:
                async for chunk in response.iter_bytes():
                    size += len(chunk)
                    if size > n * LONGEST_REPLY:
                        raise ModelReplyBroken(
                            f"the reply is longer than {n * LONGEST_REPLY} bytes"
                        )
                    chunks.append(chunk)
            except self._transport_error as error:
                raise ModelUnreachable(f"the reply breaks off: {_cause(error)}") from error
        return b"".join(chunks)

    def _call(self, request: ModelRequest, n: int) -> Any:
        if not any(message.role == "text" for message in request.messages):
            create: Any = self._client.chat.completions.with_streaming_response.create
            prompt: dict[str, Any] = {"messages": plain(request.messages)}
            return create(**prompt, **self._arguments(request, n, self._limit_field))
        if len(request.messages) > 1 or request.tools:
            raise SettingsError("a text to be completed has no other messages and no tools")
        create = self._client.completions.with_streaming_response.create
        prompt = {"prompt": plain(request.messages)[0]["content"]}
        return create(**prompt, **self._arguments(request, n, "max_tokens"))

    def _arguments(self, request: ModelRequest, n: int, limit_field: str) -> dict[str, Any]:
        sampling = request.sampling
        seed = None if sampling.seed is None else sampling.seed + request.sample
        tools = [
            {"type": "function", "function": msgspec.to_builtins(tool)} for tool in request.tools
        ]
        wanted = {
            "n": n if n > 1 else None,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            limit_field: sampling.max_tokens,
            "seed": seed,
            "stop": list(sampling.stop) or None,
            "tools": tools or None,
        }
        more = {
            "top_k": sampling.top_k,
            "min_p": sampling.min_p,
            "reasoning_effort": sampling.reasoning_effort,
            "chat_template_kwargs": dict(sampling.chat_template) or None,
        }
        return {
            "model": self._endpoint.model,
            "extra_headers": {"Idempotency-Key": request.key if n == 1 else f"{request.key}-{n}"},
            # Not by the client's own arguments: older ones do not know all of them.
            "extra_body": {
                **{name: value for name, value in more.items() if value is not None},
                **sampling.extra_body,
            },
            **{name: value for name, value in wanted.items() if value is not None},
        }

    def _renamed(self, error: "openai.APIStatusError") -> bool:
        """True if the server wants OpenAI's newer name of the token limit, used from now on."""
        if error.status_code != 400 or self._limit_field == "max_completion_tokens":
            return False
        if "max_completion_tokens" not in _words(error):
            return False
        self._limit_field = "max_completion_tokens"
        return True


def _refusal(error: "openai.APIStatusError") -> ModelFault:
    status = error.status_code
    return ModelRefused(
        f"the server answers {status}: {_words(error)}",
        passing=status in _PASSING or status >= 500,
        retry_after=_seconds(error.response.headers.get("retry-after", "")),
        busy=status in _BUSY,
    )


def _seconds(asked: str) -> float | None:
    """Time of a Retry-After, which is a number or a date (RFC 9110, 10.2.3); None if neither."""
    try:
        seconds = float(asked)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(asked).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _words(error: "openai.APIStatusError") -> str:
    """Say what the server says, in one line."""
    text = error.response.text if error.response.is_closed else str(error)
    return " ".join(text.split())[:_LONGEST_WORDS] or "nothing more"


def _cause(error: BaseException) -> str:
    """Return the innermost reason: the client itself says no more than that it failed."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error) or type(error).__name__


def _http_library(client: ModuleType) -> Any:
    """Return the module that the client connects by, which changed with openai 3."""
    base = client.DefaultAsyncHttpxClient.__mro__[1]
    return importlib.import_module(base.__module__.partition(".")[0])
