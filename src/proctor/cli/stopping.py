"""Stopping what a command awaits, so that what was made is kept."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def cancelled_by_signals() -> Iterator[None]:
    """Let SIGINT and SIGTERM cancel the task that this is in."""
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
