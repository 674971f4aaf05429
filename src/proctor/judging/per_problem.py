"""Values that are computed once per problem and used for all its programs."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from proctor.problem import Problem

T = TypeVar("T")


class PerProblem(Generic[T]):
    """A thread-safe memo of the problems last seen. Results, not errors, are kept."""

    def __init__(self, compute: Callable[[Problem], T], most: int = 64) -> None:
        self._compute = compute
        self._most = most
        # By id() of the problem, which the entry keeps alive so that the id is not reused.
        self._known: OrderedDict[int, tuple[Problem, T]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, problem: Problem) -> T:
        """Return what `compute` makes of the problem; raises what it raises."""
        with self._lock:
            known = self._known.get(id(problem))
        if known is not None:
            return known[1]
        value = self._compute(problem)
        with self._lock:
            self._known[id(problem)] = (problem, value)
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        return value
