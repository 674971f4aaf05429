"""Expressions and templates of a benchmark file: jinja2's, in its sandbox.

They see the columns of a row by name, the whole row as `row`, and the functions of FUNCTIONS. A
name that is not there is an error, never an empty text.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from jinja2.meta import find_referenced_templates, find_undeclared_variables
from jinja2.sandbox import ImmutableSandboxedEnvironment

from proctor.errors import InfraFault, InputError
from proctor.evals.benchmark_file.files import beside
from proctor.formats.livecodebench import parse_json
from proctor.languages.python_text import Outline, last_match, outline, public_method

Names = Mapping[str, Any]


class FieldError(Exception):
    """An expression or template of this field cannot be evaluated for a row."""

    def __init__(self, field: str, message: str, *, in_file: bool = False) -> None:
        """`in_file` if the benchmark file is to blame, rather than the row."""
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
                str(found)  # which raises an error that says what is missing
        except InfraFault:
            raise
        except Exception as error:  # it may do whatever an expression can do wrong
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
        known = ", ".join(name for name in names if name != "row")
        hint = "; a text is written in quotes within the quotes" if "'" in text[:1] else ""
        return FieldError(field, f"{text}; there are {known}{hint}", in_file=True)
    if not isinstance(error, jinja2.TemplateError | InputError):
        text = f"{type(error).__name__}: {text}"
    return FieldError(field, text)


def _shown(value: Any) -> Any:
    """Return a value that a template is to show. Raises UndefinedError for null."""
    if value is None:
        raise jinja2.UndefinedError("a value is null; write |default('', true) where that is meant")
    return value


class Compiler:
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
            keep_trailing_newline=True,  # of texts that are included
            loader=jinja2.FunctionLoader(self._load),
        )
        self._environment.globals |= FUNCTIONS

    def expression(self, text: str, field: str) -> Expression:
        """Compile an expression. Raises InputError."""
        try:
            compiled = self._environment.compile_expression(text, undefined_to_none=False)
        except jinja2.TemplateError as error:
            raise InputError(
                f"{text!r} is no expression: {error}", file=self._file, field=field
            ) from error
        parsed = self._environment.parse("{{ " + text + " }}")
        return Expression(field, frozenset(find_undeclared_variables(parsed)), compiled)

    def template(self, text: str, field: str) -> Template:
        """Compile a template, and those that it includes by name. Raises InputError."""
        try:
            compiled = self._environment.from_string(text)
            self._compile_included(text)
        except jinja2.TemplateNotFound as error:
            raise InputError(
                f"includes {error.name}, which is no text file beside it",
                file=self._file,
                field=field,
            ) from error
        except jinja2.TemplateSyntaxError as error:
            what = f"is no template: {error.message} (its line {error.lineno})"
            raise InputError(what, file=self._file, field=field) from error
        return Template(field, compiled)

    def only(self, text: str, field: str, known: Collection[str]) -> None:
        """Raise InputError if a template uses other names than these."""
        used = find_undeclared_variables(self._environment.parse(text))
        if unknown := sorted(used - {*known, *self._environment.globals}):
            there = ", ".join(known)
            what = f"there is no {unknown[0]!r} here; there are {there}"
            raise InputError(what, file=self._file, field=field)

    def _compile_included(self, text: str) -> None:
        for name in find_referenced_templates(self._environment.parse(text)):
            if name is not None and name not in self.included:
                self._environment.get_template(name)
                self._compile_included(self.included[name])

    def _load(self, name: str) -> str | None:
        try:
            self.included[name] = beside(self._directory, name, "", "").read_text("utf-8")
        except (InputError, OSError, UnicodeDecodeError):
            return None
        return self.included[name]


@dataclass(frozen=True, slots=True)
class Values:
    """Values of a benchmark file's expressions for one row."""

    expressions: Mapping[str, Expression]
    """By field of the benchmark file, such as `grading.code`; without those that are empty."""
    names: Names

    def having(self, **more: Any) -> "Values":
        """Return the same with further names."""
        return Values(self.expressions, {**self.names, **more})

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
            if isinstance(found, bool):
                raise TypeError
            return float(found)
        except (TypeError, ValueError) as error:
            raise FieldError(field, f"must be a number, not {str(found)[:40]!r}") from error


def _kind(found: Any) -> str:
    return "absent" if found is None else type(found).__name__


def _outline(code: str) -> Outline:
    return outline(code) or Outline()


def before(head: str, function: str) -> str:
    """Return the imports and functions that a prompt has before the function it begins."""
    begun = [
        each.line for each in _outline(head + "\n    pass\n").definitions if each.name == function
    ]
    lines = head.splitlines(keepends=True)
    return "".join(lines[: begun[-1] - 1] if begun else []) + "\n"


def defined(code: str) -> list[str]:
    """Return the names of the functions and classes at the top level of a Python module."""
    return [each.name for each in _outline(code).definitions]


def classes(code: str) -> list[str]:
    """Return the names of the classes at the top level of a Python module."""
    return [each.name for each in _outline(code).definitions if each.is_class]


def imports(code: str) -> list[str]:
    """Return the import statements at the top level of a Python module."""
    return list(_outline(code).imports)


def last(pattern: str, text: str) -> str:
    """Return the last match of a regular expression: its first group, or all; empty if none.

    It is looked for in a process of its own, with a bound on its time.
    """
    return last_match(pattern, text) or ""


def method(starter: str) -> str:
    """Return the first method of class Solution in starter code of LeetCode; empty if none."""
    return public_method(starter) or ""


def used(code: str) -> list[str]:
    """Return the names that a Python module reads or sets, sorted."""
    return sorted(_outline(code).names)


FUNCTIONS = {
    "before": before,
    "classes": classes,
    "defined": defined,
    "imports": imports,
    "json": parse_json,
    "last": last,
    "method": method,
    "used": used,
}
"""Functions that expressions may call, by name."""
