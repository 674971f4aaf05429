"""Any provider that LiteLLM knows: `litellm:PROVIDER/NAME`, such as `litellm:anthropic/NAME`.

Needs `pip install 'proctor[litellm]'`. LiteLLM translates requests and replies, and finds each
provider's key in the environment (https://docs.litellm.ai/docs/providers). Retries and the number
of requests at once are proctor's, as for other servers. It reads a reply whole, of whatever length.
"""

import asyncio
import importlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from proctor.errors import (
    ModelRefused,
    ModelReplyBroken,
    ModelStalled,
    ModelUnreachable,
    SettingsError,
)
from proctor.evals.models import wire
from proctor.evals.models.bodies import body_of, is_text
from proctor.evals.models.connections import Connections, Retry
from proctor.evals.models.model import ModelReply, ModelRequest, ModelTraffic
from proctor.evals.models.refusals import masking, one_line, refusal, secrets_of
from proctor.evals.models.wire import LONGEST_REPLY
from proctor.evals.redaction import looks_secret
from proctor.formats.tables import without_extra
from proctor.version import __version__

PREFIX = "litellm:"
_AT_IMPORT = {
    # Otherwise LiteLLM fetches its prices from GitHub, and reads `.env` of the working directory.
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_MODE": "PRODUCTION",
}


@dataclass(frozen=True, slots=True)
class LiteLLMOptions:
    """Address of a model, and limits on its requests."""

    model: str
    """PROVIDER/NAME, as LiteLLM has it."""
    base_url: str = ""
    """Address of the server; empty for the provider's own."""
    timeout: float = 600.0
    """Seconds for one whole reply."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Sent with each request; they may hold secrets."""
    connections: int = 8
    """Requests under way at once, at most: fewer while the server is too busy."""


class LiteLLMModel:
    """A model of one of LiteLLM's providers."""

    def __init__(
        self, options: LiteLLMOptions, environment: Mapping[str, str], retry: Retry | None = None
    ) -> None:
        """Import LiteLLM, which takes seconds. Raises UnsupportedPlatform, SettingsError."""
        self._litellm = library()
        self._options = options
        self._retry = retry or Retry(asyncio.sleep)
        self._connections = Connections(options.connections)
        keys = [value for name, value in environment.items() if looks_secret(name)]
        self._secrets = secrets_of((*keys, *options.headers.values()))
        try:
            self._litellm.get_llm_provider(options.model, api_base=options.base_url or None)
        except self._litellm.BadRequestError as error:
            raise SettingsError(
                f"LiteLLM knows no provider of {options.model!r}: name it as PROVIDER/NAME, "
                "such as litellm:anthropic/NAME (https://docs.litellm.ai/docs/providers)"
            ) from error

    @property
    def name(self) -> str:
        return PREFIX + self._options.model

    async def probe(self) -> str | None:
        """Look whether the provider's key is there; LiteLLM has no free request to try it by."""
        found = self._litellm.validate_environment(
            self._options.model, api_base=self._options.base_url or None
        )
        if missing := found["missing_keys"]:
            names = " or ".join(missing) if len(missing) < 4 else ", ".join(missing)
            raise ModelRefused(f"{self.name} needs {names} in the environment")
        return None

    async def generate(self, request: ModelRequest) -> ModelReply:
        async def once() -> ModelReply:
            with masking(self._secrets):
                return await self._once(request)

        return await self._retry.call(self._connections, once)

    def recorded(self, problem_id: str) -> int | None:  # noqa: ARG002 - any number of any
        return None

    @property
    def traffic(self) -> ModelTraffic:
        return self._retry.traffic(self._connections)

    async def close(self) -> None:
        await self._litellm.close_litellm_async_clients()
        # LiteLLM keeps the clients that it has closed, and would hand them to the next model.
        self._litellm.in_memory_llm_clients_cache.flush_cache()

    async def _once(self, request: ModelRequest) -> ModelReply:
        began = time.monotonic()
        call, arguments = self._call(request)
        openai = importlib.import_module("openai")  # LiteLLM's errors are subclasses of openai's
        try:
            async with asyncio.timeout(self._options.timeout):
                found = await call(**arguments)
        except (TimeoutError, openai.APITimeoutError) as error:
            raise ModelStalled(
                f"no whole reply within {self._options.timeout:g} s", busy=True
            ) from error
        except openai.APIStatusError as error:
            later = error.response.headers.get("retry-after", "")
            raise refusal(error.status_code, one_line(str(error), self._secrets), later) from error
        except openai.APIError as error:
            raise ModelUnreachable(one_line(str(error), self._secrets)) from error
        # As JSON, since LiteLLM's types are looser than ours, and texts may hold lone surrogates.
        body = json.dumps(found.model_dump(warnings=False), default=str).encode()
        if len(body) > LONGEST_REPLY:
            raise ModelReplyBroken(f"the reply is longer than {LONGEST_REPLY} bytes")
        return wire.replies(body, 1, time.monotonic() - began, self._secrets)[0]

    def _call(self, request: ModelRequest) -> tuple[Any, dict[str, Any]]:
        """Return the function to be called, and its arguments."""
        options = self._options
        body = body_of(request, options.model, "max_tokens")
        arguments = body | {
            "timeout": options.timeout,
            "num_retries": 0,
            "max_retries": 0,
            "extra_headers": {"User-Agent": f"proctor/{__version__}", **options.headers},
        }
        if options.base_url:
            arguments["api_base"] = options.base_url
        litellm = self._litellm
        return litellm.atext_completion if is_text(request) else litellm.acompletion, arguments


def library() -> Any:
    """Import LiteLLM without requests and without reading files of the working directory.

    Raises UnsupportedPlatform if it is not installed.
    """
    for name, value in _AT_IMPORT.items():
        os.environ.setdefault(name, value)
    try:
        found = importlib.import_module("litellm")
    except ImportError as error:
        raise without_extra("a model by LiteLLM", error, "litellm") from error
    found.suppress_debug_info = True  # type: ignore[attr-defined]  # it prints to stdout
    return found


def listed_price(model: str) -> dict[str, float] | None:
    """Return LiteLLM's prices of a model in US dollars per million tokens, by Price's field names.

    None if its table lacks the model, or its prompt or completion price. Prices are those of usual
    requests: some providers take more for very long prompts.
    """
    name = model.removeprefix(PREFIX)
    table: Mapping[str, Any] = library().model_cost
    found = table.get(name) or table.get(name.partition("/")[2])
    if found is None:
        return None
    fields = {
        "prompt": "input_cost_per_token",
        "completion": "output_cost_per_token",
        "cached_prompt": "cache_read_input_token_cost",
    }
    prices = {
        ours: found[theirs] * 1e6
        for ours, theirs in fields.items()
        if isinstance(found.get(theirs), int | float)
    }
    return prices if {"prompt", "completion"} <= prices.keys() else None
