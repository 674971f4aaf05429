"""One bound on the time of all that a package's or a data set's own programs take together."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from proctor.sandbox.cancellation import Cancellation

USUAL = 600.0
"""Seconds of wall time for all programs that a check of a package runs."""


class TotalTime:
    """Wall time for programs whose authors may be strangers; when it is over, what runs is ended.

    A program's own limits bound one run: a thousand tests may each let it sleep for as long.
    """

    def __init__(self, seconds: float = USUAL) -> None:
        """`seconds` count from now on. Close it."""
        self.seconds = seconds
        self.cancellation = Cancellation()
        """Given to what runs the programs; they raise Cancelled when the time is over."""
        self._spent = dict[str, float]()
        self._timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), self.cancellation.cancel)
        self._timer.daemon = True
        self._timer.start()

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Count the time of a block for the programs that it runs, `name` in messages."""
        began = time.monotonic()
        try:
            yield
        finally:
            self._spent[name] = self._spent.get(name, 0.0) + time.monotonic() - began

    def said(self) -> str:
        """Say who used up the time; for when it is over."""
        name, took = max(self._spent.items(), key=lambda each: each[1], default=("nothing", 0.0))
        return (
            f"the {self.seconds:g} s for all checks are over, of which {name} took {took:.0f} s;"
            " what comes after was not checked (--time gives more)"
        )

    def close(self) -> None:
        """Stop counting. Idempotent."""
        self._timer.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
