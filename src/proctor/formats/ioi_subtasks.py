"""Subtasks of the open-r1/ioi data set without tests and graders: what is asked, and its worth."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from proctor.formats.ioi_rows import TaskKey, converted
from proctor.formats.tables import read_table


class _InfoRow(msgspec.Struct):
    year: int
    id: str
    subtask: str
    score: float
    score_precision: int = 2
    day: str | None = None
    task_type: str | None = None
    name: str | None = None
    statement: str | None = None
    starting_code: str | None = None


@dataclass(frozen=True, slots=True)
class SubtaskInfo:
    """A subtask without tests and graders."""

    year: int
    id: str
    """Id of the task."""
    subtask: str
    score: float
    """Points."""
    precision: int
    day: str
    task_type: str
    title: str
    statement: str
    starting_code: str

    @property
    def key(self) -> TaskKey:
        """Year and problem id."""
        return self.year, self.id

    @property
    def name(self) -> str:
        """Unique among all subtasks: `2024-message-02-full`."""
        return f"{self.year}-{self.id}-{self.subtask}"


def subtask_infos(files: Iterable[Path]) -> Iterator[SubtaskInfo]:
    """Describe all subtasks without their tests, in order. Raises InputError."""
    for file in files:
        for row in read_table(file, _InfoRow.__struct_fields__):
            values = converted(row, _InfoRow)
            yield SubtaskInfo(
                values.year,
                values.id,
                values.subtask,
                values.score,
                values.score_precision,
                values.day or "",
                values.task_type or "Batch",
                values.name or "",
                values.statement or "",
                values.starting_code or "",
            )
