"""Replies that runs share: found by the whole request, and by nothing less."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from answers import right_reply
from proctor_command import Proctor, report
from stub import Call, serving

from proctor.errors import InputError, ModelAbsent, ModelFault
from proctor.evals.models.kept_replies import FILE, KeptReplies
from proctor.evals.models.model import (
    Message,
    ModelReply,
    ModelRequest,
    ModelTool,
    Sampling,
    TokenUsage,
    ToolCall,
)
from proctor.evals.models.scripted import ScriptedModel

REQUEST = ModelRequest((Message("user", "Add."),), "sum", 2, Sampling(0.5, seed=7))
SERVER = {"model": "m", "address": "http://one/v1", "headers": {}}


class Counting(ScriptedModel):
    """Counts what it is asked."""

    def __init__(self) -> None:
        self.asked = 0
        super().__init__(self._reply)

    def _reply(self, _request: ModelRequest) -> ModelReply:
        self.asked += 1
        return ModelReply(f"reply {self.asked}")


def ask(
    model: ScriptedModel, directory: Path, request: ModelRequest = REQUEST,
    server: dict[str, object] = SERVER,
) -> ModelReply:  # fmt: skip
    async def once() -> ModelReply:
        kept = KeptReplies(model, directory, server)
        try:
            return await kept.generate(request)
        finally:
            await kept.close()

    return asyncio.run(once())


def test_the_same_request_is_asked_once(tmp_path: Path) -> None:
    model = Counting()
    assert ask(model, tmp_path) == ask(model, tmp_path) == ModelReply("reply 1")
    assert model.asked == 1


def test_of_another_problem_too(tmp_path: Path) -> None:
    """The name of a problem is no part of what the model is sent."""
    model = Counting()
    ask(model, tmp_path)
    ask(model, tmp_path, replace(REQUEST, problem_id="other"))
    assert model.asked == 1


@pytest.mark.parametrize(
    "request_",
    [
        replace(REQUEST, sample=3),
        replace(REQUEST, messages=(Message("user", "Add!"),)),
        replace(REQUEST, messages=(Message("system", "Add."),)),
        replace(REQUEST, sampling=Sampling(0.6, seed=7)),
        replace(REQUEST, sampling=Sampling(0.5, seed=8)),
        replace(REQUEST, sampling=Sampling(0.5, seed=7, extra_body={"a": 1})),
        replace(REQUEST, sampling=Sampling(0.5, seed=7, chat_template={"thinking": True})),
        replace(REQUEST, tools=(ModelTool("submit", "Hand in."),)),
    ],
)
def test_another_request_is_asked(tmp_path: Path, request_: ModelRequest) -> None:
    model = Counting()
    ask(model, tmp_path)
    ask(model, tmp_path, request_)
    assert model.asked == 2


@pytest.mark.parametrize("name", ["model", "address", "headers"])
def test_another_server_is_asked(tmp_path: Path, name: str) -> None:
    model = Counting()
    ask(model, tmp_path)
    ask(model, tmp_path, server=SERVER | {name: "other"})
    assert model.asked == 2


def test_a_reply_is_kept_whole(tmp_path: Path) -> None:
    """With its tokens and calls, and half a character, which JSON's encoders refuse."""
    reply = ModelReply(
        "a\ud800",
        "b",
        TokenUsage(1, 2, None, 3),
        "stop",
        (ToolCall("c", "submit", "{"),),
        None,
        1.5,
    )
    assert ask(ScriptedModel(lambda _: reply), tmp_path) == reply
    assert ask(Counting(), tmp_path) == reply


def test_faults_are_not_kept(tmp_path: Path) -> None:
    def refuse(_request: ModelRequest) -> ModelReply:
        raise ModelAbsent("no")

    with pytest.raises(ModelFault):
        ask(ScriptedModel(refuse), tmp_path)
    assert ask(Counting(), tmp_path).text == "reply 1"


def test_a_directory_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be used as a cache"):
        ask(Counting(), tmp_path / "file")
    (tmp_path / "odd").mkdir(mode=0o700)
    (tmp_path / "odd" / FILE).write_bytes(b"no database" * 100)
    (tmp_path / "odd" / FILE).chmod(0o600)
    with pytest.raises(InputError, match="is not a cache, or damaged"):
        ask(Counting(), tmp_path / "odd")


def right(call: Call) -> None:
    call.reply(right_reply(call.body["messages"][-1]["content"]))


@pytest.mark.slow
@pytest.mark.parametrize("together", ["1", "2"])
def test_a_second_run_asks_for_what_is_new(proctor: Proctor, tmp_path: Path, together: str) -> None:
    """Two samples of four problems, then three: four requests more, and the same score."""
    arguments = ("eval", "livecodebench", "--model", "stub", "--reply-cache", tmp_path / "replies",
                 "--request-n", together, "--json")  # fmt: skip
    with serving(right) as stub:
        server = ("--base-url", stub.url)
        report(proctor(*arguments, *server, "--n", "2", "--out", tmp_path / "one"))
        before = len(stub.bodies)
        done = proctor(*arguments, *server, "--n", "3", "--out", tmp_path / "two")
        found = report(done)
        again = proctor(*arguments, *server, "--n", "3", "--out", tmp_path / "three")
        assert (before, len(stub.bodies)) == (8, 12)
    assert "8 replies were in" in done.stderr
    assert "12 replies were in" in again.stderr
    assert found["standard"]["passed"] == 12
    assert found["completion_tokens"] == 12 * 20
