"""Replies as they come over the wire, and what is wrong with them.

Compatible servers differ: content may be null or a list of parts, thoughts stand under
`reasoning_content` or `reasoning`, usage may be missing, and an error may come with status 200.
"""

import json
from collections.abc import Collection
from typing import Any, TypeVar

import msgspec

from proctor.errors import ModelRefused, ModelReplyBroken
from proctor.evals.models.model import ModelReply, TokenUsage, ToolCall
from proctor.evals.models.refusals import one_line
from proctor.json_values import has_more_values


class _ContentPart(msgspec.Struct):
    type: str = "text"
    text: str | None = None


class _Function(msgspec.Struct):
    name: str = ""
    arguments: str | dict[str, Any] = "{}"


class _ToolCall(msgspec.Struct):
    function: _Function
    id: str = ""


class _Message(msgspec.Struct):
    content: str | list[_ContentPart] | None = None
    reasoning_content: str | None = None
    reasoning: Any = None
    tool_calls: list[_ToolCall] | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _Message | None = None
    text: str | None = None
    """Text of a choice of the completions API, in place of a message."""
    index: int = 0
    finish_reason: str | None = None


class _CompletionDetails(msgspec.Struct):
    reasoning_tokens: int | None = None


class _PromptDetails(msgspec.Struct):
    cached_tokens: int | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    completion_tokens_details: _CompletionDetails | None = None
    prompt_tokens_details: _PromptDetails | None = None


class _Completion(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    error: Any = None


class _Listed(msgspec.Struct):
    id: str = ""


class _Listing(msgspec.Struct):
    data: list[_Listed] | None = None


LONGEST_REPLY = 8 << 20
"""Most bytes of one HTTP reply; a million tokens take about half of it."""
MOST_VALUES = 1 << 21
"""JSON values of one answer at most: each may become an object, of some 50 bytes and more."""
_COMPLETION = msgspec.json.Decoder(_Completion)
_LISTING = msgspec.json.Decoder(_Listing)
_SHOWN = 80
_SEARCHED = 1 << 20
"""Bytes of a broken answer that are searched for secrets, far more than are shown."""
_T = TypeVar("_T")


def replies(body: bytes, n: int, seconds: float, secrets: Collection[str]) -> list[ModelReply]:
    """Return the choices of a completion, n at most. Raises ModelFault if none can be read.

    What a fault shows of the body has no secrets in it.
    """
    try:
        return _replies(decoded(body, _COMPLETION), n, seconds, secrets)
    except (ValueError, RecursionError) as error:
        start = start_of(body, secrets)
        if start.startswith("<"):
            raise ModelReplyBroken(
                f"the server sends HTML or XML instead of JSON: {start!r}"
            ) from error
        why = one_line(str(error), secrets)
        raise ModelReplyBroken(f"the reply is not a completion ({why}): {start!r}") from error


def _replies(
    completion: _Completion, n: int, seconds: float, secrets: Collection[str]
) -> list[ModelReply]:
    if completion.error:
        said = one_line(_message(completion.error), secrets)
        raise ModelRefused(f"the server answers with an error: {said}")
    if not completion.choices:
        raise ModelReplyBroken("the reply has no choices")
    choices = sorted(completion.choices[:n], key=lambda choice: choice.index)
    if any(each.message is None and each.text is None for each in choices):
        raise ValueError("a choice has neither message nor text")
    usages = _shares(_usage(completion.usage), len(choices))
    return [_reply(*each, seconds) for each in zip(choices, usages, strict=True)]


def decoded(body: bytes, decoder: msgspec.json.Decoder[_T]) -> _T:
    """Decode JSON in which a model's text may end in half a character.

    Raises ValueError, which includes msgspec's and Unicode's errors, or RecursionError.
    """
    if has_more_values(body, MOST_VALUES):
        raise ValueError(f"more than {MOST_VALUES} JSON values")
    try:
        return decoder.decode(body)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:  # raised for a lone surrogate too
        return msgspec.convert(json.loads(body), decoder.type)


def _reply(choice: _Choice, usage: TokenUsage, seconds: float) -> ModelReply:
    message = choice.message or _Message(choice.text)
    return ModelReply(
        text=_text(message.content) or message.refusal or "",
        reasoning=message.reasoning_content or _string(message.reasoning),
        usage=usage,
        finish_reason=choice.finish_reason or "",
        tool_calls=tuple(
            map(_call, range(len(message.tool_calls or ())), message.tool_calls or ())
        ),
        seconds=seconds,
    )


def model_names(body: bytes) -> list[str] | None:
    """Ids of a list of models; None if it is not a JSON object."""
    try:
        listing = decoded(body, _LISTING)
    except (ValueError, RecursionError):
        return None
    return [each.id for each in listing.data or () if each.id]


def start_of(body: bytes, secrets: Collection[str]) -> str:
    """Return the start of an answer, of 80 characters, to be shown."""
    return one_line(body[:_SEARCHED].decode("utf-8", "replace"), secrets, _SHOWN)


def _text(content: str | list[_ContentPart] | None) -> str:
    if isinstance(content, list):
        return "".join(part.text or "" for part in content)
    return content or ""


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _message(error: Any) -> str:
    message = error.get("message") if isinstance(error, dict) else None
    return str(message or error)


def _usage(usage: _Usage | None) -> TokenUsage:
    if usage is None:
        return TokenUsage()
    written, read = usage.completion_tokens_details, usage.prompt_tokens_details
    return TokenUsage(
        usage.prompt_tokens,
        usage.completion_tokens,
        written.reasoning_tokens if written else None,
        read.cached_tokens if read else None,
    )


def _shares(usage: TokenUsage, n: int) -> list[TokenUsage]:
    """Divide the tokens of one request among its replies; see ManyAtOnce."""

    def share(count: int | None, number: int) -> int | None:
        return None if count is None else count // n + (count % n if number == 0 else 0)

    def once(count: int | None, number: int) -> int | None:
        return None if count is None else count * (number == 0)

    return [
        TokenUsage(
            once(usage.prompt, number),
            share(usage.completion, number),
            share(usage.reasoning, number),
            once(usage.cached, number),
        )
        for number in range(n)
    ]


def _call(number: int, call: _ToolCall) -> ToolCall:
    arguments = call.function.arguments
    if not isinstance(arguments, str):  # some servers send it parsed
        arguments = json.dumps(arguments)  # escapes half a surrogate pair
    return ToolCall(call.id or f"call_{number}", call.function.name, arguments)
