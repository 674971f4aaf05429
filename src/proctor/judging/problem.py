"""What a program is judged against."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from proctor.errors import must_be


@dataclass(frozen=True, slots=True)
class Test:
    """One test. For stdio problems `input` is stdin and `output` the expected stdout.

    For function-call problems `input` holds one JSON value per line, the arguments in order, and
    `output` one JSON value, the expected result. Raises InputError if one is no string.
    """

    __test__ = False  # not a pytest class

    input: str
    output: str
    public: bool = False
    """Whether the statement shows this test to the model."""

    def __post_init__(self) -> None:
        # Made by the million: nothing but two looks at a type.
        if not isinstance(self.input, str) or not isinstance(self.output, str):
            must_be(str, self.input, "input")
            must_be(str, self.output, "output")


@dataclass(frozen=True, slots=True)
class Problem:
    """A task with its tests. A problem without tests cannot be passed: it is a TASK_FAULT.

    Raises InputError for an id, a function or tests of another type.
    """

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

    def __post_init__(self) -> None:
        must_be(str, self.id, "id")
        if self.function is not None:
            must_be(str, self.function, "function")
        if isinstance(self.tests, list):
            object.__setattr__(self, "tests", tuple(self.tests))
        must_be(tuple, self.tests, "tests")
        for number, test in enumerate(self.tests):
            if not isinstance(test, Test):
                hint = "; write Test(input, output)"
                must_be(Test, test, f"tests[{number}]", hint)
