"""Answers of a program to its tests, compared one by one, or only when all tests were run."""

from collections.abc import Callable
from typing import Generic, TypeVar

from proctor.judgement import TestResult
from proctor.judging.settings import Stop

T = TypeVar("T")

MOST_HELD = 64 << 20
"""Bytes of answers that wait to be compared; as many as one test may print by default."""


class Answers(Generic[T]):
    """Answers in the order of the tests, each of which is final.

    With `stop` "first" an answer is compared at once, and the first that does not pass is the
    last. Otherwise answers are compared after the last test, or once they exceed MOST_HELD: until
    then nobody knows whether any was right, so no choice or timing of tests can reveal it.
    """

    def __init__(self, stop: Stop, compare: Callable[[T], TestResult]) -> None:
        self.results: list[TestResult] = []
        """Results of the answers that have been compared."""
        self._stop, self._compare = stop, compare
        self._held: list[T] = []
        self._size = 0
        self._crashed = False

    def __len__(self) -> int:
        return len(self.results) + len(self._held)

    def take(self, answer: T, size: int, *, crashed: bool) -> None:
        """Take the next test's answer, of about so many bytes.

        `crashed`: there is nothing to compare, since the program crashed or overran a limit.
        """
        self._held.append(answer)
        self._size += size
        self._crashed = self._crashed or crashed
        if self._stop == "first" or self._size > MOST_HELD:
            self.compare()

    def compare(self) -> None:
        """Compare the answers that wait to be compared."""
        held, self._held, self._size = self._held, [], 0
        self.results += map(self._compare, held)

    @property
    def stopped(self) -> bool:
        """True once the remaining tests must not be run."""
        if self._stop == "crash":
            return self._crashed
        failed = bool(self.results) and not self.results[-1].verdict.passed
        return self._stop == "first" and failed
