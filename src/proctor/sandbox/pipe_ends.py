"""The ends of a program's pipes: which of two programs ended first, and which only fell silent."""

import os
import select
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from proctor.sandbox.command import Streams
from proctor.sandbox.machine.closings import READER, WRITER, Closings, watcher

_MOMENT = 1  # milliseconds


@dataclass(frozen=True, slots=True)
class _HeldEnd:
    """An end of a pipe that is held open here."""

    fd: int
    writes: bool
    watch: int | None
    """Number of its watch; None if nobody can tell when the program closes its own."""


class PipeEnds:
    """Gives a program its streams, and holds its ends of pipes open until its end is recorded.

    The program at the other end of a pipe sees that end later than proctor does. So the pipe tells
    which of two programs ended first; clocks read in several cells could not.

    But a program may also close an end and go on, to say that no more will come. So it does not
    get the descriptors that are held here but openings of its own, and mere paths of pipes that it
    opens by name: what it inherits would else stay open. When it has closed its opening, the end is
    closed here too.
    """

    def __init__(self, streams: Streams) -> None:
        """Take over the descriptors; open() comes next, close() last."""
        self.given = streams
        """The streams that the program gets."""
        self.let_go = False
        """True once it has closed its output, while somebody read it, and gone on."""
        self._streams = streams
        self._closings: Closings | None = None
        given = streams.descriptors()
        self._held = [_HeldEnd(fd, _writes(fd), None) for fd in given if streams.keep]
        self._openings = [] if streams.keep else given

    def open(self) -> None:
        """Open the pipes once more, for the program. Raises CellDied and OSError."""
        self._closings = closings = watcher() if self._held else None
        if closings is None:
            return
        streams, instead = self._streams, {}
        for index, end in enumerate(self._held):
            named = end.fd in streams.inherit
            if named and not end.writes and closings.paths_count:
                continue
            flags = os.O_PATH if named else os.O_WRONLY if end.writes else os.O_RDONLY
            try:
                fd = os.open(f"/proc/self/fd/{end.fd}", flags | os.O_CLOEXEC)
            except PermissionError:  # to a process that hides its memory
                continue
            self._openings.append(fd)
            instead[end.fd] = fd
            self._held[index] = replace(end, watch=closings.watch(end.fd))
        stdin, stdout = streams.stdin, streams.stdout
        self.given = replace(
            streams,
            stdin=instead.get(stdin, stdin) if isinstance(stdin, int) else stdin,
            stdout=instead.get(stdout, stdout) if stdout is not None else None,
            inherit=tuple(instead.get(fd, fd) for fd in streams.inherit),
        )

    def handed_over(self) -> None:
        """Close what only the program needs: it has got it by now."""
        while self._openings:
            os.close(self._openings.pop())

    def follow(self, ending: Callable[[], bool]) -> None:
        """Close the ends that the program has closed, unless it is `ending`. Raises OSError."""
        closed = [end for end in self._held if self._closed(end)]
        if not closed or ending():
            return
        for end in closed:
            self.let_go |= end.writes and not _hung_up([end])
            self._held.remove(end)
            self._close(end)

    def _closed(self, end: _HeldEnd) -> bool:
        if self._closings is None or end.watch is None:
            return False
        return self._closings.closed(end.watch, WRITER if end.writes else READER)

    def hung_up(self) -> bool:
        """Return whether the program's output has lost its reader; to be called after its end.

        If it has closed its output itself: whether its input has lost its writer. A partner that
        has closed that writer and still reads is ending, or has only said all that it has to say.
        """
        readers, writers = ([end for end in self._held if end.writes is w] for w in (False, True))
        if not writers:
            return _hung_up(readers)
        ending = self._streams.partner_ending
        while True:
            more = ending is not None and ending()
            if _hung_up(writers):
                return True
            if not more or not _hung_up(readers):
                return False
            _hung_up(writers, _MOMENT)

    def close(self) -> None:
        """Close what is still open."""
        self.handed_over()
        while self._held:
            self._close(self._held.pop(0))

    def _close(self, end: _HeldEnd) -> None:
        if self._closings is not None and end.watch is not None:
            self._closings.forget(end.watch)
        os.close(end.fd)


def _writes(fd: int) -> bool:
    import fcntl  # missing on some systems that import this module

    return fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY


def _hung_up(ends: Sequence[_HeldEnd], timeout: float = 0) -> bool:
    """Return whether the other end of one is closed, within `timeout` milliseconds."""
    poller = select.poll()
    for end in ends:
        poller.register(end.fd, 0)  # poll() reports a hang-up without a request for it
    return bool(poller.poll(timeout))
