"""lcb_runner.evaluation.testing_util: one program's tests, and the parts around them.

Programs are loaded, called and tested in cells, and their text is taken apart there. Functions
that would execute a program in the calling process raise UsageError, which says what to call
instead.
"""

import sys
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from enum import Enum
from io import StringIO
from types import FrameType
from typing import Any, Never

from proctor.cell.lcb_io import MockedBuffer as MockBuffer
from proctor.cell.lcb_io import MockedStdin as MockStdinWithBuffer
from proctor.cell.lcb_process import TimeoutException
from proctor.cell.lcb_text import PREAMBLE
from proctor.errors import InputError, UsageError
from proctor.integrations.lcb_runner.in_cell import changed
from proctor.integrations.lcb_runner.judgements import (
    Memory,
    NumberedProgram,
    judge_alone,
    settings_of,
)
from proctor.integrations.lcb_runner.samples import (
    Sample,
    Stdin,
    checked_program,
    problem_of,
    problem_of_sample,
)
from proctor.judging.settings import Codes
from proctor.problem import Problem

__all__ = [
    "CODE_TYPE",
    "Capturing",
    "MockBuffer",
    "MockStdinWithBuffer",
    "TimeoutException",
    "call_method",
    "clean_if_name",
    "compile_code",
    "convert_line_to_decimals",
    "get_function",
    "get_stripped_lines",
    "grade_call_based",
    "grade_stdio",
    "import_string",
    "make_function",
    "reliability_guard",
    "run_test",
    "timeout_handler",
    "truncatefn",
]

import_string = PREAMBLE
"""The text that official mode puts before a program."""

Outcome = tuple[list[int], dict[str, Any]]
"""True for each passed test, then a code if one failed; and metadata."""


class CODE_TYPE(Enum):  # noqa: N801 - upstream's name
    """The two kinds of problems."""

    call_based = 0
    standard_input = 1


class Capturing(list[str]):
    """A list that gets what is written to `sys.stdout` while it is a context, as one string."""

    def __enter__(self) -> "Capturing":  # noqa: PYI034 - typing.Self would be all the same
        self._stdout = sys.stdout
        sys.stdout = self._stream = StringIO()
        return self

    def __exit__(self, *_error: object) -> None:
        sys.stdout = self._stdout
        self.append(self._stream.getvalue())


def run_test(
    sample: Sample,
    test: str | None = None,
    debug: bool = False,  # noqa: ARG001 - upstream's; it prints more, and proctor prints nothing
    timeout: int = 6,
    *,
    codes: Codes = "upstream",
    memory: Memory = None,
) -> Outcome:
    """Judge one program, `test`; return its results and metadata.

    Unlike upstream's it leaves the calling process as it is: no signal handler, no functions
    removed from `os`. Where upstream's process leaves no result, this returns what upstream's
    `codegen_metrics` reports then, [-2] and TestRunnerError. `codes="ports"` gives the error codes
    of lcb_runner's ports in training frameworks.

    Raises InputError without a program, and for a sample or argument that cannot be used;
    InfraFault where proctor could not judge.
    """
    if test is None:
        raise InputError("is missing; give the program to be judged", field="test")
    settings = (timeout, codes, memory)
    return _judged(problem_of_sample(sample, "sample"), test, "test", settings)


def grade_stdio(
    code: str,
    all_inputs: Sequence[Stdin],
    all_outputs: Sequence[str],
    timeout: int,
    *,
    codes: Codes = "upstream",
    memory: Memory = None,
) -> Outcome:
    """`run_test` for a program that reads stdin and writes stdout, with its tests as lists.

    A program that does not load is [-4] and metadata, as in `run_test`; upstream's raises.
    """
    problem = problem_of(all_inputs, all_outputs, None, "all_inputs")
    return _judged(problem, code, "code", (timeout, codes, memory))


def grade_call_based(
    code: str,
    all_inputs: Sequence[Stdin],
    all_outputs: Sequence[str],
    fn_name: str,
    timeout: int,
    *,
    codes: Codes = "upstream",
    memory: Memory = None,
) -> Outcome:
    """`run_test` for a program whose function `fn_name` is called, with its tests as lists.

    An input has a JSON value a line, an output is one. A program that does not load is [-4] and
    metadata, as in `run_test`; upstream's raises, or returns None.
    """
    problem = problem_of(all_inputs, all_outputs, fn_name, "all_inputs")
    return _judged(problem, code, "code", (timeout, codes, memory))


def clean_if_name(code: str) -> str:
    """Put the body of a main guard that ends the program in its place."""
    return changed("clean_if_name", code) or code


def make_function(code: str) -> str:
    """Move all but the top-level imports into `wrapped_function`, behind `import_string`.

    Text that cannot be parsed is returned as it is.
    """
    return changed("make_function", code) or code


def compile_code(code: str, timeout: int) -> Never:  # noqa: ARG001 - upstream's
    """Raise UsageError: upstream executes the program in the process that calls."""
    _refuse("compile_code")


def call_method(method: object, inputs: object) -> Never:  # noqa: ARG001 - upstream's
    """Raise UsageError: upstream calls the program's function in the process that calls."""
    _refuse("call_method")


def get_function(compiled_sol: object, fn_name: str) -> Any:
    """Return an attribute of a module or object of the caller's own; None if it has none."""
    return getattr(compiled_sol, fn_name, None)


def reliability_guard(maximum_memory_bytes: int | None = None) -> None:
    """Do nothing: isolation is the kernel's, around each program.

    In cells the functions that upstream removes from `os`, `shutil` and `subprocess` are missing
    as well. A limit on memory is the argument `memory` of the functions that judge.
    """


def timeout_handler(_signum: int, _frame: FrameType | None) -> Never:
    """Raise TimeoutException, as the handler of SIGALRM that upstream sets."""
    raise TimeoutException


def truncatefn(s: object, length: int = 300) -> str:
    """Return a value's text; if longer than `length`, its beginning and end, half of that each."""
    text = s if isinstance(s, str) else str(s)
    if len(text) <= length:
        return text
    return f"{text[: length // 2]}...(truncated) ...{text[-length // 2 :]}"


def get_stripped_lines(val: str) -> list[str]:
    """Return the lines of a stripped text, each stripped."""
    return [line.strip() for line in val.strip().split("\n")]


def convert_line_to_decimals(line: str) -> tuple[bool, list[Decimal]]:
    """Return True and the numbers of a line, or False and [] if a word is not a number."""
    try:
        return True, [Decimal(word) for word in line.split()]
    except (InvalidOperation, ValueError):
        return False, []


def _judged(problem: Problem, code: str, name: str, settings: tuple[int, Codes, Memory]) -> Outcome:
    program = checked_program(code, name)
    judgement = judge_alone(NumberedProgram(0, 0, problem, program), settings_of(*settings))
    assert judgement.upstream is not None  # official mode always sets it
    return list(judgement.upstream.results), dict(judgement.upstream.metadata)


def _refuse(name: str) -> Never:
    raise UsageError(
        f"{name} executes a program in the process that calls it, which is what proctor is there to"
        " prevent: call grade_stdio, grade_call_based or run_test for verdicts, or proctor.run for"
        " what a program prints"
    )
