"""Reading a benchmark file: parsing its tables, and finding mistakes in them."""

import re
from collections.abc import Iterator
from typing import get_args

import msgspec

from proctor.errors import InputError
from proctor.evals import extraction
from proctor.evals.benchmark_file.definition import (
    NO_PROGRAM,
    PYTHON_ONLY,
    AnswerTable,
    BenchmarkDefinition,
    CheckerTable,
    CompareTable,
    ExamplesTable,
    Grading,
    MessageTable,
    PackageTable,
    ProgramTable,
    PromptTable,
    Role,
    RowsTable,
    StdioTable,
    UnitTestsTable,
)
from proctor.evals.benchmark_file.functions import RESERVED
from proctor.formats.livecodebench import did_you_mean, schema_error
from proctor.formats.toml_tables import parse_toml
from proctor.grading import Convention, Match

Mistake = tuple[str, str]
"""Field, and what is wrong with it."""
SETTINGS = frozenset({
    "extraction", "language", "max_tokens", "memory", "min_p", "mode", "n", "preload", "prompt",
    "few_shot", "reasoning_effort", "seed", "stop", "temperature", "test_timeout", "top_k", "top_p",
})  # fmt: skip
"""Options that a benchmark file may set: none that could lead a key elsewhere, or run code here."""
_HUB = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_NAMES: dict[str, tuple[str, ...]] = {
    "kind": tuple(str(each.__struct_config__.tag) for each in get_args(Grading)),
    "match": tuple(Match),
    "convention": tuple(Convention),
    "role": get_args(Role),
    "wanted": ("output", "input"),
}
"""Values that a field may have, by its name."""
_TABLES = (
    BenchmarkDefinition, RowsTable, PromptTable, MessageTable, ExamplesTable, ProgramTable,
    CheckerTable, CompareTable, *get_args(Grading),
)  # fmt: skip
_FIELDS = {name for table in _TABLES for name in table.__struct_fields__}
_UNKNOWN = re.compile("unknown field `(.*)`")


def parsed(text: str, file: str, name: str) -> BenchmarkDefinition:
    """Parse a benchmark file; `name` is its name if it says none. Raises InputError."""
    try:
        tables = parse_toml(text)
    except InputError as error:
        raise InputError(error.message, file=file, line=error.line) from error
    try:
        found = msgspec.convert(tables, BenchmarkDefinition)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        wrong = schema_error(error)
        message = wrong.message + _hint(wrong)
        raise InputError(message, file=file, field=wrong.field) from error
    found = msgspec.structs.replace(found, name=found.name or name)
    for field, message in mistakes(found):
        raise InputError(message, file=file, field=field)
    return found


def _hint(wrong: InputError) -> str:
    """Return a hint at what was meant, to be appended to msgspec's message."""
    name = (wrong.field or "").rpartition(".")[2]
    if name in _NAMES and wrong.message.startswith("invalid"):
        return f"; it is one of {', '.join(_NAMES[name])}"
    if (unknown := _UNKNOWN.search(wrong.message)) is not None:
        return did_you_mean(unknown[1], _FIELDS)
    return ""


def mistakes(found: BenchmarkDefinition) -> Iterator[Mistake]:
    """Find mistakes that the types of the tables do not rule out."""
    yield from _of_names(found)
    yield from _of_rows(found.rows)
    yield from _of_prompts(found)
    yield from _of_program(found)
    yield from _of_modes(found)
    yield from _of_checkers(found.grading)


def _of_names(found: BenchmarkDefinition) -> Iterator[Mistake]:
    if not _NAME.fullmatch(found.name.replace("/", "-")):
        yield "name", f"{found.name!r} is not a name: use letters, digits, - and _"
    for name in found.let:
        if not name.isidentifier() or name in RESERVED:
            yield f"let.{name}", "is not a name, or one that means something else"
    for policy in sorted(found.extraction.keys() - set(extraction.policies())):
        yield f"extraction.{policy}", f"is not one of {', '.join(extraction.policies())}"
    for name in sorted(found.settings.keys() - SETTINGS):
        known = ", ".join(sorted(SETTINGS))
        yield f"settings.{name}", f"is for the command line; here can be {known}"


def _of_rows(rows: RowsTable) -> Iterator[Mistake]:
    if not rows.file and not rows.hub:
        yield "rows", "needs `file`, or `hub` for a data set of the hub"
    if rows.hub and not _HUB.fullmatch(rows.hub):
        yield "rows.hub", "is not an OWNER/NAME"


def _of_prompts(found: BenchmarkDefinition) -> Iterator[Mistake]:
    prompts = {"prompt": found.prompt}
    prompts |= {f"prompts.{name}": prompt for name, prompt in found.prompts.items()}
    for field, prompt in prompts.items():
        chat = prompt.user or prompt.system
        given = sum(map(bool, (chat, prompt.text, prompt.messages)))
        mixed = len(prompt.messages) > 1 and any(each.role == "text" for each in prompt.messages)
        if given != 1 or (chat and not prompt.user) or mixed:
            what = "`user`, perhaps with `system`; or `text` for a base model; or `messages`"
            yield field, f"needs one of these: {what}"
        if prompt.examples < 0:
            yield f"{field}.examples", "is a number from 0 on"
    if "plain" in found.prompts:
        yield "prompts.plain", "is the table `prompt`"


def _of_program(found: BenchmarkDefinition) -> Iterator[Mistake]:
    program, grading = found.program, found.grading
    python = program.languages == ("python",)
    if not program.languages:
        yield "program.languages", "names none"
    elif isinstance(grading, (*PYTHON_ONLY, *NO_PROGRAM)) and not python:
        yield "program.languages", "must be left out for this kind of grading"
    if program.head and not (python and program.function):
        yield "program.head", "is for Python alone, and needs `function`"
    named = program.function or (isinstance(grading, UnitTestsTable) and grading.functions)
    if isinstance(grading, PYTHON_ONLY) and not named:
        yield "program.function", "is missing"
    if isinstance(grading, StdioTable) and grading.function:
        if not python:
            yield "grading.function", "is for Python alone: leave `program.languages` out"
        if grading.compare is not None or grading.checker is not None:
            yield "grading.function", "stands beside `compare` or `checker`, which calls have not"


def _of_modes(found: BenchmarkDefinition) -> Iterator[Mistake]:
    grading = found.grading
    plain = not isinstance(grading, AnswerTable | PackageTable)
    if isinstance(grading, StdioTable):
        judged = grading.compare is not None or grading.checker is not None
        plain = not judged and found.program.languages == ("python",)
    if "official" in found.modes and not plain:
        yield "modes.official", "lcb_runner's rules are for Python and plain tests only"


def _of_checkers(grading: Grading) -> Iterator[Mistake]:
    if not isinstance(grading, StdioTable | AnswerTable) or grading.checker is None:
        return
    if grading.compare is not None:
        yield "grading.checker", "stands beside `compare`; give only one of them"
    if bool(grading.checker.file) == bool(grading.checker.source):
        yield "grading.checker", "needs `file` or `source`"
