"""A run against a server that misbehaves at one problem of four: a named fault, and it goes on."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from answers import right_reply
from proctor_command import Proctor
from stub import Call, Handler, serving

from proctor.evals.models.wire import LONGEST_REPLY
from proctor.evals.store import RunStore

TITLE = "Ferry Queue"


@pytest.fixture
def ended() -> Iterator[threading.Event]:
    """Set when the test is over: those who stall do so until then."""
    event = threading.Event()
    yield event
    event.set()


def trickle(call: Call, ended: threading.Event) -> None:
    call.send_response(200)
    call.send_header("content-type", "application/json")
    call.end_headers()
    while not ended.wait(0.05):
        call.wfile.write(b" ")


def half(call: Call, announced: int) -> None:
    """Half a completion; with more announced than comes, the line breaks."""
    body = b'{"id": "x", "choices": [{"index": 0, "message": {"role": "assis'
    call.send_response(200)
    call.send_header("content-type", "application/json")
    call.send_header("content-length", str(max(announced, len(body))))
    call.end_headers()
    call.wfile.write(body)
    call.close_connection = True


def flood(call: Call) -> None:
    """Send until the other end hangs up."""
    call.send_response(200)
    call.send_header("content-type", "application/json")
    call.end_headers()
    while True:
        call.wfile.write(b" " * 65536)


MISDEEDS: dict[str, tuple[Callable[[Call, threading.Event], object], str, str]] = {
    "it stalls": (lambda _call, ended: ended.wait(), "model-stalled", "no whole reply"),
    "it stalls midway": (trickle, "model-stalled", "no whole reply"),
    "it drops": (lambda call, _: call.connection.shutdown(socket.SHUT_RDWR), "model-unreachable", ""),
    "it drops midway": (lambda call, _: half(call, 5000), "model-unreachable", "breaks off"),
    "it sends HTML": (
        lambda call, _: call.send(b"<!doctype html><p>Bad gateway</p>", kind="text/html"),
        "model-reply-broken", "HTML",
    ),
    "it sends HTML with 502": (
        lambda call, _: call.send(b"<html>Bad gateway</html>", status=502, kind="text/html"),
        "model-refused", "502",
    ),
    "it fails with 500": (lambda call, _: call.send(b"boom", status=500), "model-refused", "500"),
    "it sends half a JSON": (lambda call, _: half(call, 0), "model-reply-broken", "not a completion"),
    "it sends no choices": (
        lambda call, _: call.send(b'{"object": "chat.completion", "choices": []}'),
        "model-reply-broken", "no choices",
    ),
    "it sends 10 MB": (
        lambda call, _: call.reply("x" * 10_000_000), "model-reply-broken", str(LONGEST_REPLY),
    ),
    "it sends without end": (
        lambda call, _: flood(call), "model-reply-broken", str(LONGEST_REPLY),
    ),
    "it nests without end": (
        lambda call, _: call.send(b"[" * 1_000_000), "model-reply-broken", "not a completion",
    ),
}  # fmt: skip


@pytest.mark.slow("it stalls")
@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", MISDEEDS)
def test_the_run_goes_on(
    name: str, proctor: Proctor, tmp_path: Path, ended: threading.Event
) -> None:
    misdeed, code, words = MISDEEDS[name]

    def answer(call: Call) -> None:
        prompt = call.body["messages"][-1]["content"]
        if f"# {TITLE}\n" in prompt:
            misdeed(call, ended)
        else:
            call.reply(right_reply(prompt))

    handler: Handler = answer
    patience = "5s" if "stalls" in name else "60s"
    with serving(handler) as stub:
        done = proctor("eval", "livecodebench", "--model", "stub", "--base-url", stub.url,
                       "--timeout", patience, "--max-retries", "1", "--mode", "standard",
                       "--out", tmp_path / "run", "--json")  # fmt: skip
        ended.set()
        assert stub.calls.total() == 3 + 2, "asked again once"
    assert done.returncode == 125
    found = json.loads(done.stdout)
    assert found["model_faults"] == {code: 1}
    assert (found["standard"]["passed"], found["standard"]["scored"]) == (3, 3)
    assert (found["unfinished"], found["bounds"]["standard"]) == (0, [0.75, 1.0])
    with RunStore.open(tmp_path / "run") as store:
        (fault,) = (
            each.generation
            for each in store.samples()
            if each.generation is not None and each.generation.fault
        )
    assert words in fault.fault_message
    assert len(fault.fault_message) < 1000
