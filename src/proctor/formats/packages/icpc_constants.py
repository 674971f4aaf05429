"""`constants` of an ICPC/Kattis package: `{{name}}` in some of its files stands for a value.

Contract: the problem package format since 2023-07. They are replaced in Markdown statements,
validators, included code, example submissions and test_group.yaml, and nowhere else; a name that
is not defined is left as it is.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from proctor.errors import InputError
from proctor.program import Program

_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_TOKEN = re.compile(rb"\{\{([a-zA-Z_][a-zA-Z0-9_]*(?:\.[a-zA-Z_][a-zA-Z0-9_]*)?)\}\}")
_VALUE = "value"
"""Key of a constant's usual form, beside which it may have others: `{{name.form}}`."""


@dataclass(frozen=True, slots=True)
class Constants:
    """Values by name, as they are written into files."""

    values: Mapping[str, bytes] = field(default_factory=dict)

    @classmethod
    def read(cls, given: Mapping[Any, Any]) -> "Constants":
        """Read the constants of problem.yaml. Raises InputError.

        A number that is not an integer is written as Python writes it, since YAML does not keep its
        spelling; in quotes it stays as it is.
        """
        values = {}
        for name, value in given.items():
            where = f"constants.{name}"
            if not isinstance(name, str) or not _NAME.fullmatch(name):
                what = (
                    f"{name!r} is not a name: letters, digits and _, no digit first (or quote it)"
                )
                raise InputError(what, field=where)
            forms = value if isinstance(value, dict) else {_VALUE: value}
            if _VALUE not in forms:
                raise InputError("a constant of several forms needs `value`", field=where)
            for form, each in forms.items():
                values[f"{name}.{form}"] = _written(each, where)
            values[name] = values[f"{name}.{_VALUE}"]
        return cls(values)

    def data(self, data: bytes) -> bytes:
        """A file's bytes with the values in place."""
        if not self.values:
            return data
        return _TOKEN.sub(lambda found: self.values.get(found[1].decode(), found[0]), data)

    def text(self, text: str) -> str:
        """A text with the values in place."""
        return self.data(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def program(self, program: Program) -> Program:
        """A program with the values in all its files."""
        files = {name: self.data(data) for name, data in program.files.items()}
        return replace(program, source=self.text(program.source), files=files)


def _written(value: object, where: str) -> bytes:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError("must be a number or a string", field=where)
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError("must be a finite number", field=where)
    return str(value).encode("utf-8", "surrogatepass")
