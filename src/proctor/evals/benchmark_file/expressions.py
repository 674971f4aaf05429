"""Expressions and templates of a benchmark file: jinja2's, evaluated in a process of its own.

They see the columns of a row by name, the whole row as `row`, what is known of the run as `run`,
and FUNCTIONS; a column of such a name is seen in `row` only. A name that is not there is an error,
never an empty text. An expression that is nothing but a name needs no process.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proctor.errors import InputError
from proctor.evals.benchmark_file.evaluation import (
    BOUND,
    Answers,
    EvaluationStep,
    RunValues,
    compiled,
    evaluate,
)
from proctor.evals.benchmark_file.files import beside
from proctor.evals.benchmark_file.functions import FUNCTIONS, RESERVED
from proctor.formats.plain_values import decode, encode
from proctor.sandbox.machine import plain_file

Names = Mapping[str, Any]
_CONSTANTS = frozenset({"true", "false", "none", "True", "False", "None"})
_LONGEST_INCLUDED = 4 << 20
"""Bytes of a file that a template includes."""


class FieldError(Exception):
    """An expression or template of this field cannot be evaluated for a row."""

    def __init__(
        self, field: str, message: str, *, in_file: bool = False, lacks: bool = False
    ) -> None:
        """Make it; `in_file` if the benchmark file is to blame, rather than the row.

        `lacks` is set for errors that a text may raise for want of something in a reply.
        """
        super().__init__(message)
        self.field = field
        self.message = message
        self.in_file = in_file
        self.lacks = lacks


class BoundExceeded(FieldError):
    """An expression or template takes more time or memory than it may, or gives too much."""


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression, such as the name of a column; or a template, a text with expressions in it."""

    field: str
    """Field of the benchmark file that holds it."""
    text: str
    columns: frozenset[str]
    """Names that it uses."""
    included: Mapping[str, str]
    """Texts that templates of the file include, by name."""
    is_template: bool = False

    @property
    def name(self) -> str:
        """The name that it is, if it is nothing else; else an empty text."""
        text = self.text.strip()
        plain = not self.is_template and text.isidentifier() and text not in _CONSTANTS
        return text if plain and text not in FUNCTIONS else ""

    def step(self, mode: str = "", *, bind: str = "", keep: bool = True) -> EvaluationStep:
        """Return what evaluates it; the mode matters if it uses `run`."""
        mode = mode if "run" in self.columns else ""
        key = f"{self.field}@{mode}" if mode else self.field
        return EvaluationStep(key, self.text, self.is_template, mode, bind, keep)

    def value(self, names: Names, known: Answers | None = None, mode: str = "") -> Any:
        """Return its value, which may be among known ones. Raises FieldError, InfraFault."""
        if self.name in names:
            return names[self.name]
        step = self.step(mode)
        if known is None or step.key not in known:
            told = encoded(names, self.columns, self.field)
            (known,) = evaluate([step], [told], self.included)
        return value_of(known[step.key], self.field, names)

    def rendered(self, names: Names) -> str:
        """Return the text of a template, without a line break at its end.

        Raises FieldError, InfraFault.
        """
        found = self.value(names)
        assert isinstance(found, str)
        return found


def encoded(names: Names, columns: frozenset[str], field: str = "") -> str:
    """Return names as JSON, for evaluate(): those of some columns.

    Raises FieldError, of `field`, for a value that is not plain data.
    """
    parts = []
    for name in columns & names.keys():
        try:
            parts.append(f'"{name}":{encode(names[name])}')  # names in expressions need no escape
        except (TypeError, ValueError, RecursionError) as error:
            raise FieldError(field, f"{name} cannot be used in expressions: {error}") from error
    return "{" + ",".join(parts) + "}"


def value_of(answer: Mapping[str, Any], field: str, names: Names) -> Any:
    """Return the value that a step gave. Raises FieldError."""
    if "error" not in answer:
        return decode(answer)
    if answer.get("bound"):
        raise BoundExceeded(field, BOUND)
    text: str = answer["error"]
    if not answer.get("undefined"):
        raise FieldError(field, text, lacks=answer.get("lacks", False))
    known = ", ".join(str(name) for name in names if name not in RESERVED)
    hint = "; a text is written in quotes within the quotes" if "'" in text[:1] else ""
    what = f"{text}; there are {known}{hint}"
    raise FieldError(field, what, in_file=True, lacks=answer.get("lacks", False))


