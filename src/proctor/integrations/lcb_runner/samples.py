"""Problems and programs in lcb_runner's form, checked before anything is run."""

import operator
from collections.abc import Mapping, Sequence
from typing import Any, SupportsIndex

import msgspec

from proctor.errors import InputError
from proctor.formats.livecodebench import parse_json, schema_error
from proctor.json_values import convert_json
from proctor.problem import Problem, Test
from proctor.shown import counted

Sample = Mapping[str, Any]
"""`{"input_output": text}`, where the text is JSON with `inputs`, `outputs` and `fn_name`."""
Stdin = str | Sequence[str]
"""An input, or its lines, which upstream takes, too."""


class _InputOutput(msgspec.Struct):
    inputs: list[str | list[str]]
    outputs: list[str]
    fn_name: str | None = None


def problem_of_sample(sample: Sample, place: str) -> Problem:
    """Read a sample. Raises InputError for one that no program can be judged by."""
    text = sample.get("input_output") if isinstance(sample, Mapping) else None
    if not isinstance(text, str):
        raise InputError('is not a dict with a JSON string at "input_output"', field=place)
    place += ".input_output"
    try:
        content = convert_json(parse_json(text), _InputOutput)
    except msgspec.ValidationError as error:
        raise schema_error(error, within=place) from error
    except InputError as error:
        raise InputError(error.message, field=place) from error
    return problem_of(content.inputs, content.outputs, content.fn_name, place)


def problem_of(
    inputs: Sequence[Stdin], outputs: Sequence[str], function: str | None, place: str
) -> Problem:
    """Make a problem of tests; a `function` is called, without one stdin and stdout are used.

    Raises InputError, naming the place, for tests that no program can be judged by.
    """
    if len(inputs) != len(outputs):
        raise InputError(f"has {len(inputs)} inputs but {len(outputs)} outputs", field=place)
    if not inputs:
        raise InputError(
            "has no tests, so that any program would pass; leave the problem out", field=place
        )
    if function is not None and not function.isidentifier():
        raise InputError(
            f"{function[:40]!r} is not the name of a function; null is for stdin and stdout",
            field=f"{place}.fn_name",
        )
    tests = (
        Test(entry if isinstance(entry, str) else "\n".join(entry), output)
        for entry, output in zip(inputs, outputs, strict=True)
    )
    return Problem(place, tuple(tests), function)


def check_lists(samples: Sequence[Any], generations: Sequence[Sequence[str]]) -> None:
    """Raise InputError unless there is a list of at least one program for each sample."""
    if len(samples) != len(generations):
        lists, wanted = counted(len(generations), "list"), counted(len(samples), "sample")
        why = f"has {lists} for {wanted}; give one list a sample"
        raise InputError(why, field="generations_list")
    for index, entry in enumerate(generations):
        check_programs(entry, f"generations_list[{index}]")


def check_programs(programs: Sequence[str], place: str) -> None:
    """Raise InputError unless this is a list of at least one program."""
    if not isinstance(programs, list | tuple):
        raise InputError(f"is a list of programs, not {type(programs).__name__}", field=place)
    if not programs:
        raise InputError('is empty; where a model gave no program, give ""', field=place)
    for number, program in enumerate(programs):
        checked_program(program, f"{place}[{number}]")


def checked_program(program: object, place: str) -> str:
    """Return a program's text. Raises InputError for anything else."""
    if not isinstance(program, str):
        kind = type(program).__name__
        raise InputError(f"a program is a string of source text, not {kind}", field=place)
    return program


def text_at(sample: Sample, key: str, place: str) -> str:
    """Return a sample's text. Raises InputError if there is none at that key."""
    text = sample.get(key) if isinstance(sample, Mapping) else None
    if not isinstance(text, str):
        raise InputError(f'is not a dict with a string at "{key}"', field=place)
    return text


def whole(value: SupportsIndex, name: str, unit: str = "") -> int:
    """Return a whole number of at least 1. Raises InputError for anything else."""
    try:
        number = operator.index(value)
    except TypeError as error:
        raise InputError(f"must be a whole number, not {value!r}", field=name) from error
    if number < 1:
        raise InputError(f"must be at least 1{unit}", field=name)
    return number
