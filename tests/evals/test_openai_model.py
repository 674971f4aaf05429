"""The model behind a server: real sockets, a server that misbehaves in every way met so far."""

import asyncio
import json
import socket
import threading
from dataclasses import replace

import pytest
from stub import Call, Handler, completion, serving

from proctor.errors import (
    ModelFault,
    ModelRefused,
    ModelReplyBroken,
    ModelStalled,
    ModelUnreachable,
    SettingsError,
)
from proctor.evals.models.connections import Retry
from proctor.evals.models.model import Message, ModelReply, ModelRequest, ModelTool, Sampling
from proctor.evals.models.openai import Endpoint, OpenAIModel
from proctor.evals.models.wire import LONGEST_REPLY

REQUEST = ModelRequest((Message("user", "Add."),), "sum", 2, Sampling(0.5, 0.9, 100, 7, ("###",)))


class Waits(list[float]):
    """Takes note of waits instead of waiting."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


def ask(
    url: str, request: ModelRequest = REQUEST, *, attempts: int = 1, timeout: float = 30.0,
    waits: Waits | None = None,
) -> ModelReply:  # fmt: skip
    async def once() -> ModelReply:
        endpoint = Endpoint("stub", url, "key", timeout)
        model = OpenAIModel(endpoint, Retry(waits if waits is not None else Waits(), attempts))
        try:
            return await model.generate(request)
        finally:
            await model.close()

    return asyncio.run(once())


def test_what_is_sent_and_what_is_read() -> None:
    """Against a reply as servers write it, thoughts and token counts included."""
    with serving(lambda call: call.reply("Hi", reasoning_content="Hm.")) as server:
        reply = ask(server.url)
        body = server.bodies[0]
    assert body == {
        "model": "stub", "messages": [{"role": "user", "content": "Add."}], "temperature": 0.5,
        "top_p": 0.9, "max_tokens": 100, "seed": 9, "stop": ["###"],
    }  # fmt: skip
    assert (reply.text, reply.reasoning, reply.finish_reason) == ("Hi", "Hm.", "stop")
    assert (reply.usage.prompt, reply.usage.completion, reply.usage.reasoning) == (100, 20, 5)


def test_a_text_is_completed() -> None:
    """One message of role text goes to the completions API; nothing else can go with it."""
    text = {"choices": [{"index": 0, "text": " 4", "finish_reason": "length"}]}
    with serving(lambda call: call.send(json.dumps(text).encode())) as stub:
        reply = ask(stub.url, replace(REQUEST, messages=(Message("text", "2 + 2 ="),)))
        (body,) = stub.bodies
        with pytest.raises(SettingsError, match="no other messages"):
            ask(stub.url, replace(REQUEST, messages=(*REQUEST.messages, Message("text", "2"))))
    assert (body["prompt"], "messages" in body) == ("2 + 2 =", False)
    assert (reply.text, reply.finish_reason) == (" 4", "length")


def test_content_as_a_list_of_parts() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    with serving(lambda call: call.reply(parts)) as server:  # type: ignore[arg-type]
        assert ask(server.url).text == "ab"


def test_tool_calls() -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "submit", "arguments": "{}"}}]
    request = ModelRequest((Message("user", "x"),), "p", tools=(ModelTool("submit", "Hand in."),))
    with serving(lambda call: call.reply(None, tool_calls=calls)) as server:
        reply = ask(server.url, request)
        assert server.bodies[0]["tools"][0]["function"]["name"] == "submit"
    assert [(call.id, call.name) for call in reply.tool_calls] == [("c1", "submit")]
    assert reply.text == ""


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (lambda call: call.send(b"<html>Oops</html>", kind="text/html"), ModelReplyBroken, "HTML"),
        (lambda call: call.send(b'{"choices": [{"mess'), ModelReplyBroken, "not a completion"),
        (lambda call: call.send(b'{"choices": []}'), ModelReplyBroken, "no choices"),
        (lambda call: call.send(b"[]"), ModelReplyBroken, "not a completion"),
        (lambda call: call.send(b'{"error": {"message": "busy"}}'), ModelRefused, "busy"),
        (lambda call: call.send(b"boom", status=500, kind="text/plain"), ModelRefused, "500: boom"),
        (lambda call: call.send(b'{"error": "x"}', status=404), ModelRefused, "404"),
        (lambda call: call.reply("x" * (LONGEST_REPLY + 1)), ModelReplyBroken, "longer than"),
        (lambda call: call.connection.shutdown(socket.SHUT_RDWR), ModelUnreachable, "rotocol|isconnect|closed|reset"),
    ],
)  # fmt: skip
def test_each_misfortune_has_a_name(answer: Handler, kind: type[ModelFault], words: str) -> None:
    with serving(answer) as server, pytest.raises(kind, match=words):
        ask(server.url)


def test_a_reply_that_breaks_off() -> None:
    def answer(call: Call) -> None:
        call.send_response(200)
        call.send_header("content-type", "application/json")
        call.send_header("content-length", "1000")
        call.end_headers()
        call.wfile.write(b'{"choices"')
        call.close_connection = True

    with serving(answer) as server, pytest.raises(ModelUnreachable):
        ask(server.url)


def test_a_server_that_trickles_is_stopped() -> None:
    """The client's own time-out starts anew with every byte; defect 14 was a time-out nobody read."""
    ended = threading.Event()

    def answer(call: Call) -> None:
        call.send_response(200)
        call.send_header("content-type", "application/json")
        call.end_headers()
        while not ended.wait(0.02):
            call.wfile.write(b" ")
            call.wfile.flush()

    with serving(answer) as server:
        try:
            with pytest.raises(ModelStalled, match=r"within 0\.5 s"):
                ask(server.url, timeout=0.5)
        finally:
            ended.set()


