"""Tells that programs have closed ends of pipes: nobody else can see it who holds them open too."""

import errno
import os
import struct
import threading
from collections import Counter

from proctor.errors import CellDied
from proctor.per_process import PerProcess

WRITER, READER = 0x8, 0x10  # IN_CLOSE_WRITE and IN_CLOSE_NOWRITE of inotify(7)
_OVERFLOW = 0x4000  # IN_Q_OVERFLOW: events were lost
_EVENT = struct.Struct("=iIII")  # no names follow: what is watched are no directories
_READ = 1 << 16  # bytes
_UNKNOWN = {errno.ENOSYS, errno.EPERM, errno.EACCES, errno.ENOENT}
"""Errors where inotify or /proc is missing or barred, as in some sandboxes."""


class Closings:
    """The pipes that this process watches; for all, one of the few instances that a user may have.

    What counts as closing is that of an open file description: of all descriptors that were made
    from one opening by dup, fork or sending.
    """

    def __init__(self) -> None:
        """Begin with none. Raises OSError."""
        import ctypes  # slow to import, and seldom needed

        self._library = ctypes.CDLL(None, use_errno=True)
        self._errno = ctypes.get_errno
        self._fd = self._checked(self._library.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK))
        self._seen: dict[int, int] = {}
        """WRITER and READER, as far as such an end was closed, by number of the watch."""
        self._wanted: Counter[int] = Counter()
        """How often each watch is wanted: both ends of a pipe have the same."""
        self._lock = threading.Lock()
        self.paths_count = self._try_path()
        """True if to close a mere path (O_PATH) counts as to close a reader, as on old kernels."""

    def _try_path(self) -> bool:
        reader, writer = os.pipe2(os.O_CLOEXEC)
        try:
            watch = self.watch(reader)
            os.close(os.open(f"/proc/self/fd/{reader}", os.O_PATH | os.O_CLOEXEC))
            counts = self.closed(watch, READER)
            self.forget(watch)
            return counts
        finally:
            os.close(reader)
            os.close(writer)

    def watch(self, fd: int) -> int:
        """Watch a descriptor's pipe until forget(); return the watch's number. Raises OSError."""
        path = f"/proc/self/fd/{fd}".encode()
        with self._lock:
            added = self._library.inotify_add_watch(self._fd, path, WRITER | READER)
            watch = self._checked(added)
            self._seen.setdefault(watch, 0)
            self._wanted[watch] += 1
            return watch

    def forget(self, watch: int) -> None:
        """End a watch, for one of those who wanted it: it keeps the pipe in memory."""
        with self._lock:
            self._wanted[watch] -= 1
            if not self._wanted[watch]:
                del self._wanted[watch], self._seen[watch]
                self._library.inotify_rm_watch(self._fd, watch)

    def closed(self, watch: int, which: int) -> bool:
        """Return whether a WRITER or READER of that pipe has been closed. Raises OSError."""
        with self._lock:
            self._take_in()
            return bool(self._seen[watch] & which)

    def _take_in(self) -> None:
        while True:
            try:
                data = os.read(self._fd, _READ)
            except BlockingIOError:
                return
            for watch, what, _, _ in _EVENT.iter_unpack(data):
                if what & _OVERFLOW:
                    # By a program that opens and closes its pipe all the time, perhaps to keep the
                    # others waiting for an end of input. To take a pipe for closed changes less.
                    self._seen = dict.fromkeys(self._seen, WRITER | READER)
                elif watch in self._seen:
                    self._seen[watch] |= what

    def _checked(self, result: int) -> int:
        if result < 0:
            number = self._errno()
            raise OSError(number, os.strerror(number))
        return result


_closings: PerProcess[Closings] = PerProcess(Closings)


def watcher() -> Closings | None:
    """Return this process's; None where the system has none. Raises CellDied."""
    try:
        return _closings.get()
    except OSError as error:
        if error.errno in _UNKNOWN:
            return None
        raise CellDied(
            f"pipes cannot be watched: {error.strerror}; see fs.inotify.max_user_instances"
        ) from error
