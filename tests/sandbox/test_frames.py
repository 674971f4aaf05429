"""The protocol between us and a container: what is sent arrives, and nothing else passes."""

import io
import json
import struct

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proctor.sandbox.container import frames
from proctor.sandbox.container.frames import BadFrame, Fields, Frame

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
HEADERS = st.dictionaries(st.text(), VALUES, max_size=5)
PARTS = st.lists(st.binary(max_size=200), max_size=frames.MOST_PARTS)
ENOUGH = [1000] * frames.MOST_PARTS


class Drip(io.RawIOBase):
    """Gives and takes a byte at a time, as a pipe may."""

    def __init__(self, data: bytes = b"") -> None:
        self.data = data

    def read(self, size: int = -1) -> bytes:
        assert size > 0
        part, self.data = self.data[:1], self.data[1:]
        return part

    def write(self, data: object) -> int:
        self.data += bytes(data)[:1]  # type: ignore[call-overload]
        return 1


def encoded(header: dict[str, object], parts: list[bytes]) -> bytes:
    stream = io.BytesIO()
    frames.write(stream, header, parts)
    return stream.getvalue()


@given(HEADERS, PARTS)
def test_what_is_sent_arrives(header: dict[str, object], parts: list[bytes]) -> None:
    stream = io.BytesIO(encoded(header, parts) * 2)
    for _ in range(2):
        assert frames.read(stream, ENOUGH) == Frame(header, tuple(parts))
    assert frames.read(stream, ENOUGH) is None


@given(HEADERS, PARTS)
def test_a_stream_may_give_and_take_single_bytes(
    header: dict[str, object], parts: list[bytes]
) -> None:
    drip = Drip()
    frames.write(drip, header, parts)
    assert drip.data == encoded(header, parts)
    assert frames.read(drip, ENOUGH) == Frame(header, tuple(parts))


@given(st.data())
def test_a_frame_that_breaks_off_is_bad(data: st.DataObject) -> None:
    whole = encoded({"a": 1}, [b"xyz", b"", b"12"])
    cut = data.draw(st.integers(1, len(whole) - 1))
    with pytest.raises(BadFrame, match="ended within"):
        frames.read(io.BytesIO(whole[:cut]), ENOUGH)


@given(st.binary(max_size=400))
@example(frames.MAGIC + b"\0\0\0\2\0{}")
@example(frames.MAGIC + b"\0\0\0\2\0[]")
@example(frames.MAGIC + b'\0\0\0\7\0{"a":1')
def test_any_bytes_are_a_frame_or_bad(data: bytes) -> None:
    stream = io.BytesIO(data)
    try:
        frame = frames.read(stream, [50, 50])
    except BadFrame:
        return
    assert frame is None or (len(frame.parts) <= 2 and all(len(p) <= 50 for p in frame.parts))


@given(st.binary(min_size=1, max_size=40), st.integers(0, 200))
def test_one_changed_stretch_never_yields_more_than_is_allowed(noise: bytes, at: int) -> None:
    whole = bytearray(encoded({"n": 1, "t": "x" * 100}, [b"p" * 40]))
    whole[at : at + len(noise)] = noise
    try:
        frame = frames.read(io.BytesIO(bytes(whole)), [40])
    except BadFrame:
        return
    assert frame is not None
    assert sum(map(len, frame.parts)) <= 40


def head(length: int, sizes: list[int], magic: bytes = frames.MAGIC) -> bytes:
    return struct.pack(">4sIB", magic, length, len(sizes)) + b"".join(
        struct.pack(">Q", size) for size in sizes
    )


class Fused(io.BytesIO):
    """Has no more than its content, and fails who asks for what a liar announced."""

    def read(self, size: int | None = -1, /) -> bytes:
        part = super().read(size)
        assert part, "read on after the announcement"
        return part


@pytest.mark.parametrize(
    ("announced", "complaint"),
    [
        (head(frames.MOST_HEADER + 1, []), "a header of 524289 bytes"),
        (head(2, [1, 1, 1]), "with 3 payloads"),
        (head(2, [11]), "a payload of 11 bytes where 10 are allowed"),
        (head(2, [10, 1 << 63]), "where 10 are allowed"),
        (head(2, [], b"HTTP"), "no message of ours begins with"),
        (
            b"Traceback (most recent call last):\n",
            "no message of ours begins with b'Traceback"[:40],
        ),
    ],
)
def test_what_is_too_much_is_refused_before_it_is_read(announced: bytes, complaint: str) -> None:
    with pytest.raises(BadFrame, match=complaint.replace("(", r"\(")):
        frames.read(Fused(announced), [10, 10])


@pytest.mark.parametrize(
    "text",
    ["{", "[1]", "null", '{"a": NaN}', '{"a": Infinity}', "[" * 100_000, '{"a":' * 50_000,
     '{"n": ' + "9" * 10_000 + "}", "\xff"],
)  # fmt: skip
def test_headers_that_are_no_json_object_are_bad(text: str) -> None:
    data = text.encode("latin-1")
    with pytest.raises(BadFrame):
        frames.read(io.BytesIO(head(len(data), []) + data), [])


def test_text_with_half_characters_crosses_without_them() -> None:
    frame = frames.read(io.BytesIO(encoded({"raised": "\ud800!"}, [])), [])
    assert frame is not None
    assert Fields(frame.header).text("raised") == "?!"


def test_what_no_frame_can_hold_is_not_sent() -> None:
    with pytest.raises(BadFrame):
        encoded({"a": "x" * frames.MOST_HEADER}, [])
    with pytest.raises(BadFrame):
        encoded({}, [b""] * (frames.MOST_PARTS + 1))
    with pytest.raises(ValueError, match="JSON"):
        encoded({"a": float("nan")}, [])


WRONG = {
    "flag": [None, 0, 1, "true", []],
    "text": [None, 1, True, ["x"]],
    "seconds": [None, "1", True, -0.1, 1e13, 1e400, []],
    "count": [None, 1.0, "1", True, -1, 1 << 63],
    "object": [None, [], "x", 1],
}


@pytest.mark.parametrize(("kind", "value"), [(k, v) for k, values in WRONG.items() for v in values])
def test_fields_of_another_kind_are_bad(kind: str, value: object) -> None:
    with pytest.raises(BadFrame, match="`it`"):
        getattr(Fields({"it": value}), kind)("it")
    with pytest.raises(BadFrame, match="`it`"):
        getattr(Fields({}), kind)("it")


def test_fields_of_the_right_kind_are_given() -> None:
    fields = Fields(json.loads('{"f": true, "t": "x", "s": 1, "c": 5, "o": {"n": null}}'))
    assert fields.flag("f") is True
    assert fields.text("t") == fields.text_or_none("t") == "x"
    assert fields.seconds("s") == 1.0
    assert fields.count("c", 5) == fields.count_or_none("c", 5) == 5
    inner = fields.object("o")
    assert inner.text_or_none("n") is None
    assert inner.count_or_none("n", 1) is None
    with pytest.raises(BadFrame):
        fields.count("c", 4)
