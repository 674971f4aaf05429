"""Helper processes, which run trusted code over untrusted data: slow or large ones are ended.

A helper is asked one thing at a time, by JSON with its length in front, on its standard input.
"""

import contextlib
import json
import os
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


class HelperTimeout(InfraFault):
    """A helper did not answer in its time, or used up its memory, and was ended."""

    code = "helper-timeout"


def serve(answer: Callable[[bytes], Any]) -> None:
    """Answer requests, in a helper's process, until there are no more."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what `answer` prints must not get among the answers
    answers.write(b"!")
    answers.flush()
    while head := sys.stdin.buffer.read(LENGTH.size):
        data = json.dumps(answer(sys.stdin.buffer.read(*LENGTH.unpack(head)))).encode()
        answers.write(LENGTH.pack(len(data)) + data)
        answers.flush()


class Helper:
    """Runs `python -m module`, which calls serve(); started when it is first asked."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._ended: int | None = None
        """Return code of the last process."""

    def ask(self, request: Any, timeout: float) -> Any:
        """Return the helper's answer. Raises HelperTimeout, and InfraFault if it cannot start."""
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
                [sys.executable, "-m", self._module],
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

    def close(self) -> None:
        """End it. Idempotent."""
        with self._lock:
            self._end()


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
