"""The contract of a model, which every adapter to a server implements.

An adapter of your own is a class with `name`, `generate`, `probe` and `close`; see `Model`.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

import msgspec

from proctor.shown import counted, quoted, shown
from proctor.text import well_formed

_COUNTABLE = 1 << 63
"""Tokens that a server may claim and a store can hold."""
Role = Literal["system", "user", "assistant", "tool", "text"]
"""Role of a message. A prompt for the completions API is one message of role `text`."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model wants called."""

    id: str
    name: str
    arguments: str
    """JSON, as the model wrote it: it may be broken."""

    def __post_init__(self) -> None:
        _make_well_formed(self, "id", "name", "arguments")


@dataclass(frozen=True, slots=True, repr=False)
class Message:
    """One turn of a conversation with a model."""

    role: Role
    """Speaker: `system`, `user`, `assistant` or `tool`; `text` for a text to be completed."""
    content: str
    """Text of the turn."""
    tool_calls: tuple[ToolCall, ...] = ()
    """Calls of tools that an assistant's turn asks for."""
    tool_call_id: str = ""
    """Id of the call that a message of role `tool` answers."""

    def __repr__(self) -> str:
        calls = counted(len(self.tool_calls), "tool call") if self.tool_calls else ""
        return shown(self, self.role, quoted(self.content, 60), calls)


@dataclass(frozen=True, slots=True)
class ModelTool:
    """A tool on offer; `parameters` is a JSON Schema."""

    name: str
    description: str
    parameters: Mapping[str, Any] = field(
        default_factory=lambda: {"type": "object", "properties": {}}
    )


@dataclass(frozen=True, slots=True)
class Sampling:
    """How replies are drawn; None leaves it to the server."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    """Completion tokens, those of the reasoning included."""
    seed: int | None = None
    """Seed of sample 0; sample i is requested with seed + i."""
    stop: tuple[str, ...] = ()
    top_k: int | None = None
    min_p: float | None = None
    reasoning_effort: str | None = None
    """Word for how long to think: low, medium, high, or another that the server knows."""
    chat_template: Mapping[str, Any] = field(default_factory=dict)
    """Switches of the model's chat template, such as enable_thinking; sent as
    `chat_template_kwargs`."""
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the request's body, JSON values."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One reply wanted: sample `sample` of problem `problem_id`."""

    messages: tuple[Message, ...]
    problem_id: str
    sample: int = 0
    sampling: Sampling = Sampling()
    tools: tuple[ModelTool, ...] = ()

    @property
    def key(self) -> str:
        """Key of the request, by which a repeated one is recognised: 32 hex digits."""
        return request_key(self.problem_id, self.sample, prompt_hash(self.messages))


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens, as the server counts them; None where it does not say."""

    prompt: int | None = None
    completion: int | None = None
    """Completion tokens, those of the reasoning included."""
    reasoning: int | None = None
    cached: int | None = None
    """Prompt tokens read from the server's cache."""

    def __post_init__(self) -> None:
        for name in ("prompt", "completion", "reasoning", "cached"):
            count = getattr(self, name)
            if count is not None and not 0 <= count < _COUNTABLE:
                object.__setattr__(self, name, None)


@dataclass(frozen=True, slots=True, repr=False)
class ModelReply:
    """One reply. Text and code may hold half a surrogate pair, which no Python compiles."""

    text: str
    reasoning: str = ""
    """Thoughts that the server keeps apart from the text."""
    usage: TokenUsage = TokenUsage()
    finish_reason: str = ""
    """Finish reason in the server's words: stop, length, tool_calls, content_filter ..."""
    tool_calls: tuple[ToolCall, ...] = ()
    code: str | None = None
    """The program itself, where a recording holds that and no reply to take it from."""
    seconds: float = 0.0
    """Wall time of the call that succeeded."""

    def __post_init__(self) -> None:
        _make_well_formed(self, "reasoning", "finish_reason")

    def __repr__(self) -> str:
        tokens = self.usage.completion
        return shown(
            self,
            self.finish_reason,
            quoted(self.text) if self.code is None else f"code {quoted(self.code)}",
            counted(len(self.tool_calls), "tool call") if self.tool_calls else "",
            "" if tokens is None else counted(tokens, "token"),
        )


class Model(Protocol):
    """Something that replies. Called from one event loop, with many requests under way at once."""

    @property
    def name(self) -> str:
        """Name in the record. Holds no secret."""
        ...

    async def probe(self) -> str | None:
        """Check that the model is available, within seconds and free of charge.

        Returns a remark or None. Raises ModelFault if no request can succeed.
        """
        ...

    async def generate(self, request: ModelRequest) -> ModelReply:
        """Return one reply. Raises ModelFault if there is none after all sensible retries."""
        ...

    def recorded(self, problem_id: str) -> int | None:
        """Return the number of samples that a problem can have; None for any number."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


@runtime_checkable
class ManyAtOnce(Protocol):
    """A model of which one request can bring several replies."""

    async def generate_many(self, request: ModelRequest, n: int) -> list[ModelReply]:
        """Return 1 to n replies to the request, whose `sample` and seed are those of the first.

        Prompt tokens are counted for the first reply; completion tokens, which servers count for
        all together, are divided evenly, and the first gets what is left over. Raises ModelFault.
        """
        ...


def request_key(problem_id: str, sample: int, prompt: str) -> str:
    """Return the key of a request with the prompt of this hash."""
    text = f"{problem_id}\0{sample}\0{prompt}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class ModelTraffic:
    """Requests to a model's server up to now."""

    too_busy: int
    """Refusals because the server was too busy, such as answers 429."""
    retries: int
    """Requests that were sent again."""
    limit: int
    """Requests that are sent at once at present."""


@runtime_checkable
class Observed(Protocol):
    """A model that reports counts of its requests."""

    @property
    def traffic(self) -> ModelTraffic:
        """Requests up to now. May be read from any thread."""
        ...


def prompt_hash(messages: tuple[Message, ...]) -> str:
    """SHA-256 in hex over the messages as JSON: equal only for the same prompt."""
    return hashlib.sha256(msgspec.json.encode(plain(messages))).hexdigest()


def plain(messages: tuple[Message, ...]) -> list[dict[str, Any]]:
    """Messages as in OpenAI's chat API. Lone surrogates, which no server takes, become `?`."""
    return [_plain(message) for message in messages]


def _plain(message: Message) -> dict[str, Any]:
    found: dict[str, Any] = {"role": message.role, "content": _clean(message.content)}
    if message.tool_calls:
        found["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": _clean(call.arguments)},
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id:
        found["tool_call_id"] = message.tool_call_id
    return found


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _make_well_formed(value: object, *names: str) -> None:
    for name in names:
        object.__setattr__(value, name, well_formed(getattr(value, name)))


# Old names, which work until 1.0.
Request = ModelRequest
Reply = ModelReply
Tool = ModelTool
Usage = TokenUsage
