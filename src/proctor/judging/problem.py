"""What a program is judged against."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any


@dataclass(frozen=True, slots=True)
class Test:
    """One test. For stdio problems `input` is stdin and `output` the expected stdout.

    For function-call problems `input` holds one JSON value per line, the arguments in order, and
    `output` one JSON value, the expected result.
    """

    __test__ = False  # not a pytest class

    input: str
    output: str
    public: bool = False
    """Whether the statement shows this test to the model."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A task with its tests. A problem without tests cannot be passed: it is a TASK_FAULT."""

    id: str
    tests: tuple[Test, ...]
    function: str | None = None
    """Name of the function to call; None for a stdin/stdout program."""
    title: str = ""
    statement: str = ""
    platform: str = ""
    difficulty: str = ""
    published: date | None = None
    starter_code: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the source row that proctor has no use for, kept as they were."""
