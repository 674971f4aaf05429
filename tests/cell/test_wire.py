"""The three sockets' messages: what goes in comes out, and nothing hostile gets past decode."""

import os
import socket
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.cell.wire import MAX_MESSAGE, Kind, Reply, Request, Result, Tag, receive, send

unsigned = st.integers(0, 2**64 - 1)
signed = st.integers(-(2**31), 2**31 - 1)
seconds = st.floats(allow_nan=False)
# Every character is at most four bytes; NUL pads the field, and no name holds one.
names = st.text(st.characters(exclude_characters="\0", codec=None), max_size=16)


@given(
    st.builds(
        Request,
        st.sampled_from(Kind),
        *[unsigned] * 6,
        function=names,
        only_cpu=signed,
        locks=st.booleans(),
        shm=unsigned,
        loopback=st.booleans(),
    ),
)
def test_requests_survive(request: Request) -> None:
    assert Request.decode(request.encode()) == request


@given(st.builds(Result, signed, seconds, seconds, unsigned, unsigned, signed, signed))
def test_results_survive(result: Result) -> None:
    assert Result.decode(result.encode()) == result


ends = st.builds(
    Reply, st.just(Tag.ENDED), st.just(""), signed, seconds, seconds, unsigned, st.just(b"")
)


@given(ends)
def test_ends_of_tests_survive(reply: Reply) -> None:
    assert Reply.decode(reply.encode()) == reply


texts = st.text(st.characters(codec="utf-8"))


@given(st.sampled_from([tag for tag in Tag if tag not in (Tag.ENDED, Tag.OUTPUT)]), texts)
def test_texts_survive(tag: Tag, text: str) -> None:
    assert Reply.decode(Reply(tag, text).encode()) == Reply(tag, text)


@given(st.binary())
def test_outputs_survive(output: bytes) -> None:
    reply = Reply(Tag.OUTPUT, output=output)
    assert Reply.decode(reply.encode()) == reply


@given(st.text(st.characters(codec=None)))
def test_texts_that_utf8_cannot_hold_are_spelt_out(text: str) -> None:
    shown = Reply.decode(Reply(Tag.RAISED, text).encode()).text
    assert shown == text.encode("utf-8", "backslashreplace").decode()


@pytest.mark.parametrize("character", ["x", "é", "😀"])
def test_long_texts_are_cut_to_what_one_message_holds(character: str) -> None:
    text = character * MAX_MESSAGE
    message = Reply(Tag.RAISED, text).encode()
    assert len(message) == MAX_MESSAGE
    shown = Reply.decode(message).text
    assert text.startswith(shown.rstrip("\N{REPLACEMENT CHARACTER}"))
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with near, far:
        near.send(message)
        assert receive(far, 0) == (message, [])


@given(st.binary(max_size=64) | st.binary(min_size=33, max_size=33).map(lambda b: b"\3" + b))
def test_hostile_bytes_are_a_reply_or_a_value_error(data: bytes) -> None:
    try:
        reply = Reply.decode(data)
    except ValueError:
        return
    assert isinstance(reply.tag, Tag)
    assert isinstance(reply.text, str)
    assert isinstance(reply.status, int)


@pytest.mark.parametrize(
    "data",
    [b"", b"\0", b"\6", b"\xff" * 9, bytes([Tag.ENDED]), bytes([Tag.ENDED]) + b"x" * 100],
)
def test_what_is_no_reply_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"reply|valid Tag"):
        Reply.decode(data)


@given(st.binary(max_size=200).filter(lambda data: len(data) != 113))
def test_a_request_of_another_length_is_refused(data: bytes) -> None:
    with pytest.raises((struct.error, ValueError)):
        Request.decode(data)


def test_a_function_name_that_does_not_fit_is_refused() -> None:
    fits = Request(Kind.SERVE_FORK, 1, 1, 1, 1, 1, 0, "é" * 32)
    assert Request.decode(fits.encode()) == fits
    with pytest.raises(ValueError, match="longer than 64 bytes"):
        Request(Kind.SERVE_FORK, 1, 1, 1, 1, 1, 0, "é" * 33).encode()


def open_fds() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


def test_descriptors_travel_and_stay_open_with_the_sender() -> None:
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    reader, writer = os.pipe()
    with near, far:
        send(near, b"T", [writer])
        data, fds = receive(far, 3)
        assert data == b"T"
        assert not os.get_inheritable(fds[0])
        os.write(fds[0], b"theirs ")
        os.write(writer, b"ours")
        assert os.read(reader, 99) == b"theirs ours"
        for fd in [*fds, reader, writer]:
            os.close(fd)


def test_more_descriptors_than_asked_for_do_not_stay_here() -> None:
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with near, far:
        before = open_fds()
        send(near, b"T", [near.fileno()] * 20)
        _, fds = receive(far, 2)
        assert len(fds) <= 2
        for fd in fds:
            os.close(fd)
        assert open_fds() == before


def test_a_side_that_is_gone_is_empty_data() -> None:
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    near.close()
    with far:
        assert receive(far, 3) == (b"", [])
