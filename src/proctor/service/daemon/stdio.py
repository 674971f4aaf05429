"""Lines read and written through descriptors that nothing else in this process uses.

Threads serve them: a descriptor may be a pipe, a socket, a file, a terminal.
"""

import os
import select
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator

_CHUNK = 1 << 20
_BEGINNING = 4096
"""Bytes of a line that is too long which are kept."""
MOST_UNSENT = 64 << 20
"""Bytes of unread answers at which no further request is read."""


def take_stdio() -> tuple[int, int]:
    """Return descriptors of the former stdin and stdout.

    From then on stdin is empty, and all that Python or native code prints goes to stderr.
    """
    sys.stdout.flush()
    source, target = os.dup(0), os.dup(1)
    for descriptor in (source, target):
        os.set_blocking(descriptor, True)  # a process that shares it may have made it non-blocking
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdout = sys.stderr
    return source, target


class CutLine(bytes):
    """The beginning of a line that was too long, by which its request can be recognised."""


def lines(source: int, most: int) -> Iterator[bytes]:
    """Yield lines without line ends until the input ends; a CutLine for one of more than `most`.

    No more than `most` bytes of a line are ever held.
    """
    kept, over = bytearray(), False
    while data := os.read(source, _CHUNK):
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            over = over or len(kept) + end - start > most
            kept += data[start : min(end, start + _BEGINNING) if over else end]
            yield CutLine(kept[:_BEGINNING]) if over else bytes(kept)
            kept, over, start = bytearray(), False, end + 1
        over = over or len(kept) + len(data) - start > most
        kept += data[start : start + _BEGINNING if over else len(data)]
        if over:
            del kept[_BEGINNING:]
    if over or kept:
        yield CutLine(kept) if over else bytes(kept)


class LineWriter:
    """Writes lines in order, from a thread of its own, so that a slow reader holds up nothing."""

    def __init__(self, target: int, broken: Callable[[], None]) -> None:
        """Write to `target`; call `broken`, from another thread, when the reader has gone."""
        self._target, self._broken = target, broken
        self._waiting: deque[bytes] = deque()
        self._unsent = 0
        self._changed = threading.Condition()
        self._closed = self._deaf = False
        self._thread = threading.Thread(target=self._write, name="proctor-stdout", daemon=True)
        self._thread.start()
        threading.Thread(target=self._watch, name="proctor-hang-up", daemon=True).start()

    def send(self, line: bytes) -> None:
        """Queue a line; its end is added. From any thread."""
        with self._changed:
            if self._deaf:
                return
            self._waiting.append(line + b"\n")
            self._unsent += len(line)
            self._changed.notify_all()

    def wait_for_room(self) -> None:
        """Return when no more than MOST_UNSENT bytes are unread."""
        with self._changed:
            self._changed.wait_for(lambda: self._deaf or self._unsent <= MOST_UNSENT)

    def close(self, patience: float | None) -> None:
        """Return when all is written, or after `patience` seconds, even if something is unread."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join(patience)

    def _write(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if not self._waiting:
                    return
                line = self._waiting.popleft()
            try:
                left = memoryview(line)
                while left:
                    left = left[os.write(self._target, left) :]
            except OSError:
                self._hung_up()
                return
            with self._changed:
                self._unsent -= len(line) - 1
                self._changed.notify_all()

    def _watch(self) -> None:
        """Wait for the reader to go away, which a long job would else notice at its end only."""
        if not hasattr(select, "poll"):
            return
        watch = select.poll()
        watch.register(self._target, 0)  # hang-ups and errors are reported without being asked for
        if watch.poll():
            self._hung_up()

    def _hung_up(self) -> None:
        with self._changed:
            if self._deaf:
                return
            self._deaf = True
            self._waiting.clear()
            self._changed.notify_all()
        self._broken()
