"""Rows of a benchmark file, each of which is an instance."""

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from proctor.errors import InputError
from proctor.evals.benchmark import UNUSABLE
from proctor.evals.benchmark_file.tasks import RowTask
from proctor.evals.stored import ProblemInfo
from proctor.evals.tables import described
from proctor.formats.livecodebench import did_you_mean
from proctor.formats.tables import Row, read_table

_logger = logging.getLogger(__name__)


_BATCH = 64
"""Rows whose texts are evaluated together."""
_LARGE = 1 << 20
"""Bytes of rows, after which no more are taken together."""


class TasksOf(Protocol):
    """Makes the tasks of rows, in order."""

    def __call__(
        self, rows: Sequence[Row], *, tried: bool
    ) -> Iterator[RowTask | InputError | None]:
        """Yield None for a row that is left out, and an error for one that cannot be used.

        `tried` says that prompts are rendered, too. Raises InputError for what all rows share.
        """


@dataclass(frozen=True, slots=True)
class FileSource:
    """Instances in one or more tables."""

    name: str
    files: tuple[Path, ...]
    tasks_of: "TasksOf"
    info_of: Callable[[RowTask], ProblemInfo]
    definition: tuple[Path, ...]
    """The benchmark file and those that it includes; none for one that comes with proctor."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Numbers of rows that `infos` left out, by reason."""

    def infos(self) -> Iterator[ProblemInfo]:
        """Describe all usable rows; a warning names the first unusable one.

        Raises InputError if no row is usable, or two have the same id.
        """
        empty, odd = True, list[InputError]()
        self.left_out.clear()
        for task in self._all(odd, counting=True):
            try:
                info = self.info_of(task)
            except InputError as error:
                odd.append(error)
                continue
            empty = False
            yield info
        if odd:
            if empty:
                raise odd[0]
            self.left_out[UNUSABLE] = len(odd)
            more = f", with {len(odd) - 1} more that cannot be used" if len(odd) > 1 else ""
            _logger.warning("%s; this row is left out%s", odd[0], more)
        elif empty:
            raise InputError("has no row, or none that `where` takes", file=self.name)

    def instances(self, only: Collection[str]) -> Iterator[RowTask]:
        """Load rows by their ids, in the tables' order. Raises InputError for an absent id."""
        left = set(only)
        for task in self._all() if left else ():
            if task.id in left:
                left.discard(task.id)
                yield task
                if not left:
                    return
        if left:
            absent = min(left)
            known = [each.id for each in self._all()]
            raise InputError(f"has no {absent!r}{did_you_mean(absent, known)}", file=self.name)

    def provenance(self) -> list[dict[str, Any]]:
        """Describe the benchmark file and each table by name, bytes and SHA-256."""
        return described((*self.definition, *self.files))

    def _all(
        self, odd: list[InputError] | None = None, *, counting: bool = False
    ) -> Iterator[RowTask]:
        """Make the tasks of all rows; errors of rows that cannot be used are added to `odd`."""
        seen: dict[str, str] = {}
        for file in self.files:
            for rows in _batches(file):
                for row, task in zip(rows, self.tasks_of(rows, tried=counting), strict=True):
                    if isinstance(task, InputError):
                        if odd is not None:
                            odd.append(task)
                        continue
                    if task is None:
                        if counting:
                            self.left_out["where"] += 1
                        continue
                    if task.id in seen:
                        raise row.error(f"{task.id!r} is already the id of {seen[task.id]}; "
                                        "remove one of the two rows", "id")  # fmt: skip
                    seen[task.id] = f"line {row.line} of {row.file}"
                    yield task


def _batches(file: Path) -> Iterator[list[Row]]:
    """Read rows, some at a time: few where they are large. Raises InputError after those before."""
    rows: list[Row] = []
    size = 0
    broken: InputError | None = None
    table = read_table(file)
    while broken is None:
        try:
            row = next(table, None)
        except InputError as error:
            row, broken = None, error
        if row is not None:
            rows.append(row)
            size += row.size
        if rows and (row is None or len(rows) == _BATCH or size > _LARGE):
            yield rows
            rows, size = [], 0
        if row is None and broken is None:
            return
    raise broken
