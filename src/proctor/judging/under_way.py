"""Futures that are waited for together, and futures of changed results of others."""

import queue
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

Label = TypeVar("Label")
Made = TypeVar("Made")


def changed(future: Future[Made], change: Callable[[Made], Made]) -> Future[Made]:
    """Return a future of another's result, changed by `change`; cancelling it cancels the other."""
    outcome: Future[Made] = Future()

    def hand_over(done: Future[Made]) -> None:
        if done.cancelled():
            outcome.cancel()
        if not outcome.set_running_or_notify_cancel():
            return
        if (error := done.exception()) is not None:
            outcome.set_exception(error)
        else:
            outcome.set_result(change(done.result()))

    future.add_done_callback(hand_over)
    outcome.add_done_callback(lambda each: future.cancel() if each.cancelled() else None)
    return outcome


class UnderWay(Generic[Label]):
    """Futures under way, each with a label; those that are done come out in the order they ended.

    `concurrent.futures.wait` looks at all of them each time; with a cluster's thousands under way
    that is most of the work.
    """

    def __init__(self) -> None:
        self._labels: dict[Future[Any], Label] = {}
        self._ended: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()

    def __len__(self) -> int:
        return len(self._labels)

    def add(self, future: Future[Any], label: Label) -> None:
        """Add a future to those waited for."""
        self._labels[future] = label
        future.add_done_callback(self._ended.put)

    def done(self, timeout: float | None = None) -> Iterator[tuple[Label, Future[Any]]]:
        """Wait for one, at most `timeout` seconds; yield it and all others that are done."""
        try:
            future = self._ended.get(timeout=timeout)
            while True:
                yield self._labels.pop(future), future
                future = self._ended.get_nowait()
        except queue.Empty:
            return

    def cancel(self) -> None:
        """Cancel those that have not begun."""
        for future in self._labels:
            future.cancel()
