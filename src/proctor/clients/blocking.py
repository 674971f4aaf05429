"""Blocking counterparts of asynchronous classes, which wait for an event loop in a thread."""

import functools
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from typing import Concatenate, Generic, ParamSpec, TypeVar

from proctor.loop_thread import LoopThread

A = TypeVar("A")
B = TypeVar("B")
T = TypeVar("T")
P = ParamSpec("P")


class Blocking(Generic[A]):
    """Base of classes whose methods wait for those of an asynchronous object, see `blocking`."""

    def __init__(self, asynchronous: A, loop: LoopThread) -> None:
        self._asynchronous, self._loop = asynchronous, loop


def blocking(
    method: Callable[Concatenate[A, P], Awaitable[T]],
) -> Callable[Concatenate[Blocking[A], P], T]:
    """Return the counterpart of a method, with its arguments, which waits for the result."""

    @functools.wraps(method)
    def call(self: Blocking[A], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._loop.wait(method(self._asynchronous, *args, **kwargs))

    return call


def wrapping(
    method: Callable[Concatenate[A, P], Awaitable[T]], kind: Callable[[T, LoopThread], B]
) -> Callable[Concatenate[Blocking[A], P], B]:
    """Return the counterpart of a method whose result has a blocking counterpart, too."""

    @functools.wraps(method)
    def call(self: Blocking[A], /, *args: P.args, **kwargs: P.kwargs) -> B:
        return kind(self._loop.wait(method(self._asynchronous, *args, **kwargs)), self._loop)

    return call


def iterating(
    method: Callable[Concatenate[A, P], AsyncGenerator[T, None]],
) -> Callable[Concatenate[Blocking[A], P], Iterator[T]]:
    """Return the counterpart of a generator; leaving its loop early closes the generator."""

    @functools.wraps(method)
    def call(self: Blocking[A], /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        found = method(self._asynchronous, *args, **kwargs)
        try:
            while (each := self._loop.wait(anext(found, None))) is not None:
                yield each
        finally:
            self._loop.wait(found.aclose())

    return call
