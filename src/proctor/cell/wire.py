"""Messages between host, agent and job. Runs on both sides; standard library only.

Named tuples, not dataclasses: jobs pay for whatever their agent has imported (see memory.py).

Two sockets, both SOCK_SEQPACKET (one send is one message):

control   host <-> agent. Host: `Request` with descriptors, or KILL. Agent: `Result` per request.
feed      host <-> the process of a serving job. Host: TEST with descriptors, one test at a time
          (official mode: with the input itself, if it is short). Job: one `reply` per message.
          Nothing that arrives here is trusted: a submission that shares the process (fast path,
          official mode) can write what it likes.
          Of a session: any number of `Order`s; per order that runs a program a `Notice` when it
          has started (from its own process) and one when it has ended.

Payload (source, input, output) never travels in messages to the agent, only as descriptors, because
every later job is forked from its heap and could read it there.
"""

import socket
import struct
import time
from enum import IntEnum
from typing import NamedTuple

try:
    from proctor.cell import _lockdown
except ImportError:
    _lockdown = None  # type: ignore[assignment]

CONTROL_FD = 3
LONGEST_NAME = 64
"""Bytes of a function's name."""
MAX_MESSAGE = 64 * 1024
IN_MESSAGE = 32 * 1024
"""Bytes of the longest input or output of official mode that travels in a message itself."""
KILL = b"K"
TEST = b"T"
DIRECTORY = b"D"


class Kind(IntEnum):
    """The kind of job that a request asks the agent to fork."""

    RUN = 0
    """One program, run once. Descriptors: stdin, stdout, stderr, source."""
    SERVE_FORK = 1
    """Compile once, then fork one process per test. Descriptors: source, feed."""
    SERVE_SHARED = 2
    """All tests in one process with fresh globals: the fast path. Descriptors as SERVE_FORK."""
    SERVE_OFFICIAL = 3
    """All tests in one process the way lcb_runner does. Descriptors: source, feed, a file for the
    outputs that are too long for a message."""
    SESSION = 4
    """Fork one process per program, in one workspace, as long as the feed is open. Descriptors as
    SERVE_FORK; the source is empty."""
    COMMAND = 5
    """One program to execute. Descriptors: stdin, stdout, stderr, bundle, and what the bundle
    says (see native_job.py)."""
    EXECUTE = 6
    """A cheaper COMMAND that brings no file back. Descriptors: stdin, stdout, stderr, words
    (see execute.h), the program's file if it is executed by descriptor, what it inherits."""
    WORK = 7
    """One Python program, run once, in a directory that the host watches. Descriptors: stdin,
    stdout, stderr, bundle, feed, and one for its lines of progress (see directory_job.py)."""
    STRING = 8
    """One program without a file, as on a command line: tracebacks show no lines of it. Else as
    RUN."""
    SCRIPT = 9
    """One Python program with a name and arguments, as started from a shell. Descriptors as RUN;
    what to call it stands before the source (see script_job.py)."""


_REQUEST = struct.Struct("<B ?? QQQQQQQ i 64s")
_RESULT = struct.Struct("<i d d Q Q i i")
_ENDED = struct.Struct("<i d d Q")


class Request(NamedTuple):
    """A job for the agent. Seconds, bytes, processes; 0 turns address_space, disk and shm off."""

    kind: Kind
    cpu: int
    address_space: int
    file_size: int
    processes: int
    stack: int
    disk: int
    function: str = ""
    """Function to call for each test; empty for a stdin/stdout program."""
    locks: bool = False
    """True if it may lock files and wake those who wait on a shared futex."""
    only_cpu: int = -1
    """Number of the one CPU that it runs on; -1 for all that its cell was started with."""
    shm: int = 0
    """Size of /dev/shm; with one, any job may wake those who wait on a shared futex."""
    loopback: bool = False
    """True if it may open sockets on a loopback interface of its own."""

    def encode(self) -> bytes:
        """Encode the request. Raises ValueError if the function's name is too long."""
        name = self.function.encode("utf-8", "surrogatepass")
        if len(name) > LONGEST_NAME:
            raise ValueError(f"function name longer than 64 bytes: {self.function[:70]!r}")
        return _REQUEST.pack(
            self.kind, self.locks, self.loopback, self.cpu, self.address_space, self.file_size,
            self.processes, self.stack, self.disk, self.shm, self.only_cpu, name,
        )  # fmt: skip

    @classmethod
    def decode(cls, data: bytes) -> "Request":
        kind, locks, loopback, *rest = _REQUEST.unpack(data)
        cpu, space, file_size, processes, stack, disk, shm, only_cpu, name = rest
        function = name.rstrip(b"\0").decode("utf-8", "surrogatepass")
        limits = (cpu, space, file_size, processes, stack, disk)
        return cls(Kind(kind), *limits, function, locks, only_cpu, shm, loopback)


