"""Spending of an evaluation so far, for the line below its progress."""

from proctor.evals.models.model import Model, Observed, TokenUsage
from proctor.evals.prices import remembered
from proctor.evals.run import Done
from proctor.evals.store import RunStore
from proctor.evals.stored import Generation


class Spending:
    """Tokens and their cost, with those already in the store, and how requests fare."""

    def __init__(self, store: RunStore, model: Model) -> None:
        """Begin with the tokens that the store has."""
        self._price = remembered(store.recall("price"))
        self._model = model
        self._tokens = store.tokens()

    def add(self, done: Done) -> None:
        """Add the tokens of a sample, if the model was asked for it."""
        made, before = done.generation, self._tokens
        if made is None or made.prompt_tokens is None or made.completion_tokens is None:
            return
        self._tokens = TokenUsage(
            (before.prompt or 0) + made.prompt_tokens,
            (before.completion or 0) + made.completion_tokens,
            cached=(before.cached or 0) + min(made.prompt_tokens, made.cached_tokens or 0),
        )

    @property
    def cost(self) -> float | None:
        """US dollars so far; None without a price."""
        tokens = self._tokens
        if self._price is None:
            return None
        return self._price.cost(
            Generation(
                "", 0, prompt_tokens=tokens.prompt, completion_tokens=tokens.completion,
                cached_tokens=tokens.cached,
            )
        )  # fmt: skip

    def line(self) -> str:
        """Return the line; empty where no server is asked and no token counted."""
        tokens, parts = self._tokens, list[str]()
        if tokens.completion:
            parts.append(f"{tokens.prompt:,} tokens in, {tokens.completion:,} out")
            if (cost := self.cost) is not None:
                parts.append(f"${cost:.4f}")
        if isinstance(self._model, Observed):
            traffic = self._model.traffic
            parts.append(f"too busy {traffic.too_busy}, retries {traffic.retries}")
            parts.append(f"at most {traffic.limit} requests at once")
        return "; ".join(parts)
