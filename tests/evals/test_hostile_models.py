"""Answers of model servers that are made to take memory, to be no text, or to keep a secret."""

import asyncio
import json
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle

import pytest
from stub import Call, serving

from proctor.errors import ModelFault, ModelRefused, ModelReplyBroken
from proctor.evals.batches import anthropic, openai
from proctor.evals.models import wire
from proctor.evals.models.connections import Retry
from proctor.evals.models.model import Message, ModelReply, ModelRequest, Sampling
from proctor.evals.models.openai import Endpoint, OpenAIModel
from proctor.evals.models.refusals import secrets_of
from proctor.evals.models.wire import LONGEST_REPLY

REQUEST = ModelRequest((Message("user", "Add."),), "sum", 0, Sampling())
KEY, OTHER = "sk-one-very-secret/key", 'oth"er-/secret'
PADDED = (*range(40, 81, 7), *range(251, 301, 7))
"""Characters before secrets, so that a cut at 80 or at 300 characters falls within them."""


def pieces(text: str) -> list[str]:
    """Return parts of the secrets that are in a text."""
    parts = (each[at : at + 6] for each in (KEY, OTHER) for at in range(len(each) - 5))
    return [part for part in parts if part in text]


def refused(call: Call, said: str) -> None:
    call.send(said.encode(), 400, "text/plain")


def refused_in_json(call: Call, said: str) -> None:
    call.send(json.dumps({"error": {"message": said}}).encode(), 400)


def with_an_error(call: Call, said: str) -> None:
    call.send(json.dumps({"error": {"message": said}}).encode())


def no_json(call: Call, said: str) -> None:
    call.send(said.encode())


def echoing(answer: Callable[[Call, str], None]) -> Callable[[Call], None]:
    """Answer with what a request has of secrets, at another place each time."""
    padding: Iterator[int] = cycle(PADDED)

    def handle(call: Call) -> None:
        key = call.headers.get("x-api-key") or call.headers["authorization"].split()[1]
        length = next(padding)
        blanks = " " * (5000 if length % 2 else 0)  # are no part of what is shown
        answer(call, "x" * length + blanks + key + call.headers["x-other"])

    return handle


@pytest.mark.parametrize("answer", [refused, refused_in_json, with_an_error, no_json])
def test_a_secret_that_a_cut_falls_into_is_masked(answer: Callable[[Call, str], None]) -> None:
    async def faults(url: str) -> None:
        endpoint = Endpoint("stub", url, KEY, headers={"X-Other": OTHER})
        model = OpenAIModel(endpoint, Retry(asyncio.sleep, 1))
        batches = anthropic.AnthropicBatches(endpoint)
        asking = (partial(model.generate, REQUEST), partial(batches.state, "b"))
        for ask in (each for each in asking for _ in PADDED):
            with pytest.raises(ModelFault) as fault:
                await ask()
            assert pieces(str(fault.value)) == []
        await model.close()
        await batches.close()

    with serving(echoing(answer)) as stub:
        stub.listing = stub.answer
        asyncio.run(faults(stub.url))


def of_openai(said: str) -> bytes:
    return json.dumps({"response": {"status_code": 400, "body": {"error": said}}}).encode()


def of_anthropic(said: str) -> bytes:
    return json.dumps(
        {"result": {"type": "errored", "error": {"error": {"message": said}}}}
    ).encode()


@pytest.mark.parametrize(
    ("read", "line"),
    [
        (openai.reply_of, of_openai), (anthropic.reply_of, of_anthropic),
        (openai.reply_of, str.encode), (anthropic.reply_of, str.encode),
    ],
)  # fmt: skip
def test_lines_of_results_say_no_secret(
    read: Callable[[bytes, list[str]], ModelReply], line: Callable[[str], bytes]
) -> None:
    secrets = secrets_of((f"Bearer {KEY}", OTHER))
    for padding in PADDED:
        with pytest.raises(ModelFault) as fault:
            read(line("x" * padding + KEY + OTHER), secrets)
        assert pieces(str(fault.value)) == []


@pytest.mark.parametrize(
    "body",
    [
        b'{"choices":[%s{}]}' % (b"{}," * (LONGEST_REPLY // 3)),
        b'{"choices":[{"message":{"reasoning":[%s0]}}]}' % (b"[]," * (LONGEST_REPLY // 3)),
        b'{"x":"\\ud800","y":[%s0]}' % (b"{}," * (LONGEST_REPLY // 3)),
    ],
    ids=["choices", "parts", "half a pair"],
)
def test_an_answer_of_too_many_values_is_not_decoded(body: bytes) -> None:
    """Each of them would take many times its size in memory."""
    with pytest.raises(ModelReplyBroken, match="JSON values"):
        wire.replies(body, 8, 0.0, ())


def test_choices_that_were_not_asked_for_are_not_looked_at() -> None:
    body = b'{"choices":[{"index":1,"text":"b"},{"index":0,"text":"a"},{}]}'
    assert [each.text for each in wire.replies(body, 2, 0.0, ())] == ["a", "b"]


def test_half_a_surrogate_pair_in_the_arguments_of_a_call() -> None:
    arguments = b'{"name":"f","arguments":{"a":"\\ud800"}}'
    body = b'{"choices":[{"message":{"tool_calls":[{"function":%s}]}}]}' % arguments
    (reply,) = wire.replies(body, 1, 0.0, ())
    assert json.loads(reply.tool_calls[0].arguments) == {"a": "\ud800"}


@pytest.mark.parametrize("deep", [b"[" * 900 + b"]" * 900, b'{"a":' * 900 + b"1" + b"}" * 900])
def test_an_error_or_a_call_that_is_nested_deep_is_a_fault(deep: bytes) -> None:
    call = b'{"choices":[{"message":{"tool_calls":[{"function":{"arguments":{"a":%s}}}]}}]}'
    for body in (b'{"a":"\\ud800","error":%s}' % deep, call % deep):
        try:
            wire.replies(body, 1, 0.0, ())
        except (ModelRefused, ModelReplyBroken) as fault:
            str(fault).encode()


def test_an_error_with_half_a_surrogate_pair_is_text() -> None:
    with pytest.raises(ModelRefused) as fault:
        wire.replies(b'{"error":{"message":"\\ud800"}}', 1, 0.0, ())
    assert str(fault.value).encode()
