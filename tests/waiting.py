"""Waiting for a state instead of a time: on a busy machine all that happens happens late."""

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

State = TypeVar("State")

PATIENCE = 240.0
"""Seconds after which what should come counts as not coming; only a failing test waits so long."""


def until(state: Callable[[], State], patience: float = PATIENCE) -> State:
    """Look until the state is true; return it. Where somebody would tell us, listen instead."""
    for _ in _looks(patience):
        if found := state():
            return found
        time.sleep(0.01)
    raise AssertionError(f"it never came: {found!r}")


def until_none(left: Callable[[], object], patience: float = PATIENCE) -> None:
    """Look until nothing is left; whoever waits in vain is told what."""
    for _ in _looks(patience):
        if not (found := left()):
            return
        time.sleep(0.01)
    raise AssertionError(f"still there: {found!r}")


async def until_true(state: Callable[[], State], patience: float = PATIENCE) -> State:
    """Look until the state is true, and let the loop's other tasks go on meanwhile; return it."""
    for _ in _looks(patience):
        if found := state():
            return found
        await asyncio.sleep(0.001)
    raise AssertionError(f"it never came: {found!r}")


async def settled() -> None:
    """Let all tasks run that wait for nothing but their turn: not for threads, nor for files."""
    for _ in range(20):
        await asyncio.sleep(0)


def _looks(patience: float) -> Iterator[None]:
    """Yield until time is up, and once more: a busy machine may not have let us look."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        yield
    yield
