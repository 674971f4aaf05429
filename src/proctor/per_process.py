"""Values that each process makes for itself: threads, locks and pipes do not survive a fork."""

import os
import threading
import weakref
from collections.abc import Callable
from typing import Generic, TypeVar, TypeVarTuple

Value = TypeVar("Value")
Key = TypeVarTuple("Key")

_all: "weakref.WeakSet[PerProcess[object, *tuple[object, ...]]]" = weakref.WeakSet()


class PerProcess(Generic[Value, *Key]):
    """Values by key, each made when a process first asks for it; a forked child makes its own.

    `make` gets the key. `usable` returns whether a value made before can still be used; if not, a
    new one is made.
    """

    def __init__(
        self, make: Callable[[*Key], Value], usable: Callable[[Value], bool] = lambda _: True
    ) -> None:
        self._make, self._usable = make, usable
        self._inherited: list[dict[tuple[*Key], Value]] = []
        """The parent's values, kept alive: collecting them would end what belongs to the parent."""
        self._values: dict[tuple[*Key], Value] = {}
        self._lock = threading.Lock()
        _all.add(self)  # type: ignore[arg-type]  # any key, any value

    def get(self, *key: *Key) -> Value:
        """Return this process's value. Raises what `make` raises."""
        with self._lock:
            value = self._values.get(key)
            if value is None or not self._usable(value):
                value = self._values[key] = self._make(*key)
            return value

    def begin_anew(self) -> None:
        """Forget the values and the lock of the process that this one was forked from."""
        self._inherited.append(self._values)
        self._values, self._lock = {}, threading.Lock()


def _begin_anew() -> None:
    for each in list(_all):
        each.begin_anew()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_begin_anew)
