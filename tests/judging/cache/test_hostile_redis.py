"""A cache server that lies, floods or dawdles costs a miss and one sentence, and no judgement."""

import contextlib
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator

import pytest
from cache_parts import HeldJudges, made

from proctor import JudgeSettings, Problem, Test
from proctor.errors import InfraFault, ReplyBroken, Unauthorized, Unreachable
from proctor.judging.cache import open_cached, redis_connection, redis_store
from proctor.judging.cache.redis_store import RedisStore
from proctor.judging.cache.sealing import LARGEST_ENTRY, SECRET_VARIABLE
from waiting import PATIENCE

PROBLEM = Problem("double", (Test("2\n", "4\n"),))
KEY = b"\1" * 32


class HostileRedis(socketserver.ThreadingTCPServer):
    """A server that greets well, and answers all else with the same bytes."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(
        self, answer: bytes, greeting: bytes = b"+PONG\r\n", *, drips: bool = False
    ) -> None:
        super().__init__(("127.0.0.1", 0), _Peer)
        self.answer, self.greeting, self.drips = answer, greeting, drips
        self.over = threading.Event()
        self.sent = 0
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.server_address[1]}"


class _Peer(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        server, peer = self.server, self.request
        assert isinstance(server, HostileRedis)
        assert isinstance(peer, socket.socket)
        with contextlib.suppress(OSError):
            while asked := peer.recv(1 << 16):
                answer = server.greeting if b"PING" in asked else server.answer
                if not answer:
                    return
                if server.drips and b"PING" not in asked:
                    for at in range(len(answer)):
                        peer.sendall(answer[at : at + 1])
                        if server.over.wait(0.01):
                            return
                    continue
                for at in range(0, len(answer), 1 << 16):
                    peer.sendall(answer[at : at + (1 << 16)])
                    server.sent += 1 << 16


@pytest.fixture
def hostile() -> Iterator[Callable[..., HostileRedis]]:
    opened: list[HostileRedis] = []

    def start(*answers: bytes, **how: bool) -> HostileRedis:
        opened.append(HostileRedis(*answers, **how))
        return opened[-1]

    yield start
    for each in opened:
        each.over.set()
        each.shutdown()
        each.server_close()


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET_VARIABLE, "0123456789abcdef")


ANSWERS = {
    "an entry of 6 GB": b"$6000000000\r\n" + b"0" * 1000,
    "an entry that is a byte too long": b"$%d\r\n" % (LARGEST_ENTRY + 1),
    "an entry of less than nothing": b"$-7\r\n",
    "a length that is no number": b"$1_0\r\n0123456789\r\n:1\r\n",
    "a length in other digits": "$١\r\n0\r\n:1\r\n".encode(),
    "a length of a million digits": b"$" + b"9" * 1_000_000 + b"\r\n",
    "an entry longer than it says": b"$1\r\n00\r\n:1\r\n",
    "replies within replies": b"*1\r\n" * 200_000,
    "a list of two thousand million": b"*2000000000\r\n:1\r\n",
    "a map": b"%1\r\n+a\r\n+b\r\n",
    "a string in pieces": b"$?\r\n;3\r\nabc\r\n;0\r\n",
    "a big number": b"(" + b"9" * 900 + b"\r\n",
    "a push": b">2\r\n+invalidate\r\n*0\r\n",
    "more than was asked": b"$-1\r\n:1\r\n:1\r\n",
    "a line without an end": b"+" + b"a" * 5_000_000,
    "a page of the web": b"HTTP/1.1 400 Bad Request\r\n\r\n",
    "a refusal of colours": b"-ERR \x1b[31m\xff" + b"x" * 900 + b"\r\n:1\r\n",
    "a line and a number": b"+OK\r\n+OK\r\n",
    "nothing": b"",
}  # fmt: skip


@pytest.mark.parametrize("what", ANSWERS)
def test_a_hostile_answer_is_a_miss_and_one_sentence(
    what: str, hostile: Callable[..., HostileRedis], caplog: pytest.LogCaptureFixture
) -> None:
    held, server = HeldJudges(), hostile(ANSWERS[what])
    with open_cached(held, server.url) as judges:
        for number in range(3):
            future = judges.start(PROBLEM, f"print({number})", JudgeSettings())
            held.started[number].set_result(made())
            assert not future.result(timeout=PATIENCE).remembered
        assert judges.tally.hits == 0
    assert len(caplog.records) == 1
    assert all(each.isprintable() for each in caplog.messages)
    assert all(len(each) < 500 for each in caplog.messages)


@pytest.mark.parametrize("greeting", [b"*1\r\n" * 1000, b"hello\r\n", b"$999999999999\r\n"])
def test_a_greeting_without_sense_is_no_end_of_judging(
    greeting: bytes, hostile: Callable[..., HostileRedis], caplog: pytest.LogCaptureFixture
) -> None:
    held, server = HeldJudges(), hostile(b"hello\r\n", greeting)
    with open_cached(held, server.url) as judges:
        future = judges.start(PROBLEM, "print()", JudgeSettings())
        held.started[0].set_result(made())
        assert future.result(timeout=PATIENCE).passed
    assert ["is it a server of Redis" in each for each in caplog.messages] == [True]


def test_what_comes_byte_by_byte_has_one_clock(
    hostile: Callable[..., HostileRedis], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A byte every hundredth of a second, for most of a minute; each read alone is in time."""
    monkeypatch.setattr(redis_store, "_PATIENCE", 0.2)
    store = RedisStore(hostile(b"$5000\r\n" + b"0" * 5000, drips=True).url)
    with pytest.raises(ReplyBroken, match=r"no whole reply within 0\.2 s"):
        store.get(KEY)
    store.close()


