"""A model whose replies are a function of the request."""

from collections.abc import Callable
from dataclasses import dataclass

from proctor.evals.models.model import ModelReply, ModelRequest


@dataclass(slots=True)
class ScriptedModel:
    """Answers with what `script` returns; counts how often it was asked."""

    script: Callable[[ModelRequest], ModelReply | str]
    name: str = "scripted"
    calls: int = 0

    async def probe(self) -> str | None:
        return None

    async def generate(self, request: ModelRequest) -> ModelReply:
        self.calls += 1
        reply = self.script(request)
        return ModelReply(reply, finish_reason="stop") if isinstance(reply, str) else reply

    def recorded(self, problem_id: str) -> int | None:  # noqa: ARG002 - any number of any
        return None

    async def close(self) -> None:
        return None
