"""Helper processes, which run trusted code over untrusted data: slow or large ones are ended.

A helper is asked one thing at a time, by JSON with its length in front, on its standard input.
"""

import contextlib
import json
import os
import resource
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from proctor.errors import InfraFault

LENGTH = struct.Struct(">Q")
_START = 60.0
"""Time that a helper may take to start, before the time for its answer, in seconds."""


_LONGEST = 1 << 30
"""Bytes of an answer; a helper bounds its own before that by its memory."""


class HelperTimeout(InfraFault):
    """A helper did not answer in its time, or used up its memory, and was ended."""

    code = "helper-timeout"


def serve(answer: Callable[[bytes], Any], cpu: float, memory: int, growth: int = 0) -> None:
    """Answer requests, in a helper's process, until there are no more.

    `answer` returns what JSON can hold, or JSON as bytes. One request may take `cpu` seconds, which
    allow() grants anew, and the process `memory` bytes of address space, with `growth` more for
    each byte of the request.
    """
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what `answer` prints must not get among the answers
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers.write(b"!")
    answers.flush()
    while head := sys.stdin.buffer.read(LENGTH.size):
        (size,) = LENGTH.unpack(head)
        _limit_memory(memory + growth * size)
        request = sys.stdin.buffer.read(size)
        allow(cpu)
        found = answer(request)
        data = found if isinstance(found, bytes) else json.dumps(found).encode()
        allow(0)
        answers.write(LENGTH.pack(len(data)) + data)
        answers.flush()


def _limit_memory(most: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def allow(cpu: float) -> None:
    """Let a helper's process take this many CPU seconds from now on; then it ends. 0: any number.

    No handler: what a parser or one operation takes would not return to let one run.
    """
    signal.setitimer(signal.ITIMER_PROF, cpu)


class Helper:
    """Runs `python -P -m module`, which calls serve(); started when it is first asked."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._ended: int | None = None
        """Return code of the last process."""

    def ask(self, request: Any, timeout: float) -> Any:
        """Return the helper's answer to what JSON can hold, or to JSON as bytes.

        Raises HelperTimeout, and InfraFault if it cannot start.
        """
        data = request
        if not isinstance(data, bytes):
            data = json.dumps(request, allow_nan=False).encode("utf-8", "surrogatepass")
        with self._lock:
            try:
                return self._asked(data, timeout)
            except (OSError, EOFError) as error:
                if self._ended == -signal.SIGPROF:
                    raise HelperTimeout("it took more CPU time than it allows itself") from error
                try:  # the helper may have been killed from outside: try again
                    return self._asked(data, timeout)
                except (OSError, EOFError) as error:
                    raise HelperTimeout(
                        f"the checking process ended in the middle of its work: {error}"
                    ) from error

    def _asked(self, data: bytes, timeout: float) -> Any:
        process = self._running()
        try:
            return self._exchange(process, data, timeout)
        except BaseException:
            self._end()
            raise

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._end()
        known = ("PATH", "LANG", "LC_ALL", "PYTHONPATH", "SYSTEMROOT", "VIRTUAL_ENV")
        environment = {name: os.environ[name] for name in known if name in os.environ}
        try:
            self._process = subprocess.Popen(
                # Without -P the working directory, which may be a stranger's, is searched first.
                [sys.executable, "-P", "-m", self._module],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env=environment,
                start_new_session=True,
            )  # fmt: skip
            assert self._process.stdout is not None
            _read(self._process.stdout.fileno(), 1, time.monotonic() + _START)
        except (OSError, EOFError) as error:
            self._end()
            raise InfraFault(f"a process to check results could not be started: {error}") from error
        return self._process

    def _exchange(self, process: subprocess.Popen[bytes], data: bytes, timeout: float) -> Any:
        assert process.stdin is not None
        assert process.stdout is not None
        until = time.monotonic() + timeout
        _write(process.stdin.fileno(), LENGTH.pack(len(data)) + data, until)
        answer = process.stdout.fileno()
        (size,) = LENGTH.unpack(_read(answer, LENGTH.size, until))
        if size > _LONGEST:
            raise HelperTimeout("its answer is too long")
        return json.loads(_read(answer, size, until))

    def _end(self) -> None:
        if self._process is None:
            return
        process, self._process = self._process, None
        process.kill()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self._ended = process.wait()

    def cpu(self) -> float:
        """Return the CPU seconds that its processes, and ended ones of this process, have taken."""
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        running = 0.0
        if self._process is not None and sys.platform == "linux":
            with contextlib.suppress(OSError):  # it is gone
                running = time.clock_gettime(_process_clock(self._process.pid))
        return ended.ru_utime + ended.ru_stime + running

    def close(self) -> None:
        """End it. Idempotent."""
        with self._lock:
            self._end()


def _process_clock(pid: int) -> int:
    """Return Linux's number of the clock that counts a process's CPU time."""
    return (~pid << 3) | 2


def _write(fd: int, data: bytes, until: float) -> None:
    os.set_blocking(fd, False)
    view = memoryview(data)
    while view:
        _ready(fd, select.POLLOUT, until)
        with contextlib.suppress(BlockingIOError):
            view = view[os.write(fd, view[: 1 << 20]) :]


def _read(fd: int, size: int, until: float) -> bytes:
    parts: list[bytes] = []
    while size:
        _ready(fd, select.POLLIN, until)
        part = os.read(fd, min(size, 1 << 20))
        if not part:
            raise EOFError("it is gone")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _ready(fd: int, event: int, until: float) -> None:
    poller = select.poll()
    poller.register(fd, event)
    if not poller.poll(max(until - time.monotonic(), 0) * 1000):
        raise HelperTimeout("it took too long")
