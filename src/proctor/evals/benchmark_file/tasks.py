"""Tasks of a benchmark file, made of its rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any

from proctor.errors import InputError, must_be
from proctor.evals.benchmark_file.definition import BenchmarkDefinition
from proctor.evals.benchmark_file.evaluation import NOTHING, Answers, RunValues
from proctor.evals.benchmark_file.expressions import (
    BoundExceeded,
    Expression,
    FieldError,
    Names,
    Values,
)
from proctor.evals.benchmark_file.grading import Graded, graded
from proctor.evals.benchmark_file.row_values import RowValues, exceeded
from proctor.evals.settings import Settings
from proctor.evals.stored import ProblemInfo
from proctor.formats.tables import Row
from proctor.problem import Problem

INFO = (
    "id", "title", "statement", "platform", "difficulty", "published", "contest", "contest_date",
    "starter_code",
)  # fmt: skip
"""Fields of `rows` that are expressions, but for `where`."""
USUAL = Settings()
UNKNOWN = RunValues()


@dataclass(frozen=True, slots=True)
class RowTask:
    """One row: what is asked, and what the answer is graded by."""

    info: ProblemInfo
    names: Names
    """Values that templates see."""
    graded: Mapping[str, Graded]
    """Problem or tests that the answer is graded by, by mode."""
    function: str = ""
    """Function or class that is asked for; empty for a whole program."""
    head: str = ""
    """Source that ends with the beginning of the function, if that is given."""
    unfit: str = ""
    """Reason why it cannot be graded here; empty if it can."""
    examples: tuple["RowTask", ...] = ()
    """Tasks that a prompt shows solved."""
    row: Row | None = None
    """Row that it was made of, without which errors name no line."""
    known: Answers = field(default_factory=dict)
    """Results of what was evaluated together with the row, by key."""

    @property
    def id(self) -> str:
        return self.info.id

    @property
    def problem(self) -> Problem:
        """The problem that it is graded by, of the first mode. Raises InputError if it has none."""
        found = next(iter(self.graded.values()))
        must_be(Problem, found, "grading")
        assert isinstance(found, Problem)
        return found


@dataclass(frozen=True, slots=True)
class TaskMaker:
    """Makes the tasks of one benchmark file."""

    definition: BenchmarkDefinition
    directory: Path
    values: RowValues
    source: Expression | None = None
    """The template `source` of a SameProcessTable."""

    def tasks(
        self, rows: Sequence[Row], settings: Settings, run: RunValues, tried: Sequence[Expression]
    ) -> Iterator["RowTask | InputError | None"]:
        """Make the tasks of some rows, whose texts are evaluated together; see task().

        Templates that are `tried` are rendered, too, and each task knows what failed. Raises
        InputError for a text that exceeds its bounds: for other rows it would take as long.
        """
        values = self.values.of_rows((_names(row, run) for row in rows), tried)
        for row, known in zip(rows, values, strict=True):
            if isinstance(known, FieldError):
                yield self._located(row, known)
                continue
            if (error := exceeded(known)) is not None:
                raise self._located(row, error) from error
            try:
                yield self.task(row, settings, run, known)
            except InputError as error:
                yield error

    def task(
        self,
        row: Row,
        settings: Settings = USUAL,
        run: RunValues = UNKNOWN,
        known: Answers = NOTHING,
    ) -> RowTask | None:
        """Make the task of a row; None for one that `where` leaves out. Raises InputError.

        Tests have the limits of the settings where the row has none. `known` is what was evaluated
        before.
        """
        names = _names(row, run)
        try:
            made = self._task(row, names, settings, known)
        except FieldError as error:
            raise self._located(row, error) from error
        return made

    def _task(
        self, row: Row, names: dict[str, Any], settings: Settings, known: Answers
    ) -> RowTask | None:
        values, order = Values(self.values.expressions, names, known), self.values
        if order.where_comes_first and not values.value("rows.where"):
            return None
        for name in order.let:
            value = values.value(f"let.{name}")
            if not known or order.is_kept(name):
                names[name] = value
        late = order.where is not None and not order.where_comes_first
        if late and not values.value("rows.where"):
            return None
        info = _info(values)
        function = values.text("program.function") or values.text("grading.function")
        head = values.text("program.head")
        grading = self.definition.grading
        return RowTask(
            info=info,
            names=names,
            graded={
                mode: graded(
                    grading,
                    values.of_mode(mode),
                    self.directory,
                    settings.judge_settings(mode).limits,
                    self.source,
                )
                for mode in self.values.modes
            },
            function=function,
            head=head,
            unfit=values.text("grading.unfit"),
            row=row,
            known=known,
        )

    def is_example(self, task: RowTask) -> bool:
        """Return True if `examples.where` takes the row. Raises InputError."""
        try:
            taken = "examples.where" not in self.values.expressions or bool(
                Values(self.values.expressions, dict(task.names)).value("examples.where")
            )
        except FieldError as error:
            assert task.row is not None
            raise self._located(task.row, error) from error
        return taken

    def _located(self, row: Row, error: FieldError) -> InputError:
        """Return the error for a row, which names its column, or else the field that failed."""
        expression = self.values.expressions.get(error.field)
        columns = [] if expression is None else sorted(expression.columns & row.content.keys())
        if len(columns) == 1 and not error.in_file and not isinstance(error, BoundExceeded):
            return row.error(error.message, columns[0])
        return row.error(f"{error.message} (field `{error.field}` of the benchmark file)")


def _names(row: Row, run: RunValues) -> dict[str, Any]:
    names = {**row.content, "row": row.content, "run": run}
    names.setdefault("row_number", row.line)
    return names


def _info(values: Values) -> ProblemInfo:
    found: dict[str, Any] = {name: _said(values, name) for name in INFO}
    if not found["id"].strip():
        raise FieldError("rows.id", "is empty; every row needs an id")
    published = found.pop("published")
    try:
        day = datetime.fromisoformat(published).date() if published else None
    except ValueError as error:
        what = f"{published[:40]!r} is not a date; write YYYY-MM-DD, or leave it out"
        raise FieldError("rows.published", what) from error
    return ProblemInfo(**found, published=day)


def _said(values: Values, name: str) -> str:
    found = values.value(f"rows.{name}")
    if found is None:
        return ""
    if isinstance(found, bool) or not isinstance(found, str | int | date):
        what = f"must be a text or a whole number, not {type(found).__name__}"
        raise FieldError(f"rows.{name}", what)
    try:
        return str(found)
    except ValueError as error:
        raise FieldError(f"rows.{name}", "is a number of thousands of digits") from error
