"""Expressions and templates of a benchmark file: jinja2's, in its sandbox.

They see the columns of a row by name, the whole row as `row`, and the functions of FUNCTIONS. A
name that is not there is an error, never an empty text.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from typing import Any

import jinja2
from jinja2.meta import find_referenced_templates, find_undeclared_variables
from jinja2.sandbox import ImmutableSandboxedEnvironment

from proctor.errors import InputError
from proctor.formats.livecodebench import parse_json
from proctor.languages.python_text import Outline, outline, public_method

Names = Mapping[str, Any]


class FieldError(Exception):
    """An expression or template of this field cannot be evaluated for a row."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression, such as the name of a column."""

    field: str
    """Field of the benchmark file that holds it."""
    columns: frozenset[str]
    """Names that it uses."""
    compiled: Any

    def value(self, names: Names) -> Any:
        """Evaluate it. Raises FieldError."""
        try:
            found = self.compiled(names)
            if isinstance(found, jinja2.Undefined):
                str(found)  # which raises an error that says what is missing
        except Exception as error:  # it may do whatever an expression can do wrong
            raise FieldError(self.field, _said(error, names)) from error
        return found


@dataclass(frozen=True, slots=True)
class Template:
    """A text with expressions in it."""

    field: str
    compiled: jinja2.Template

    def text(self, names: Names) -> str:
        """Render it, without a line break at its end. Raises FieldError."""
        try:
            return self.compiled.render(names).removesuffix("\n")
        except Exception as error:  # as above
            raise FieldError(self.field, _said(error, names)) from error


def _said(error: Exception, names: Names) -> str:
    text = str(error)
    if isinstance(error, jinja2.UndefinedError):
        return f"{text}; there are {', '.join(name for name in names if name != 'row')}"
    return text if isinstance(error, jinja2.TemplateError) else f"{type(error).__name__}: {text}"


class Compiler:
    """Compiles what one benchmark file holds."""

    def __init__(self, directory: Traversable, file: str) -> None:
        """Templates may include others of the directory; `file` is named in errors."""
        self._file = file
        self._directory = directory
        self.included: dict[str, str] = {}
        """Texts of the templates that were included, by name."""
        self._environment = ImmutableSandboxedEnvironment(
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
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
                f"includes {error.name}, which is not beside it", file=self._file, field=field
            ) from error
        except jinja2.TemplateError as error:
            raise InputError(f"is no template: {error}", file=self._file, field=field) from error
        return Template(field, compiled)

    def _compile_included(self, text: str) -> None:
        for name in find_referenced_templates(self._environment.parse(text)):
            if name is not None and name not in self.included:
                self._environment.get_template(name)
                self._compile_included(self.included[name])

    def _load(self, name: str) -> str | None:
        if not all(part and not part.startswith(".") for part in name.split("/")):
            return None
        file = self._directory.joinpath(name)
        if not file.is_file():
            return None
        self.included[name] = file.read_text("utf-8")
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
    "method": method,
    "used": used,
}
"""Functions that expressions may call, by name."""
