"""Packed problems and judgements over a real socket: owners, keys, limits, answers as they come."""

import base64
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import httpx
import msgspec
import pytest

from proctor.judgement import Judgement
from proctor.judging.packed import digest_of, pack, unpack
from proctor.judging.remote import payload_of
from proctor.judging.settings import JudgeSettings
from proctor.limits import Limits
from proctor.problem import Problem, Test
from proctor.service.http.native.packed_routes import ABANDONED_AFTER
from proctor.service.http.native.packed_schema import (
    EMPTY_FRAME,
    FrameReader,
    PackedAnswer,
    PackedRequest,
)
from proctor.service.http.responses import PAD_EVERY
from proctor.verdict import Verdict
from proctor.version import __version__
from served import OWNERS, Served, noting, serving, serving_two
from waiting import PATIENCE, until

SQUARE = pack(Problem("square", (Test("3\n", "9\n"), Test("4\n", "16\n"))))
DIGEST = digest_of(SQUARE)
RIGHT = payload_of("print(int(input()) ** 2)", JudgeSettings(), None)
ENDLESS = payload_of("while True: pass", JudgeSettings(limits=Limits(cpu=600.0)), None)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    place = tmp_path_factory.mktemp("tokens")
    with serving_two(place, "--cells", "2", "--max-waiting", "3") as served:
        yield served


@pytest.fixture
def ann(server: Served) -> Iterator[httpx.Client]:
    with server.client(OWNERS["ann"]) as client:
        yield client


@pytest.fixture
def bob(server: Served) -> Iterator[httpx.Client]:
    with server.client(OWNERS["bob"]) as client:
        yield client


def put(client: httpx.Client, data: bytes = SQUARE) -> str:
    digest = digest_of(data)
    answer = client.put(f"/v1/problems/{digest}", content=data)
    assert (answer.status_code, answer.json()) == (200, {"kept": digest})
    return digest


def encoded(*requests: PackedRequest) -> bytes:
    return msgspec.msgpack.encode(requests)


def asked(client: httpx.Client, *requests: PackedRequest) -> dict[str, PackedAnswer]:
    answer = client.post("/v1/judgements", content=encoded(*requests))
    assert answer.status_code == 200, answer.text
    answers = list(FrameReader().answers(answer.content))
    assert len(answers) == len(requests)
    return {each.key: each for each in answers}


def code(answer: PackedAnswer) -> str:
    assert not answer.judgement
    assert answer.error is not None
    return answer.error.code


def test_a_judgement_says_who_made_it(ann: httpx.Client) -> None:
    put(ann)
    found = unpack(asked(ann, PackedRequest("says", DIGEST, RIGHT))["says"].judgement, Judgement)
    assert found.verdict is Verdict.AC
    assert len(found.tests) == 2
    assert found.machine is not None
    assert found.machine.id == ann.get("/v1/load").json()["id"]
    assert found.machine.cpu


def test_the_load_is_told_at_once(ann: httpx.Client) -> None:
    load = ann.get("/v1/load").json()
    assert load["version"] == __version__
    assert (load["places"], load["stopping"]) == (2, False)
    assert load["instance"] == ann.get("/v1/load").json()["instance"]
    assert ann.get("/v1/languages/python").json()["version"].startswith("3.")
    assert ann.get("/v1/languages/cobol").status_code == 422


def test_problems_belong_to_their_owners(ann: httpx.Client, bob: httpx.Client) -> None:
    put(ann)
    theirs = asked(bob, PackedRequest("theirs", DIGEST, RIGHT))["theirs"]
    assert code(theirs) == "unknown-problem"
    assert theirs.error is not None
    assert theirs.error.status == 404
    put(bob)
    assert asked(bob, PackedRequest("theirs", DIGEST, RIGHT))["theirs"].judgement


def test_one_bad_request_costs_no_other(ann: httpx.Client) -> None:
    put(ann)
    much = payload_of("print(1)", JudgeSettings(limits=Limits(memory=1 << 60)), None)
    found = asked(
        ann,
        PackedRequest("right", DIGEST, RIGHT),
        PackedRequest("no-payload", DIGEST, b"\x01"),
        PackedRequest("cut", DIGEST, RIGHT[:-1]),
        PackedRequest("no-digest", "../x", RIGHT),
        PackedRequest("unknown", "0" * 64, RIGHT),
        PackedRequest("much", DIGEST, much),
        PackedRequest("subtask", DIGEST, payload_of("1", JudgeSettings(), ["s"])),
    )
    assert found.pop("right").judgement
    assert code(found.pop("unknown")) == "unknown-problem"
    assert {code(each) for each in found.values()} == {"bad-input"}


