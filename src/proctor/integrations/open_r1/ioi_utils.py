"""Helpers for the rows of IOI tasks, under open-r1's names."""

from functools import cache

from proctor.evals.ioi.sources import TESTS, RowTests
from proctor.evals.ioi.submissions import add_includes as _add_includes


def add_includes(code: str, problem_id: str) -> str:
    """Add the headers that a solution forgot."""
    return _add_includes(code, f"{problem_id}.h")


def load_ioi_tests(
    year: int, problem_id: str, *, source: str = TESTS
) -> dict[str, tuple[str, str]]:
    """Return a task's tests: input and output by the test's name. Each source is read once.

    Raises InputError for a task without tests, InfraFault where the hub cannot be reached.
    """
    tests = _rows(source).tests((year, problem_id))
    return {name: (test.input_text(), test.output_text()) for name, test in tests.items()}


_rows = cache(RowTests)