class Result(NamedTuple):
    """How a job's first process ended, as the agent saw it from outside the job's namespace."""

    status: int
    """Raw wait status."""
    user: float
    system: float
    """CPU seconds of the process and of the children it waited for."""
    peak: int
    """Peak resident bytes of the largest of them."""
    wall_ns: int
    failed_step: int
    """Lock-down step that failed, 0 if none: the submission was then never started."""
    failed_errno: int

    def encode(self) -> bytes:
        return _RESULT.pack(
            self.status, self.user, self.system, self.peak, self.wall_ns, self.failed_step,
            self.failed_errno,
        )  # fmt: skip

    @classmethod
    def decode(cls, data: bytes) -> "Result":
        return cls(*_RESULT.unpack(data))


class Tag(IntEnum):
    """First byte of what a serving job sends."""

    READY = 1
    """The program is compiled (and, in official mode, loaded)."""
    UNLOADABLE = 2
    """The program cannot be compiled or loaded, or (official mode) a test broke upstream's harness
    itself; the text says why."""
    ENDED = 3
    """A test's process ended: status, CPU and peak follow."""
    RETURNED = 4
    """A test ended inside this process (fast path, official); the output is in its descriptor."""
    RAISED = 5
    """A test raised; the text is the exception's repr."""
    OUTPUT = 10
    """A test ended inside this process (official); its output follows."""


class Reply(NamedTuple):
    """One message of a serving job."""

    tag: Tag
    text: str = ""
    status: int = 0
    user: float = 0.0
    system: float = 0.0
    peak: int = 0
    output: bytes = b""

    def encode(self) -> bytes:
        head = bytes([self.tag])
        if self.tag is Tag.ENDED:
            return head + _ENDED.pack(self.status, self.user, self.system, self.peak)
        if self.tag is Tag.OUTPUT:
            return head + self.output
        return head + self.text.encode("utf-8", "backslashreplace")[: MAX_MESSAGE - 1]

    @classmethod
    def decode(cls, data: bytes) -> "Reply":
        """Decode a reply. Raises ValueError for anything else; the sender may be hostile."""
        if not data:
            raise ValueError("empty reply")
        tag = Tag(data[0])
        if tag is Tag.OUTPUT:
            return cls(tag, output=data[1:])
        if tag is Tag.ENDED:
            if len(data) != 1 + _ENDED.size:
                raise ValueError("malformed reply")
            status, user, system, peak = _ENDED.unpack_from(data, 1)
            return cls(tag, "", status, user, system, peak)
        return cls(tag, data[1:].decode("utf-8", "replace"))


_ORDER = struct.Struct("<B I")
_FINISHED = struct.Struct("<B I i d d Q")
_STARTED = struct.Struct("<B I")


class OrderKind(IntEnum):
    """The kind of an order to a session."""

    RUN = ord("R")
    """Run a program. Descriptors: stdin, stdout, stderr, source."""
    KILL = ord("K")
    """Kill its process group."""
    INTERRUPT = ord("I")
    """Send its process group SIGINT; answered once that is done."""


class Order(NamedTuple):
    """The host's word to a session, about the program it has numbered `id`."""

    kind: OrderKind
    id: int

    def encode(self) -> bytes:
        return _ORDER.pack(self.kind, self.id)


class NoticeKind(IntEnum):
    """The kind of a notice from a session."""

    STARTED = 6
    FINISHED = 7
    REFUSED = 8
    """The program could not be forked: `status` is the error number."""
    INTERRUPTED = 9
    """An order to interrupt the program was carried out, or the program had ended."""


class Notice(NamedTuple):
    """A session's word about one program; figures as in Result."""

    kind: NoticeKind
    id: int
    status: int = 0
    user: float = 0.0
    system: float = 0.0
    peak: int = 0

    @classmethod
    def decode(cls, data: bytes) -> "Notice":
        """Decode a notice. Raises ValueError for anything else."""
        try:
            kind = NoticeKind(data[0])
            if kind is NoticeKind.STARTED:
                return cls(kind, _STARTED.unpack(data)[1])
            return cls(kind, *_FINISHED.unpack(data)[1:])
        except (struct.error, IndexError) as error:
            raise ValueError("malformed notice") from error


def send(sock: socket.socket, data: bytes, fds: list[int]) -> float:
    """Send one message with its descriptors, which stay open here. Raises OSError.

    Never waits: a program that does not read its messages must not hold up the host. Returns the
    time.monotonic() of sending; without the C part a later one, since other threads may hold the
    interpreter meanwhile.
    """
    if _lockdown is not None:
        return _lockdown.send(sock.fileno(), data, fds) / 1e9
    rights = struct.pack(f"{len(fds)}i", *fds)
    # Not socket.send_fds: CPython's ignores its flags.
    sock.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)], socket.MSG_DONTWAIT)
    return time.monotonic()


def receive(sock: socket.socket, most_fds: int) -> tuple[bytes, list[int]]:
    """Receive one message; empty data means that the other side is gone."""
    # Not socket.recv_fds: CPython's ignores its flags, and the descriptors would be inheritable.
    data, extras, _flags, _address = sock.recvmsg(
        MAX_MESSAGE, socket.CMSG_LEN(4 * most_fds), socket.MSG_CMSG_CLOEXEC
    )
    return data, [fd for _, _, value in extras for (fd,) in struct.iter_unpack("i", value)]
