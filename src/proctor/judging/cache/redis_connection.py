"""One connection to a server that speaks Redis's protocol (RESP 2), which is trusted by half.

Of the replies only those are understood that the store's few commands have: a line, a number, one
string of bytes. Each is bounded in size before it is read, there are no replies within replies, and
one clock runs over the whole exchange.
"""

import contextlib
import re
import socket
import ssl
import time
from collections.abc import Sequence

Reply = bytes | int | None
"""A line or a string of bytes; a number; nothing."""
_LINE = 1024
"""Bytes of a line at most, with its end."""
_NUMBER = re.compile(rb"-?[0-9]{1,18}")
_PART = 1 << 16


class BrokenReply(Exception):
    """A reply is none, is too long, or did not come in time."""


class ErrorReply(Exception):
    """The server refuses a command; its first word is a code, such as NOAUTH."""


class RedisConnection:
    """A connection that is of no use any more once one of its methods has raised BrokenReply."""

    def __init__(self, connected: socket.socket) -> None:
        """Take over a socket."""
        self._socket = connected
        self._received = bytearray()

    def ask(
        self, commands: Sequence[Sequence[bytes]], most: int, until: float
    ) -> list[Reply | ErrorReply]:
        """Send commands together; return their replies, strings of `most` bytes at most.

        `until` is a time by the monotonic clock. Raises BrokenReply, OSError.
        """
        self._wait(until)
        self._socket.sendall(b"".join(map(_encoded, commands)))
        replies = [self._reply(most, until) for _ in commands]
        if self._received:
            raise BrokenReply("more came than was asked for")
        return replies

    def close(self) -> None:
        """Disconnect."""
        with contextlib.suppress(OSError):
            self._socket.close()

    def _reply(self, most: int, until: float) -> Reply | ErrorReply:
        line = self._line(until)
        kind, rest = line[:1], line[1:]
        if kind == b"+":
            return rest
        if kind == b"-":
            return ErrorReply(rest.decode("utf-8", "replace"))
        if kind not in (b":", b"$") or not _NUMBER.fullmatch(rest):
            raise BrokenReply(f"{line[:40]!r} is none of the replies that the command has")
        number = int(rest)
        if kind == b":":
            return number
        if number == -1:
            return None
        if not 0 <= number <= most:
            raise BrokenReply(f"an entry of {number} bytes, and {most} is the most")
        data = self._take(number + 2, until)
        if not data.endswith(b"\r\n"):
            raise BrokenReply("an entry that is longer than the server said")
        return data[:-2]

    def _line(self, until: float) -> bytes:
        while (end := self._received.find(b"\r\n", 0, _LINE)) < 0:
            if len(self._received) >= _LINE:
                raise BrokenReply(f"a line of more than {_LINE} bytes")
            self._receive(until)
        return self._take(end + 2, until)[:-2]

    def _take(self, size: int, until: float) -> bytes:
        while len(self._received) < size:
            self._receive(until)
        data = bytes(self._received[:size])
        del self._received[:size]
        return data

    def _receive(self, until: float) -> None:
        self._wait(until)
        part = self._socket.recv(_PART)
        if not part:
            raise ConnectionResetError("the connection was closed")
        self._received += part

    def _wait(self, until: float) -> None:
        """Let the next call of the socket take the time that is left. Raises TimeoutError."""
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self._socket.settimeout(left)


def connect(host: str, port: int, tls: ssl.SSLContext | None, patience: float) -> RedisConnection:
    """Connect, within `patience` seconds for each address of the host. Raises OSError."""
    plain = socket.create_connection((host, port), patience)
    try:
        return RedisConnection(tls.wrap_socket(plain, server_hostname=host) if tls else plain)
    except BaseException:
        plain.close()
        raise


def _encoded(words: Sequence[bytes]) -> bytes:
    parts = [b"*%d\r\n" % len(words), *(b"$%d\r\n%b\r\n" % (len(word), word) for word in words)]
    return b"".join(parts)