class TemplateCompiler:
    """Compiles what one benchmark file holds."""

    def __init__(self, directory: Path, file: str) -> None:
        """Templates may include others of the directory; `file` is named in errors."""
        self._file = file
        self._directory = directory
        self.included: dict[str, str] = {}
        """Texts of the templates that were included, by name."""
        self._columns: dict[str, frozenset[str]] = {}
        """Names that each of them uses."""

    def expression(self, text: str, field: str) -> Expression:
        """Compile an expression. Raises InputError, InfraFault."""
        return self._compiled(text, field)

    def template(self, text: str, field: str) -> Expression:
        """Compile a template, and those that it includes by name. Raises InputError, InfraFault."""
        return self._compiled(text, field, is_template=True)

    def extraction(self, text: str, field: str) -> Expression:
        """Compile a template that takes an answer from `reply`. Raises InputError, InfraFault.

        It is tried on an empty reply: it need not find anything there, but must not fail otherwise.
        """
        template = self.template(text, field)
        included = frozenset[str]().union(*self._columns.values())
        if unknown := sorted(template.columns - {"reply", "run", *FUNCTIONS, *included}):
            what = f"there is no {unknown[0]!r} here; there are reply, run"
            raise InputError(what, file=self._file, field=field)
        try:
            template.rendered({"reply": "", "run": RunValues(language="", fence="", prompt="")})
        except FieldError as error:
            if not error.lacks:
                raise InputError(error.message, file=self._file, field=field) from error
        return template

    def _compiled(self, text: str, field: str, *, is_template: bool = False) -> Expression:
        found = compiled(text, is_template=is_template, included=self.included)
        if found.error:
            raise InputError(found.error, file=self._file, field=field)
        columns = set(found.names)
        for name in found.includes:
            if name not in self.included:
                self.included[name] = self._read(name, field)
                included = self._compiled(self.included[name], field, is_template=True)
                self._columns[name] = included.columns
            columns |= self._columns.get(name, frozenset())
        return Expression(field, text, frozenset(columns), self.included, is_template)

    def _read(self, name: str, field: str) -> str:
        try:
            place = beside(self._directory, name).resolve()
            return plain_file.read(str(place), _LONGEST_INCLUDED).decode("utf-8")
        except (InputError, OSError, UnicodeDecodeError) as error:
            what = f"includes {name}, which is not a text file beside it"
            raise InputError(what, file=self._file, field=field) from error


@dataclass(frozen=True, slots=True)
class Values:
    """Values of a benchmark file's expressions for one row."""

    expressions: Mapping[str, Expression]
    """Expressions by field of the benchmark file, such as `grading.code`; without empty ones."""
    names: Names
    known: Answers = field(default_factory=dict)
    """Values that were evaluated before, by key."""
    mode: str = ""

    def of_mode(self, mode: str) -> "Values":
        """Return these values with `run.mode` set to a mode of grading."""
        run = RunValues(self.names.get("run", {}), mode=mode)
        return Values(self.expressions, {**self.names, "run": run}, self.known, mode)

    def has(self, field: str) -> bool:
        """Return True if the file says something for a field."""
        return field in self.expressions

    def value(self, field: str) -> Any:
        """Evaluate a field; None if it is empty. Raises FieldError."""
        found = self.expressions.get(field)
        return None if found is None else found.value(self.names, self.known, self.mode)

    def text(self, field: str, *, needed: bool = False) -> str:
        """Evaluate a text; an empty one if there is none. Raises FieldError."""
        found = self.value(field)
        if found is None and not needed:
            return ""
        if not isinstance(found, str):
            raise FieldError(field, f"must be a text, not {_kind(found)}")
        if needed and not found.strip():
            raise FieldError(field, "is empty")
        return found

    def texts(self, field: str) -> tuple[str, ...]:
        """Evaluate a list of texts. Raises FieldError."""
        found = self.value(field)
        if not isinstance(found, list | tuple) or not all(isinstance(each, str) for each in found):
            raise FieldError(field, f"must be a list of texts, not {_kind(found)}")
        return tuple(found)

    def number(self, field: str) -> float | None:
        """Evaluate a number, which may be written as a text; None if it is empty.

        Raises FieldError.
        """
        found = self.value(field)
        if found is None or found == "":
            return None
        try:
            number = math.nan if isinstance(found, bool) else float(found)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not (math.isfinite(number) and number >= 0):
            raise FieldError(field, f"must be a number from 0 on, not {_short(found)}")
        return number


def _short(found: Any) -> str:
    try:
        return repr(found)[:40]
    except ValueError:  # an integer of thousands of digits
        return "a very large number"


def _kind(found: Any) -> str:
    return "absent" if found is None else type(found).__name__
