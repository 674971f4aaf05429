"""Evaluating all of a benchmark file's texts for many rows at once."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from proctor.evals.benchmark_file.evaluation import Answers, EvaluationStep, evaluate
from proctor.evals.benchmark_file.expressions import (
    BoundExceeded,
    Expression,
    FieldError,
    Names,
    encoded,
    value_of,
)
from proctor.evals.benchmark_file.same_process import TRIED

_WHERE = "rows.where"
_EXAMPLES = "examples.where"


@dataclass(frozen=True, slots=True)
class RowValues:
    """The expressions of a file, in the order in which they are evaluated for a row."""

    expressions: Mapping[str, Expression]
    """Expressions by field of the benchmark file, such as `grading.code`; without empty ones."""
    let: tuple[str, ...]
    """Names of `let`, in order."""
    modes: tuple[str, ...]
    templates: tuple[Expression, ...]
    """Templates that are rendered later, which see the names of `let`."""
    source: Expression | None = None
    """The template `source` of a SameProcessTable, which is tried on the row's solution."""

    @property
    def where(self) -> Expression | None:
        """Expression that says whether a row is taken."""
        return self.expressions.get(_WHERE)

    @property
    def where_comes_first(self) -> bool:
        """Tell whether `where` uses no name of `let`: a row left out may lack what those need."""
        return self.where is not None and self.where.columns.isdisjoint(self.let)

    def is_kept(self, name: str) -> bool:
        """Tell whether a name of `let` is used after the row was evaluated."""
        later = [*self.templates, *(each for each in self.expressions.values() if each.name)]
        later += [each for field, each in self.expressions.items() if field == _EXAMPLES]
        return any(not each.columns.isdisjoint({name, "examples"}) for each in later)

    def of_rows(
        self, rows: Iterable[Names], tried: Sequence[Expression]
    ) -> Iterator[Answers | FieldError]:
        """Evaluate all expressions for rows with these names; templates `tried` are rendered, too.

        Yields an error for a row that holds what is not plain data. Raises InfraFault.
        """
        last = [] if self.source is None else [self.source]
        sent = [*self._sent(), *tried, *last]
        steps = [*self._steps(), *(each.step(keep=False) for each in tried)]
        steps += [each for source in last for each in self._tries(source)]
        used = frozenset[str]().union(*(each.columns for each in sent))
        included = next((each.included for each in sent), {})
        told = [_told(names, used) for names in rows]
        usable = [each for each in told if isinstance(each, str)]
        answers = evaluate(steps, usable, included) if steps else iter([{}] * len(usable))
        for each in told:
            yield each if isinstance(each, FieldError) else next(answers)

    def _tries(self, source: Expression) -> Iterator[EvaluationStep]:
        """Return what renders the source; last, since columns may have the names that it sees."""
        solution = self.expressions.get("grading.solution")
        yield EvaluationStep("passed", f"'{TRIED}'", bind="passed", keep=False)
        yield EvaluationStep(
            "program", solution.text if solution else "''", bind="program", keep=False
        )
        yield source.step()

    def _sent(self) -> list[Expression]:
        """Return what is evaluated beforehand: all but names, and what examples alone need."""
        first = {_WHERE, *(f"let.{name}" for name in self.let)}
        if self.source is not None:
            first.add("grading.solution")
        return [
            each for field, each in self.expressions.items()
            if field in first or (not each.name and field != _EXAMPLES)
        ]  # fmt: skip

    def _steps(self) -> Iterator[EvaluationStep]:
        sent = {each.field: each for each in self._sent()}
        where = sent.pop(_WHERE, None)
        ending = [] if where is None else [msgspec.structs.replace(where.step(), ends=True)]
        early = self.where_comes_first
        yield from ending if early else ()
        for name in self.let:
            yield sent.pop(f"let.{name}").step(bind=name, keep=self.is_kept(name))
        yield from () if early else ending
        for field, each in sent.items():
            modes = ("", *self.modes) if field.startswith("grading.") else ("",)
            yield from {step.key: step for step in map(each.step, modes)}.values()


def exceeded(answers: Answers) -> BoundExceeded | None:
    """Return the error of a text that exceeded its bounds, if one did."""
    for key, answer in answers.items():
        if answer.get("bound"):
            try:
                value_of(answer, key.partition("@")[0], {})
            except BoundExceeded as error:
                return error
    return None


def _told(names: Names, columns: frozenset[str]) -> str | FieldError:
    try:
        return encoded(names, columns, "rows")
    except FieldError as error:
        return error
