"""From settings with `batch` to the model that is asked by batches."""

import asyncio
from collections.abc import Mapping
from functools import partial

from proctor.errors import SettingsError
from proctor.evals.batches import anthropic, openai
from proctor.evals.batches.model import BatchedModel
from proctor.evals.models.connections import Retry
from proctor.evals.models.openai import DEFAULT_BASE_URL, Endpoint
from proctor.evals.models.refusals import secrets_of
from proctor.evals.models.request_options import expanded
from proctor.evals.settings import Settings


def open_batched(settings: Settings, environment: Mapping[str, str]) -> BatchedModel:
    """Open the model of settings that name a provider of batches.

    The key comes from OPENAI_API_KEY or ANTHROPIC_API_KEY and stays in memory. Raises
    SettingsError.
    """
    anthropics = settings.batch == "anthropic"
    key = environment.get("ANTHROPIC_API_KEY" if anthropics else "OPENAI_API_KEY") or None
    if anthropics and key is None:
        raise SettingsError("ANTHROPIC_API_KEY is not set; --batch anthropic needs it")
    endpoint = Endpoint(
        model=settings.model,
        base_url=settings.base_url or (anthropic.BASE_URL if anthropics else DEFAULT_BASE_URL),
        api_key=key,
        timeout=settings.timeout,
        headers=expanded(settings.headers, environment),
    )
    retry = Retry(asyncio.sleep, settings.max_retries + 1, settings.retry_budget)
    service = anthropic.AnthropicBatches if anthropics else openai.OpenAIBatches
    reply_of = anthropic.reply_of if anthropics else openai.reply_of
    return BatchedModel(
        settings.model,
        partial(service, endpoint),
        partial(reply_of, secrets=secrets_of((key or "", *endpoint.headers.values()))),
        retry,
    )
