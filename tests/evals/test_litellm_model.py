"""Models by LiteLLM: the real library, against servers that speak two providers' APIs."""

import asyncio
import gc
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from answers import right_reply
from proctor_command import Proctor, report
from stub import Call, Handler, serving

from proctor.errors import (
    ModelFault,
    ModelRefused,
    ModelReplyBroken,
    ModelStalled,
    ModelUnreachable,
    SettingsError,
)
from proctor.evals.models.connections import Retry
from proctor.evals.models.litellm import LiteLLMModel, LiteLLMOptions
from proctor.evals.models.model import Message, ModelReply, ModelRequest, ModelTool, Sampling
from proctor.evals.models.wire import LONGEST_REPLY

# Its own and pydantic's, about things that are not ours.
pytestmark = [
    pytest.mark.package("litellm"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
KEYS = {"OPENAI_API_KEY": "sk-open-secret", "ANTHROPIC_API_KEY": "sk-anthropic-secret"}
CLAUDE = "anthropic/claude-sonnet-4-5"
REQUEST = ModelRequest(
    (Message("system", "Be short."), Message("user", "Add.")), "sum", 2,
    Sampling(0.5, None, 100, stop=("###",)),
)  # fmt: skip


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    yield
    gc.collect()  # here, where warnings of what it does not close are ignored


async def _nothing(_seconds: float) -> None:
    pass


def ask(
    model: str, url: str, request: ModelRequest = REQUEST, *, attempts: int = 1,
    timeout: float = 60.0,
) -> ModelReply:  # fmt: skip
    async def once() -> ModelReply:
        options = LiteLLMOptions(model, url, timeout, {"X-Team": "blue"}, connections=1)
        opened = LiteLLMModel(options, KEYS, Retry(_nothing, attempts))
        try:
            assert await opened.probe() is None
            return await opened.generate(request)
        finally:
            await opened.close()

    return asyncio.run(once())


def anthropic(*content: dict[str, Any], stop_reason: str = "end_turn") -> Handler:
    """Answer as Anthropic's Messages API does."""
    body = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
        "content": list(content), "stop_reason": stop_reason, "stop_sequence": None,
        "usage": {"input_tokens": 70, "output_tokens": 20, "cache_read_input_tokens": 30,
                  "cache_creation_input_tokens": 0},
    }  # fmt: skip
    return lambda call: call.send(json.dumps(body).encode())


def test_openai_shaped() -> None:
    def answer(call: Call) -> None:
        call.reply("Hi", reasoning_content="Hm.")

    with serving(answer) as server:
        request = replace(REQUEST, sampling=replace(REQUEST.sampling, seed=7, top_p=0.9))
        reply = ask("openai/stub", server.url, request)
        (body,) = server.bodies
        assert server.keys == ["Bearer sk-open-secret"]
    assert body == {
        "model": "stub", "temperature": 0.5, "top_p": 0.9, "max_tokens": 100, "seed": 9,
        "stop": ["###"], "messages": [{"role": "system", "content": "Be short."},
                                      {"role": "user", "content": "Add."}],
    }  # fmt: skip
    assert (reply.text, reply.reasoning, reply.finish_reason) == ("Hi", "Hm.", "stop")
    assert (reply.usage.prompt, reply.usage.completion, reply.usage.reasoning) == (100, 20, 5)


def test_anthropic() -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "x"}
    with serving(anthropic(thought, {"type": "text", "text": "Hi"})) as server:
        reply = ask(CLAUDE, server.url.removesuffix("/v1"))
        (body,) = server.bodies
    assert body["model"] == "claude-sonnet-4-5"
    assert body["messages"][0]["role"] == "user"
    assert "Be short." in json.dumps(body["system"])
    assert (body["temperature"], body["max_tokens"]) == (0.5, 100)
    assert body["stop_sequences"] == ["###"]
    assert (reply.text, reply.reasoning, reply.finish_reason) == ("Hi", "Hm.", "stop")
    assert (reply.usage.prompt, reply.usage.completion, reply.usage.cached) == (100, 20, 30)


def test_cut_short_and_tools() -> None:
    with serving(anthropic({"type": "text", "text": "Hi"}, stop_reason="max_tokens")) as server:
        assert ask(CLAUDE, server.url.removesuffix("/v1")).finish_reason == "length"
    call = {"type": "tool_use", "id": "t1", "name": "submit", "input": {"a": 1}}
    with serving(anthropic(call, stop_reason="tool_use")) as server:
        request = replace(REQUEST, tools=(ModelTool("submit", "Hand in."),))
        (made,) = ask(CLAUDE, server.url.removesuffix("/v1"), request).tool_calls
        (body,) = server.bodies
    assert (made.name, json.loads(made.arguments)) == ("submit", {"a": 1})
    assert body["tools"][0]["name"] == "submit"


def test_a_text_is_completed() -> None:
    body = {
        "id": "cmpl-1", "object": "text_completion", "created": 1, "model": "stub",
        "choices": [{"index": 0, "text": " 4", "finish_reason": "length", "logprobs": None}],
    }  # fmt: skip
    with serving(lambda call: call.send(json.dumps(body).encode())) as server:
        request = replace(REQUEST, messages=(Message("text", "2 + 2 ="),))
        reply = ask("text-completion-openai/stub", server.url, request)
        assert server.bodies[0]["prompt"] in ("2 + 2 =", ["2 + 2 ="])
    assert (reply.text, reply.finish_reason) == (" 4", "length")


