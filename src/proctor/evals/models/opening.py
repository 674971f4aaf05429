"""From a model's name in the settings to the model."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.errors import SettingsError
from proctor.evals.models import litellm
from proctor.evals.models.connections import Retry
from proctor.evals.models.model import Model
from proctor.evals.models.replay import PREFIX, ReplayModel
from proctor.evals.models.request_options import expanded
from proctor.evals.settings import Settings

if TYPE_CHECKING:
    from proctor.evals.models.started_server import StartedServer


def is_recording(settings: Settings) -> bool:
    """Return True if replies come from a file."""
    return settings.model.startswith(PREFIX)


def is_behind_server(settings: Settings) -> bool:
    """Return True if the model is asked by OpenAI's API."""
    return not settings.model.startswith((PREFIX, litellm.PREFIX))


def open_model(
    settings: Settings, environment: Mapping[str, str], server: "StartedServer | None" = None
) -> Model:
    """Open what `--model` names; the key comes from OPENAI_API_KEY and stays in memory.

    With `--batch anthropic` it is ANTHROPIC_API_KEY. A server that was started gets no key, which
    is another server's, and headers only while the port is its own. Raises SettingsError,
    InputError, UnsupportedPlatform.
    """
    if is_recording(settings):
        return ReplayModel(Path(settings.model.removeprefix(PREFIX)))
    if settings.model.startswith(litellm.PREFIX):
        options = litellm.LiteLLMOptions(
            model=settings.model.removeprefix(litellm.PREFIX),
            base_url=settings.base_url,
            timeout=settings.timeout,
            headers=expanded(settings.headers, environment),
            connections=settings.max_connections,
        )
        return litellm.LiteLLMModel(options, environment, _retry(settings))
    if not settings.model:
        raise SettingsError("which model? name it by --model or in MODEL_ID, or use replay:FILE")
    if settings.batch:
        from proctor.evals.batches.opening import open_batched

        return open_batched(settings, environment)
    # Not imported above: the client takes more than a second, and a replay needs none.
    from proctor.evals.models.openai import DEFAULT_BASE_URL, Endpoint, OpenAIModel

    endpoint = Endpoint(
        model=settings.model,
        base_url=settings.base_url or DEFAULT_BASE_URL,
        api_key=environment.get("OPENAI_API_KEY") or None if server is None else None,
        timeout=settings.timeout,
        headers=expanded(settings.headers, environment),
        connections=settings.max_connections,
    )
    return OpenAIModel(endpoint, _retry(settings), None if server is None else server.check)


def _retry(settings: Settings) -> Retry:
    return Retry(asyncio.sleep, settings.max_retries + 1, settings.retry_budget)