def test_what_is_too_long_is_not_read(hostile: Callable[..., HostileRedis]) -> None:
    server = hostile(b"$600000000\r\n" + b"0" * 100_000_000)
    store = RedisStore(server.url)
    with pytest.raises(ReplyBroken, match="600000000 bytes"):
        store.get(KEY)
    server.shutdown()  # so that it waits for nothing
    assert server.sent < 50_000_000
    store.close()


def test_the_longest_entry_is_read(hostile: Callable[..., HostileRedis]) -> None:
    entry = b"\r\n" * (LARGEST_ENTRY // 2)
    store = RedisStore(hostile(b"$%d\r\n%b\r\n:1\r\n" % (len(entry), entry)).url)
    assert store.get(KEY) == entry
    store.close()


@pytest.mark.parametrize("refusal", [b"-NOAUTH x", b"-WRONGPASS x", b"-NOPERM x"])
def test_refusals_name_the_password(refusal: bytes, hostile: Callable[..., HostileRedis]) -> None:
    with pytest.raises(Unauthorized, match="is the password right"):
        RedisStore(hostile(b"", refusal + b"\r\n").url)


@pytest.mark.parametrize("refusal", [b"-LOADING x", b"-OOM x", b"-\xff"])
def test_other_refusals_are_faults(refusal: bytes, hostile: Callable[..., HostileRedis]) -> None:
    store = RedisStore(hostile(refusal + b"\r\n").url)
    with pytest.raises(Unreachable, match="cannot be used"):
        store.drop(KEY)
    store.close()


def test_a_connection_that_was_closed_meanwhile_is_made_anew(
    hostile: Callable[..., HostileRedis],
) -> None:
    server = hostile(b":1\r\n")
    store = RedisStore(server.url)
    (idle,) = store._idle.get()
    idle._socket.shutdown(socket.SHUT_RDWR)
    store.drop(KEY)
    with pytest.raises(InfraFault):
        store.put(KEY, b"x") if not store._idle.get() else store.get(KEY)
    store.close()


def test_a_certificate_that_nobody_vouches_for(hostile: Callable[..., HostileRedis]) -> None:
    """A server without TLS where TLS is wanted, which sends nonsense in the place of it."""
    server = hostile(b"", b"")
    with pytest.raises(Unreachable):
        RedisStore(server.url.replace("redis:", "rediss:"))


def test_numbers_are_bounded() -> None:
    assert redis_connection._NUMBER.fullmatch(b"-1")
    assert not redis_connection._NUMBER.fullmatch(b"9" * 19)