def test_nobody_there() -> None:
    with pytest.raises(ModelUnreachable):
        ask("http://127.0.0.1:9/v1")


def test_asking_again_obeys_the_server() -> None:
    answers: list[Handler] = [
        lambda call: call.send(b"slow down", status=429, retry_after="3"),
        lambda call: call.send(b"", status=503),
        lambda call: call.reply("at last"),
    ]
    waits = Waits()

    def answer(call: Call) -> None:
        answers.pop(0)(call)

    with serving(answer) as server:
        assert ask(server.url, attempts=5, waits=waits).text == "at last"
        assert list(server.calls.values()) == [3], "the same idempotency key each time"
    assert 3.0 <= waits[0] <= 3.5, "not all at the same moment"
    assert 0 <= waits[1] <= 1.0


def test_a_refusal_is_final() -> None:
    with serving(lambda call: call.send(b"no such model", status=404)) as server:
        with pytest.raises(ModelRefused):
            ask(server.url, attempts=5)
        assert server.calls.total() == 1


def test_the_runs_budget_bounds_all_requests() -> None:
    async def many(url: str) -> None:
        retry = Retry(Waits(), attempts=10, budget=4)
        model = OpenAIModel(Endpoint("stub", url, "key"), retry)
        for _ in range(3):
            with pytest.raises(ModelRefused):
                await model.generate(REQUEST)
        await model.close()

    with serving(lambda call: call.send(b"", status=500)) as server:
        asyncio.run(many(server.url))
        assert server.calls.total() == 3 + 4


def test_the_newer_name_of_the_token_limit() -> None:
    def answer(call: Call) -> None:
        if "max_tokens" in call.body:
            call.send(b'{"error": {"message": "use max_completion_tokens"}}', status=400)
        else:
            call.reply("yes")

    with serving(answer) as server:
        assert ask(server.url).text == "yes"
        assert server.bodies[-1]["max_completion_tokens"] == 100


def test_secrets_in_an_address_are_refused() -> None:
    with pytest.raises(SettingsError, match="OPENAI_API_KEY"):
        Endpoint("m", "http://me:secret@host/v1")
    assert "secret" not in repr(Endpoint("m", "http://host/v1", "secret"))
    with pytest.raises(SettingsError, match="OPENAI_API_KEY"):
        Endpoint("m")


def test_the_stub_speaks_as_the_official_schema_has_it() -> None:
    """Else our tests would prove agreement with ourselves only."""
    from openai.types.chat import ChatCompletion

    parsed = ChatCompletion.model_validate(completion("Hi"), strict=True)
    assert parsed.choices[0].message.content == "Hi"
