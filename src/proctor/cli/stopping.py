"""Stopping the work that a command waits for, so that results so far are kept."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from proctor.sandbox.stop import Stop


@contextmanager
def cancelled_by_signals() -> Iterator[None]:
    """Let SIGINT and SIGTERM cancel the current task."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, task.cancel)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


@contextmanager
def stop_by_signals() -> Iterator[Stop]:
    """Yield a Stop that SIGINT and SIGTERM set.

    An exception instead, raised anywhere, could leave the locks of futures taken for ever.
    """
    with Stop() as stop:
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {each: signal.signal(each, lambda *_: stop.set()) for each in numbers}
        try:
            yield stop
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
