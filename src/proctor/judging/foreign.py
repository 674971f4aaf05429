"""Bounds on problems that strangers send, beyond what the types of their fields say.

Packages are read from where their owner has put them. A server is sent problems that may use any
field, and numbers in them decide how much work it does.
"""

import math
from collections.abc import Iterable, Iterator

from proctor.errors import InputError
from proctor.grading import Checker, Comparison
from proctor.problem import (
    MOST_DECIMALS,
    MOST_PROCESSES,
    Communication,
    Interactive,
    Problem,
)

MOST_TESTS, MOST_SUBTASKS = 100_000, 500
MOST_PASSES = 100


def check_foreign(problem: Problem) -> None:
    """Raise InputError, naming the field, for a problem that a server does not judge."""
    _check_range("number of tests", len(problem.tests), 0, MOST_TESTS)
    _check_range("number of subtasks", len(problem.subtasks), 0, MOST_SUBTASKS)
    _check_range("precision", problem.precision, 0, MOST_DECIMALS)
    running, grading = problem.running, problem.grading
    if isinstance(running, Communication):
        _check_range("processes", running.processes, 1, MOST_PROCESSES)
    for field, each in (("running", running), ("grading", grading)):
        if isinstance(each, Interactive | Checker):
            _check_range(f"{field}.passes", each.passes, 1, MOST_PASSES)
    for field, number in _numbers(problem):
        if not math.isfinite(number):
            raise InputError(f"must be a finite number, not {number}", field=field)
    for test in problem.tests:
        if test.full <= 0:
            raise InputError(f"must be more than zero, not {test.full}", field="tests.full")
    for field, words in _words(problem):
        _check_words(field, words)


def _numbers(problem: Problem) -> Iterator[tuple[str, float]]:
    for test in problem.tests:
        yield "tests.weight", test.weight
        yield "tests.full", test.full
    for subtask in problem.subtasks:
        yield "subtasks.points", subtask.points
        yield "subtasks.threshold", subtask.threshold
    if isinstance(problem.grading, Comparison):
        yield "grading.absolute", problem.grading.absolute or 0.0
        yield "grading.relative", problem.grading.relative or 0.0


def _words(problem: Problem) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield what becomes arguments of processes, by field."""
    for test in problem.tests:
        yield "tests.args", test.args
        yield "tests.flags", test.flags
    for family, stub in problem.stubs.items():
        yield f"stubs.{family}.flags", stub.flags
    if isinstance(problem.grading, Checker):
        yield "grading.flags", problem.grading.flags
    if isinstance(problem.running, Interactive):
        yield "running.flags", problem.running.flags
    if isinstance(problem.running, Communication):
        yield "running.manager_args", problem.running.manager_args


def _check_words(field: str, words: Iterable[str]) -> None:
    for word in words:
        try:
            usable = b"\0" not in word.encode()
        except UnicodeEncodeError:
            usable = False
        if not usable:
            raise InputError(f"{word!r:.100} cannot be an argument of a process", field=field)


def _check_range(field: str, number: int, least: int, most: int) -> None:
    if not least <= number <= most:
        raise InputError(f"must be from {least} to {most}, not {number}", field=field)
