"""Deprecations: warnings that a name, argument or module will be removed, and when.

docs/reference/compatibility.md promises how long deprecated names stay.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import ParamSpec, TypeVar
from warnings import warn

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Deprecation:
    """A name, argument or module that will be removed."""

    since: str
    """Version that began to warn."""
    removed_in: str
    """Version that no longer has it."""
    instead: str
    """Replacement: a name, or a few words."""

    def warn(self, what: str, stacklevel: int = 1) -> None:
        """Warn of the use of `what`; at stacklevel 1 the warning points at the caller's caller."""
        warn(
            f"{what} is deprecated since {self.since} and goes with {self.removed_in}:"
            f" use {self.instead} instead",
            DeprecationWarning,
            stacklevel=stacklevel + 2,
        )


def deprecated(
    *, since: str, removed_in: str, instead: str
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator for a deprecated function: each call warns, at the place of the call."""
    deprecation = Deprecation(since, removed_in, instead)

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **named: P.kwargs) -> R:
            deprecation.warn(f"{function.__module__}.{function.__qualname__}()")
            return function(*args, **named)

        return call

    return decorate


def renamed_argument(
    old: str, new: str, *, since: str, removed_in: str
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator of a function that has renamed a keyword argument: the old name warns.

    Raises TypeError where both are given, as Python does for an argument that comes twice.
    """
    deprecation = Deprecation(since, removed_in, f"{new}=")

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **named: P.kwargs) -> R:
            if old in named:
                if new in named:
                    raise TypeError(f"{function.__qualname__}() got both {old}= and {new}=")
                deprecation.warn(f"{old}= of {function.__qualname__}()")
                named[new] = named.pop(old)
            return function(*args, **named)

        return call

    return decorate