def test_options_of_a_user_are_sent_on() -> None:
    sampling = Sampling(
        top_k=40, min_p=0.1, chat_template={"enable_thinking": False}, extra_body={"top_a": 0.2}
    )
    with serving(lambda call: call.reply("Hi")) as server:
        ask("hosted_vllm/stub", server.url, replace(REQUEST, sampling=sampling))
        (body,) = server.bodies
    sent = {name: body[name] for name in ("top_k", "min_p", "chat_template_kwargs", "top_a")}
    assert sent == {"top_k": 40, "min_p": 0.1, "chat_template_kwargs": {"enable_thinking": False},
                    "top_a": 0.2}  # fmt: skip


@pytest.mark.parametrize(
    ("status", "passing", "busy"),
    [(400, False, False), (401, False, False), (429, True, True), (500, True, False)],
)
def test_refusals(status: int, passing: bool, busy: bool) -> None:
    """A refusal is one fault with what the server says, and without the key."""
    said = json.dumps({"error": {"message": "no sk-open-secret", "type": "x"}}).encode()
    with serving(lambda call: call.send(said, status)) as server:
        with pytest.raises(ModelRefused, match=rf"answers {status}: .*no \*\*\*") as caught:
            ask("openai/stub", server.url)
        assert len(server.bodies) == 1, "LiteLLM's own retries are off"
    assert (caught.value.passing, caught.value.busy) == (passing, busy)


def test_asked_again_and_then_right() -> None:
    left = [503, 500]

    def answer(call: Call) -> None:
        if left:
            call.send(b'{"error":{"message":"later"}}', left.pop())
        else:
            call.reply("Hi")

    with serving(answer) as server:
        assert ask("openai/stub", server.url, attempts=5).text == "Hi"


def _hang(call: Call) -> None:
    call.rfile.read(1)  # until the client goes


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (lambda call: call.send(b"<html>hello</html>", kind="text/html"), ModelFault),
        (lambda call: call.send(b'{"choices": [], "object": "chat.completion"}'), ModelFault),
        (lambda call: call.reply("x" * (LONGEST_REPLY + 1)), ModelReplyBroken),
    ],
)
def test_what_is_no_reply_is_a_fault(answer: Handler, kind: type[Exception]) -> None:
    with serving(answer) as server, pytest.raises(kind):
        ask("openai/stub", server.url)


def test_a_server_that_hangs_and_one_that_is_not_there() -> None:
    with serving(_hang) as server, pytest.raises(ModelStalled):
        ask("openai/stub", server.url, timeout=0.5)
    with pytest.raises((ModelUnreachable, ModelRefused), match=r"[Cc]onnect"):
        ask("openai/stub", server.url)


def test_a_provider_that_is_none_and_a_key_that_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(SettingsError, match="knows no provider of 'nobody/x'"):
        ask("nobody/x", "")
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(ModelRefused, match="needs ANTHROPIC_API_KEY in the environment"):
        ask(CLAUDE, "")


def _answer(call: Call) -> None:
    prompt = "".join(
        part if isinstance(part, str) else part["text"]
        for message in call.body["messages"]
        for part in ([message["content"]] if isinstance(message["content"], str)
                     else message["content"])
    )  # fmt: skip
    anthropic({"type": "text", "text": right_reply(prompt)})(call)


def test_a_run(proctor: Proctor, tmp_path: Path) -> None:
    """The command, over Anthropic's API: all right, with LiteLLM's price, and no key on the disk."""
    with serving(_answer) as server:
        done = proctor(
            "eval", "livecodebench", "--model", f"litellm:{CLAUDE}", "--base-url",
            server.url.removesuffix("/v1"), "--max-tokens", "1000", "--out", tmp_path / "run",
            "--json",
        )  # fmt: skip
    found = report(done)
    assert found["standard"]["pass_at_k"]["1"] == 1.0
    assert "LiteLLM" in found["price"]["source"]
    # 4 x (70 x $3 + 30 x $0.30 + 20 x $15) per million
    assert found["cost"] == pytest.approx(4 * (70 * 3 + 30 * 0.3 + 20 * 15) / 1e6)
    kept = b"".join(path.read_bytes() for path in (tmp_path / "run").iterdir())
    assert b"secret" not in kept + (done.stdout + done.stderr).encode()


def test_two_models_of_one_provider(proctor: Proctor, tmp_path: Path) -> None:
    """LiteLLM shares clients between models; the second must not get one that is closed."""
    with serving(_answer) as server:
        models = [f"--model=litellm:anthropic/claude-{name}" for name in ("opus-4-1", "sonnet-4-5")]
        done = proctor(
            "eval", "livecodebench", *models, "--base-url", server.url.removesuffix("/v1"),
            "--max-tokens", "1000", "--max-retries", "0", "--out", tmp_path / "runs", "--json",
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [each["standard"]["passed"] for each in json.loads(done.stdout)["runs"]] == [4, 4]
