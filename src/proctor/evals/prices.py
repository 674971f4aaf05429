"""Prices of tokens: a table that comes with proctor, under one of your own.

A price is looked up when a run begins and kept with the run, so that its cost stays what it was.
A model without a price, and a reply without token counts, has a cost that is not known: never 0.
"""

import tomllib
from collections.abc import Iterable
from datetime import UTC, date, datetime
from fnmatch import fnmatchcase
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from proctor.errors import InputError
from proctor.evals.models import litellm
from proctor.evals.settings import Settings
from proctor.evals.stored import Generation

_PER = 1e6
_BUNDLED = files("proctor") / "evals" / "prices.toml"
OPENAI = "api.openai.com"
"""Host that is asked where no --base-url is given."""
ANTHROPIC = "api.anthropic.com"
"""Host that is asked with --batch anthropic where no --base-url is given."""


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Price of a model, in US dollars per million tokens. Raises ValueError below 0."""

    model: str
    """Pattern of its name."""
    prompt: float
    completion: float
    """Completion tokens, those of the reasoning included."""
    date: date
    """Day on which `source` said so."""
    source: str
    """Web page, or other origin of the price."""
    cached_prompt: float | None = None
    """Prompt tokens read from the server's cache; None if they cost as much as the others."""
    server: str | None = None
    """Host for which it holds; None for any."""
    batch: float | None = None
    """Share of the price that a request in a batch costs, such as 0.5; None if not known."""

    def __post_init__(self) -> None:
        for name in ("prompt", "completion", "cached_prompt", "batch"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < float("inf"):
                raise ValueError(f"{name} must be 0 or more, not {value}")

    def one_by_one(self) -> "Price":
        """Return the price of requests that are in no batch."""
        return msgspec.structs.replace(self, batch=None)

    def in_batches(self) -> "Price | None":
        """Return the price of requests in batches; None if it is not known."""
        if self.batch is None:
            return None
        cached = self.cached_prompt
        return msgspec.structs.replace(
            self,
            prompt=self.prompt * self.batch,
            completion=self.completion * self.batch,
            cached_prompt=None if cached is None else cached * self.batch,
        )

    def cost(self, generation: Generation) -> float | None:
        """Return US dollars for a reply; None if the server did not count its tokens."""
        prompt, completion = generation.prompt_tokens, generation.completion_tokens
        if prompt is None or completion is None:
            return None
        cached = min(prompt, generation.cached_tokens or 0)
        of_cached = self.prompt if self.cached_prompt is None else self.cached_prompt
        read = (prompt - cached) * self.prompt + cached * of_cached
        return (read + completion * self.completion) / _PER


class _PriceTable(msgspec.Struct, forbid_unknown_fields=True):
    price: list[Price] = []


def price_of(settings: Settings) -> Price | None:
    """Find the price of the settings' model: in `prices` if it is there, else in the bundled table.

    For a model of LiteLLM, its table replaces the bundled one; for a run by batches, the price is
    that of batches. Raises InputError for a table that cannot be read.
    """
    default = ANTHROPIC if settings.batch == "anthropic" else OPENAI
    host = urlsplit(settings.base_url).hostname if settings.base_url else default
    tables = [Path(settings.prices)] if settings.prices else []
    found = _fitting(settings, host, tables)
    if found is None and settings.model.startswith(litellm.PREFIX):
        return _listed(settings.model)
    return found or _fitting(settings, host, [_BUNDLED])


def _fitting(settings: Settings, host: str | None, tables: Iterable[Traversable]) -> Price | None:
    for table in tables:
        for price in read_prices(table):
            if price.server in {None, host} and fnmatchcase(settings.model, price.model):
                return price.in_batches() if settings.batch else price.one_by_one()
    return None


def _listed(model: str) -> Price | None:
    """Return the price that LiteLLM's own table has for a model."""
    found = litellm.listed_price(model)
    if found is None:
        return None
    source = f"the table of LiteLLM {version('litellm')}"
    return Price(
        model=model,
        prompt=found["prompt"],
        completion=found["completion"],
        cached_prompt=found.get("cached_prompt"),
        date=datetime.now(UTC).date(),
        source=source,
    )


def read_prices(file: Traversable) -> list[Price]:
    """Read a table: TOML, `[[price]]` with the fields of Price. Raises InputError."""
    try:
        return msgspec.convert(tomllib.loads(file.read_text("utf-8")), _PriceTable).price
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(file)) from error
    except (ValueError, RecursionError) as error:  # msgspec's too
        raise InputError(f"is not a table of prices: {error}", file=str(file)) from error


def remembered(value: Any) -> Price | None:
    """Return the price that a run was begun with; None if it had none. Raises InputError."""
    try:
        return None if value is None else msgspec.convert(value, Price)
    except msgspec.ValidationError as error:
        raise InputError(f"the price in a run's record: {error}") from error
