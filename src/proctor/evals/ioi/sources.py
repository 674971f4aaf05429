"""Where tasks, tests and submissions come from: local tables, directories, the hub."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proctor.errors import InputError
from proctor.formats import hub_names
from proctor.formats.hub import HubSource, Progress, fetch
from proctor.formats.ioi_rows import TaskKey, load_tests, task_of_rows
from proctor.formats.tables import columns_of, table_files
from proctor.problem import Problem, Test

TESTS_SUFFIX = "-test-cases"
"""The tests of the data set OWNER/NAME are in OWNER/NAME-test-cases, one configuration a year."""
TESTS = "hf:open-r1/ioi-test-cases"


@dataclass(frozen=True, slots=True)
class Sources:
    """Resolves what was named on the command line."""

    progress: Progress | None = None

    def files(self, source: str) -> list[Path]:
        """Tables of a source: a file, a directory, or `hf:...`. Raises InputError, InfraFault.

        Its last part may be a pattern, `*.jsonl` or `hf:OWNER/models-*`: all matches are taken.
        """
        if source.startswith("hf:"):
            return [file for each in hub_names.sources(source) for file in self._fetch(each)]
        path = Path(source)
        matching = [] if path.exists() else sorted(path.parent.glob(path.name or "."))
        return [file for each in matching or [path] for file in table_files(each)]

    def task_files(
        self, sources: Iterable[str], years: Callable[[list[Path]], Iterable[int]]
    ) -> tuple[list[Path], list[Path]]:
        """Tables of subtasks, and tables of tests; `years` tells which tests of the hub are needed.

        If no tests are named, OWNER/NAME-test-cases has those of OWNER/NAME, and a test_cases table
        beside a local table has its tests. Raises InputError for a source without tables of either.
        """
        subtasks: list[Path] = []
        tests: list[Path] = []
        named: list[HubSource] = []
        implied: list[HubSource] = []
        for source in sources:
            hub = HubSource.parse(source) if source.startswith("hf:") else None
            if hub is not None and hub.repo.endswith(TESTS_SUFFIX):
                named.append(hub)
                continue
            found = self._sorted_out(source)
            subtasks += found[0]
            tests += found[1]
            if hub is not None:
                implied.append(HubSource(hub.repo + TESTS_SUFFIX))
        if not subtasks:
            raise InputError("no table of subtasks among them", field="--tasks")
        on_hub = named if named or tests else implied
        wanted = sorted(set(years(subtasks))) if on_hub else []
        for hub in on_hub:
            for config in [hub.config] if hub.config else map(str, wanted):
                tests += self._fetch(HubSource(hub.repo, hub.revision, config))
        return subtasks, tests or _beside(subtasks)

    def subtask_files(self, sources: Iterable[str]) -> list[Path]:
        """Tables of subtasks alone. Raises InputError for a source that has none."""
        found: list[Path] = []
        for source in sources:
            subtasks, _ = self._sorted_out(source)
            if not subtasks:
                raise InputError("has no subtasks (field test_names)", file=source)
            found += subtasks
        return found

    def _sorted_out(self, source: str) -> tuple[list[Path], list[Path]]:
        subtasks, tests = [], []
        for file in self.files(source):
            columns = columns_of(file)
            if "test_names" in columns:
                subtasks.append(file)
            elif "test_input" in columns:
                tests.append(file)
        if not subtasks and not tests:
            raise InputError(
                "has neither subtasks (field test_names) nor tests (field test_input)", file=source
            )
        return subtasks, tests

    def _fetch(self, source: HubSource) -> list[Path]:
        return fetch(source, progress=self.progress)


def _beside(subtasks: list[Path]) -> list[Path]:
    places = {file.parent for file in subtasks}
    return sorted(
        file
        for place in places
        for file in place.glob("test_cases.*")
        if "test_input" in columns_of(file)
    )


class RowTests:
    """One source of tests, which keeps those of all tasks used so far. Not thread-safe."""

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

    def tests(self, key: TaskKey) -> Mapping[str, Test]:
        """Return a task's tests by name. Raises InputError if it has none, InfraFault."""
        found = self._of(key)
        if not found:
            raise InputError(f"has no test of {key[1]} of {key[0]}", file=self._source)
        return found

    def _of(self, key: TaskKey) -> Mapping[str, Test]:
        if key not in self._known:
            hub = self._source.startswith("hf:") and self._source.count(":") == 1
            files = Sources().files(f"{self._source}:{key[0]}" if hub else self._source)
            self._known |= load_tests(files, {key})
        return self._known.setdefault(key, {})
