"""Expressions and templates of a benchmark file: jinja2's, in its sandbox.

They see the columns of a row by name, the whole row as `row`, what is known of the run as `run`,
and FUNCTIONS; a column of such a name is seen in `row` only. A name that is not there is an error,
never an empty text.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from jinja2.meta import find_referenced_templates, find_undeclared_variables
from jinja2.sandbox import ImmutableSandboxedEnvironment

from proctor.errors import InfraFault, InputError
from proctor.evals.benchmark_file.files import beside
from proctor.evals.benchmark_file.functions import FUNCTIONS, RESERVED

Names = Mapping[str, Any]
_UNUSABLE = (jinja2.TemplateError, RecursionError, ValueError, OverflowError, MemoryError)
"""Errors that jinja2 raises for a text that it cannot compile."""
_LONGEST_SHOWN = 200
"""Characters of an expression that an error shows."""


class RunValues(dict[str, str]):
    """Facts of a run: language, tag, fence, prompt; in `grading` the mode."""


class FieldError(Exception):
    """An expression or template of this field cannot be evaluated for a row."""

    def __init__(self, field: str, message: str, *, in_file: bool = False) -> None:
        """Make it; `in_file` if the benchmark file is to blame, rather than the row."""
        super().__init__(message)
        self.field = field
        self.message = message
        self.in_file = in_file


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression, such as the name of a column."""

    field: str
    """Field of the benchmark file that holds it."""
    columns: frozenset[str]
    """Names that it uses."""
    compiled: Any

    def value(self, names: Names) -> Any:
        """Evaluate it. Raises FieldError, InfraFault."""
        try:
            found = self.compiled(names)
            if isinstance(found, jinja2.Undefined):
                str(found)  # raises an error that says what is missing
        except InfraFault:
            raise
        except Exception as error:  # an expression may raise anything
            raise _failed(self.field, error, names) from error
        return found


@dataclass(frozen=True, slots=True)
class Template:
    """A text with expressions in it."""

    field: str
    compiled: jinja2.Template

    def text(self, names: Names) -> str:
        """Render it, without a line break at its end. Raises FieldError, InfraFault."""
        try:
            return self.compiled.render(names).removesuffix("\n")
        except InfraFault:
            raise
        except Exception as error:  # as above
            raise _failed(self.field, error, names) from error


def _failed(field: str, error: Exception, names: Names) -> FieldError:
    text = error.message if isinstance(error, InputError) else str(error)
    if isinstance(error, jinja2.UndefinedError):
        known = ", ".join(str(name) for name in names if name not in RESERVED)
        hint = "; a text is written in quotes within the quotes" if "'" in text[:1] else ""
        return FieldError(field, f"{text}; there are {known}{hint}", in_file=True)
    if not isinstance(error, jinja2.TemplateError | InputError):
        text = f"{type(error).__name__}: {text}"
    return FieldError(field, text)


def _shown(value: Any) -> Any:
    """Return a value that a template may show. Raises TemplateRuntimeError for any other."""
    if isinstance(value, jinja2.Undefined):
        return value  # rendering it raises an error of its own
    if value is None:
        raise jinja2.TemplateRuntimeError(
            "a value is null; write |default('', true) where that is meant"
        )
    if callable(value) or isinstance(value, RunValues):
        raise jinja2.TemplateRuntimeError(
            "a function, or `run`, is not text; a column is row['NAME']"
        )
    return value


class TemplateCompiler:
    """Compiles what one benchmark file holds."""

    def __init__(self, directory: Path, file: str) -> None:
        """Templates may include others of the directory; `file` is named in errors."""
        self._file = file
        self._directory = directory
        self.included: dict[str, str] = {}
        """Texts of the templates that were included, by name."""
        self._environment = ImmutableSandboxedEnvironment(
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            finalize=_shown,
            keep_trailing_newline=True,  # for texts that are included
            loader=jinja2.FunctionLoader(self._load),
        )
        self._environment.globals |= FUNCTIONS

    def expression(self, text: str, field: str) -> Expression:
        """Compile an expression. Raises InputError."""
        try:
            compiled = self._environment.compile_expression(text, undefined_to_none=False)
            parsed = self._environment.parse("{{ " + text + " }}")
            names = frozenset(find_undeclared_variables(parsed))
        except _UNUSABLE as error:
            what = (
                f"{text[:_LONGEST_SHOWN]!r} is not an expression: {error or type(error).__name__}"
            )
            raise InputError(what, file=self._file, field=field) from error
        return Expression(field, names, compiled)

    def template(self, text: str, field: str) -> Template:
        """Compile a template, and those that it includes by name. Raises InputError."""
        try:
            compiled = self._environment.from_string(text)
            self._compile_included(text)
        except jinja2.TemplateNotFound as error:
            raise InputError(
                f"includes {error.name}, which is not a text file beside it",
                file=self._file,
                field=field,
            ) from error
        except jinja2.TemplateSyntaxError as error:
            what = f"is not a template: {error.message} (its line {error.lineno})"
            raise InputError(what, file=self._file, field=field) from error
        except _UNUSABLE as error:
            what = f"is not a template: {error or type(error).__name__}"
            raise InputError(what, file=self._file, field=field) from error
        return Template(field, compiled)

    def extraction(self, text: str, field: str) -> Template:
        """Compile a template that takes an answer from `reply`. Raises InputError.

        It is tried on an empty reply: it need not find anything there, but must not fail otherwise.
        """
        template = self.template(text, field)
        used = find_undeclared_variables(self._environment.parse(text))
        if unknown := sorted(used - {"reply", "run", *FUNCTIONS}):
            what = f"there is no {unknown[0]!r} here; there are reply, run"
            raise InputError(what, file=self._file, field=field)
        try:
            template.text({"reply": "", "run": RunValues(language="", fence="", prompt="")})
        except FieldError as error:
            cause = error.__cause__
            lacks = isinstance(cause, jinja2.UndefinedError) and "has no element" in str(cause)
            if not (lacks or isinstance(cause, InputError | IndexError)):
                raise InputError(error.message, file=self._file, field=field) from error
        return template

    def _compile_included(self, text: str) -> None:
        for name in find_referenced_templates(self._environment.parse(text)):
            if name is None:
                raise jinja2.TemplateError("a file is included by its name in quotes")
            if name not in self.included:
                self._environment.get_template(name)
                self._compile_included(self.included[name])

    def _load(self, name: str) -> str | None:
        try:
            self.included[name] = beside(self._directory, name).read_text("utf-8")
        except (InputError, OSError, UnicodeDecodeError):
            return None
        return self.included[name]


@dataclass(frozen=True, slots=True)
class Values:
    """Values of a benchmark file's expressions for one row."""

    expressions: Mapping[str, Expression]
    """Expressions by field of the benchmark file, such as `grading.code`; without empty ones."""
    names: Names

    def of_mode(self, mode: str) -> "Values":
        """Return these values with `run.mode` set to a mode of grading."""
        run = RunValues(self.names.get("run", {}), mode=mode)
        return Values(self.expressions, {**self.names, "run": run})

    def has(self, field: str) -> bool:
        """Return True if the file says something for a field."""
        return field in self.expressions

    def value(self, field: str) -> Any:
        """Evaluate a field; None if it is empty. Raises FieldError."""
        found = self.expressions.get(field)
        return None if found is None else found.value(self.names)

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
