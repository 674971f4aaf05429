"""Ending one execution of a session early, while the session goes on."""

import os
import threading
from collections.abc import Callable
from typing import Self


class Stop:
    """A request, from any thread, to end one execution in a session early.

    The caller that waits for the execution gets Cancelled: a program is killed, a notebook's cell
    is interrupted, and killed if it does not stop. For one execution; close it afterwards.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()  # nobody writes to the number of a closed descriptor
        self._event = -1
        self._wanted = self._closed = False
        self._calls: list[Callable[[], None]] = []

    @property
    def wanted(self) -> bool:
        """True once set() has been called."""
        return self._wanted

    def set(self) -> None:
        """End the execution. Idempotent; has no effect once it has ended."""
        with self._lock:
            if self._wanted or self._closed:
                self._wanted = True
                return
            self._wanted = True
            if self._event >= 0:
                os.eventfd_write(self._event, 1)
            calls, self._calls = self._calls, []
        for call in calls:
            call()

    def when_set(self, call: Callable[[], None]) -> None:
        """Call `call` when this is set, in the thread that sets it; at once if it is set."""
        with self._lock:
            if not self._wanted:
                self._calls.append(call)
                return
        call()

    def fileno(self) -> int:
        """Return a descriptor that is readable once this is set."""
        with self._lock:
            if self._event < 0 and not self._closed:
                # Made when needed: systems other than Linux have no eventfd, and no need of one.
                self._event = os.eventfd(int(self._wanted), os.EFD_CLOEXEC)
            return self._event

    def close(self) -> None:
        """Close the descriptor. Idempotent."""
        with self._lock:
            if self._event >= 0:
                os.close(self._event)
            self._event, self._closed = -1, True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
