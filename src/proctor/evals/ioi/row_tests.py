"""Tests of rows that bring none: read from their source when the first such row of a task comes."""

from collections.abc import Mapping
from typing import Any

from proctor.evals.ioi.sources import Sources
from proctor.formats.ioi_rows import TaskKey, load_tests, task_of_rows
from proctor.problem import Problem, Test

TESTS = "hf:open-r1/ioi-test-cases"


class RowTests:
    """One source of tests, and those of the tasks that were asked for. Not for several threads."""

    def __init__(self, source: str = TESTS) -> None:
        """`source`: a file, a directory, or hf:NAME, which has a configuration for each year."""
        self._source = source
        self._known: dict[TaskKey, dict[str, Test]] = {}

    def problem(self, row: Mapping[str, Any]) -> Problem:
        """Return the problem of a row with its own `test_cases`, or the source's.

        Raises InputError, InfraFault.
        """
        cases = row.get("test_cases")
        if isinstance(cases, Mapping):
            cases = [cases[name] for name in row["test_names"]]
        tests = self._of((int(row["year"]), row["id"])) if cases is None else {}
        return task_of_rows([{**row, "test_cases": cases}], tests).problem

    def _of(self, key: TaskKey) -> Mapping[str, Test]:
        if key not in self._known:
            hub = self._source.startswith("hf:") and self._source.count(":") == 1
            files = Sources().files(f"{self._source}:{key[0]}" if hub else self._source)
            self._known |= load_tests(files, {key})
        return self._known.setdefault(key, {})