@pytest.mark.slow
def test_a_key_is_judged_once(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    numbered = payload_of("print(int(input()) ** 2)\n# row 7\n", JudgeSettings(), None)
    with serving("--cells", "1", command=noting(notes)) as served, served.client() as client:
        put(client)
        first = asked(client, PackedRequest("key", DIGEST, numbered))["key"]
        assert asked(client, PackedRequest("key", DIGEST, numbered))["key"] == first
        assert code(asked(client, PackedRequest("key", DIGEST, RIGHT))["key"]) == "bad-input"
        other = asked(client, PackedRequest("another", DIGEST, numbered))["another"]
        assert other.judgement
        assert notes.read_text() == "7\n7\n"
        again = b"".join(
            client.post("/v1/judgements", content=encoded(PackedRequest("key", DIGEST, RIGHT)))
            .content
            for _ in range(2)
        )  # fmt: skip
        assert [code(each) for each in FrameReader().answers(again)] == ["bad-input"] * 2


def test_beyond_what_may_wait_it_is_busy(ann: httpx.Client) -> None:
    put(ann)
    requests = [PackedRequest(f"busy-{n}", DIGEST, RIGHT) for n in range(20)]
    found = asked(ann, *requests)
    errors = [each.error for each in found.values() if each.error is not None]
    assert len(errors) == 20 - 2 - 3
    assert {each.code for each in errors} == {"busy"}
    assert all(each.retry_after for each in errors)
    assert len([each for each in found.values() if each.judgement]) == 5


def test_answers_come_as_they_are_made(ann: httpx.Client) -> None:
    put(ann)
    body = encoded(PackedRequest("late", DIGEST, ENDLESS), PackedRequest("soon", DIGEST, RIGHT))
    reader = FrameReader()
    with ann.stream("POST", "/v1/judgements", content=body) as answer:
        first = next(each for part in answer.iter_raw() for each in reader.answers(part))
    assert first.key == "soon"


@pytest.mark.slow
def test_who_hangs_up_may_come_back_and_else_it_is_called_off(ann: httpx.Client) -> None:
    assert PAD_EVERY >= ABANDONED_AFTER
    put(ann)
    body = encoded(PackedRequest("left", DIGEST, ENDLESS))
    with ann.stream("POST", "/v1/judgements", content=body):
        until(lambda: ann.get("/v1/load").json()["running"])
    with ann.stream("POST", "/v1/judgements", content=body) as again:
        assert next(again.iter_raw()) == EMPTY_FRAME  # by now it would have been called off
        assert ann.get("/v1/load").json()["running"] == 1
    until(lambda: not ann.get("/v1/load").json()["running"])


def test_judgements_can_be_taken_back_by_their_owner(ann: httpx.Client, bob: httpx.Client) -> None:
    put(ann)
    body = encoded(*(PackedRequest(f"mine-{n}", DIGEST, ENDLESS) for n in range(4)))
    with ann.stream("POST", "/v1/judgements", content=body) as answer:
        until(lambda: ann.get("/v1/load").json()["running"])
        assert bob.delete("/v1/judgements/mine-").json() == {"cancelled": 0}
        assert ann.delete("/v1/judgements/mine-").json() == {"cancelled": 4}
        answers = list(FrameReader().answers(answer.read()))
    assert [code(each) for each in answers] == ["busy"] * 4
    until(lambda: not ann.get("/v1/load").json()["running"])


def test_a_frame_may_come_in_any_parts() -> None:
    answers = [PackedAnswer(str(n), b"x" * n) for n in range(40)]
    frames = [msgspec.msgpack.encode(each) for each in answers]
    data = b"".join(struct.pack(">I", len(each)) + each + b"\0\0\0\0" for each in frames)
    for size in (1, 3, 64, len(data)):
        reader = FrameReader()
        parts = [data[at : at + size] for at in range(0, len(data), size)]
        assert [each for part in parts for each in reader.answers(part)] == answers
    with pytest.raises(msgspec.DecodeError):
        list(FrameReader().answers(b"\0\0\0\1\xc0"))


@pytest.mark.parametrize("digest", ["x", "0" * 63, "0" * 64 + "0", "A" * 64, "%2e%2e"])
def test_a_path_that_is_no_digest_is_refused_before_the_body(server: Served, digest: str) -> None:
    token = base64.b64encode(f"any:{OWNERS['ann']}".encode()).decode()
    head = (
        f"PUT /v1/problems/{digest} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        f"Authorization: Basic {token}\r\nContent-Length: 1000\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as line:
        line.sendall(head.encode())
        assert line.recv(12) == b"HTTP/1.1 422"
