"""Large bodies are decoded a slice at a time, and come to the same."""

import asyncio
import json
from typing import Annotated, Any

import httpx
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.service.http.incremental_json import SLICE, cuts, decode, decode_each
from proctor.service.http.native import schema
from served import serving
from waiting import PATIENCE

TEXTS = st.text(st.sampled_from('ab\\"\n\u00e4\u20ac\U0001f600/u\x00'), max_size=200)
Bounded = Annotated[str, msgspec.Meta(max_length=100)]


class Inner(msgspec.Struct, forbid_unknown_fields=True):
    text: str = ""
    several: tuple[str, ...] = ()
    mixed: Any = None


class Outer(msgspec.Struct):
    inners: Annotated[list[Inner], msgspec.Meta(max_length=20)]
    maybe: Inner | None = None
    bounded: Bounded = ""
    by_name: dict[str, str] = {}


class Batch(msgspec.Struct):
    requests: tuple[schema.JudgeRequest, ...]


INNERS = st.builds(Inner, TEXTS, st.lists(TEXTS, max_size=5).map(tuple), st.none() | TEXTS)


@given(
    st.builds(
        Outer, st.lists(INNERS, max_size=5), st.none() | INNERS, TEXTS.map(lambda t: t[:100])
    ),
    st.booleans(),
    st.integers(1, 60),
)
def test_it_is_what_the_decoder_says(value: Outer, ascii_only: bool, size: int) -> None:
    data = json.dumps(msgspec.to_builtins(value), ensure_ascii=ascii_only, indent=1).encode()
    assert asyncio.run(decode(data, Outer, size)) == value


def test_backslashes_are_counted_from_the_last_cut() -> None:
    """From the beginning of the string, 8 MiB of them took seconds, and 64 MiB minutes."""
    text = b"\\" * (1 << 22)
    parts = list(cuts(text, 1 << 10))
    assert b"".join(parts) == text
    assert not any(len(part) % 2 for part in parts)
    assert len(parts) > 4000


@given(TEXTS, st.booleans(), st.integers(1, 40))
def test_parts_of_a_string_are_strings(text: str, ascii_only: bool, size: int) -> None:
    body = json.dumps(text, ensure_ascii=ascii_only).encode()[1:-1]
    parts = list(cuts(body, size))
    assert b"".join(parts) == body
    assert "".join(json.loads(b'"' + part + b'"') for part in parts) == text


@pytest.mark.parametrize(
    "bad",
    [
        b'{"inners": [{"text": 1}]}', b'{"inners": [{"colour": 1}]}', b'{"maybe": null}',
        b'{"inners": [], "bounded": "%s"}' % (b"a" * 101), b'{"inners": [], }', b'{"inners": [',
        b'{"inners": [{"text": "\\ud800"}]}', b'{"inners": [{"text": "\xff"}]}', b"[]", b"",
        b'{"inners": [%s]}' % b",".join([b"{}"] * 21),
    ],
)  # fmt: skip
def test_what_is_wrong_is_wrong_in_slices_too(bad: bytes) -> None:
    for size in (1, 10_000):
        with pytest.raises((msgspec.DecodeError, UnicodeDecodeError)):
            asyncio.run(decode(bad, Outer, size))


def turns(body: bytes, kind: Any) -> int:
    """How often another task had its turn while a body was decoded."""

    async def count() -> int:
        seen = 0
        decoding = asyncio.ensure_future(decode(body, kind))
        while not decoding.done():
            await asyncio.sleep(0)
            seen += 1
        assert decoding.result() == msgspec.json.decode(body, type=kind)
        return seen

    return asyncio.run(count())


@pytest.mark.slow
def test_others_have_their_turn_while_a_large_body_is_decoded() -> None:
    text = "1 2 3\n\u00e4" * (SLICE // 4)
    judging = schema.JudgeRequest(
        schema.ProgramJson("print(1)"),
        schema.ProblemJson(tests=(schema.TestJson("x" * 5000, "y"),) * 2000),
    )
    single = msgspec.structs.replace(judging, problem=schema.ProblemJson())
    for value in (
        schema.RunRequestJson(schema.ProgramJson(""), text), judging, Batch((judging,) * 3),
        Batch((single,) * 60_000),
    ):  # fmt: skip
        body = msgspec.json.encode(value)
        assert len(body) > 2 * SLICE
        assert turns(body, type(value)) >= len(body) // SLICE
    assert turns(b"[" * 400 + b"]" * 400, Any) == 1


@pytest.mark.slow
def test_a_server_takes_them() -> None:
    stdin = "1 2\n\u00e4" * SLICE
    with (
        serving("--cells", "1") as served,
        httpx.Client(base_url=served.url, timeout=PATIENCE) as client,
    ):
        program = {"source": "import sys; print(len(sys.stdin.read()))"}
        found = client.post("/v1/run", json={"program": program, "stdin": stdin})
        assert found.json()["execution"]["stdout"]["text"] == f"{len(stdin)}\n"
        tests = [{"input": "x" * 2000, "output": "2000"}] * 1000
        program = {"source": "print(len(input()))"}
        asked = {"program": program, "problem": {"tests": tests}, "fast": True}
        assert client.post("/v1/judge", json=asked).json()["verdict"] == "AC"
        asked["limits"] = {"cpu": -1}
        refused = client.post("/v1/judge", json=asked)
        assert (refused.status_code, refused.json()["code"]) == (400, "bad-request")
        assert "cpu" in refused.json()["field"]
        for body in (b"{" + b" " * SLICE, b"[" * 2 * SLICE, b'"' + b"\xff" * SLICE + b'"'):
            headers = {"Content-Type": "application/json"}
            refused = client.post("/v1/run", content=body, headers=headers)
            assert refused.status_code == 400, refused.text


def test_a_list_of_too_many_is_not_salvaged() -> None:
    """Each item that is broken made an error: fourteen million took gigabytes."""
    body = b'{"items": [0, 0, 0]}'
    assert len(asyncio.run(decode_each(body, "items", int, 3)) or ()) == 3
    assert asyncio.run(decode_each(body, "items", int, 2)) is None
