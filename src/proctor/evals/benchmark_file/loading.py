"""Loading benchmark files: a user's, and those that come with proctor."""

from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path

import msgspec

from proctor.errors import InputError
from proctor.evals.benchmark_file.benchmark import MODES, FileBenchmark
from proctor.evals.benchmark_file.definition import (
    PLAIN,
    AnswerTable,
    BenchmarkDefinition,
    MessageTable,
    PromptTable,
    SameProcessTable,
    StdioTable,
)
from proctor.evals.benchmark_file.expressions import Expression, TemplateCompiler
from proctor.evals.benchmark_file.files import beside
from proctor.evals.benchmark_file.grading import comparison
from proctor.evals.benchmark_file.parsing import parsed
from proctor.evals.benchmark_file.row_values import RowValues
from proctor.evals.benchmark_file.tasks import INFO, TaskMaker
from proctor.evals.bundled import FAMILIES, FILE
from proctor.languages import registry
from proctor.sandbox.machine import plain_file

LONGEST = 4 << 20
"""Bytes of a benchmark file."""


def load(place: Path) -> FileBenchmark:
    """Load a benchmark file, or the one of a directory. Raises InputError."""
    path = place / FILE if place.is_dir() else place
    try:
        text = plain_file.read(str(path), LONGEST).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError, InputError) as error:
        why = getattr(error, "strerror", None) or getattr(error, "message", None) or error
        raise InputError(f"cannot be read: {why}", file=str(path)) from error
    name = path.resolve().parent.name if path.name == FILE else path.stem
    definition = parsed(text, str(path), name)
    if definition.name.partition("/")[0] in FAMILIES:
        raise InputError(
            f"{definition.name!r} is the name of a benchmark that comes with proctor; "
            "give it another", file=str(path), field="name",
        )  # fmt: skip
    return _made(definition, path.parent, path)


def bundled(name: str, part: str = "", *, version: int = 1) -> FileBenchmark:
    """Load a benchmark file that comes with proctor; a `part` of it has the data set HUB_PART."""
    with as_file(files("proctor") / "bundled" / name) as path:
        definition = parsed(path.read_text("utf-8"), name, name)
        if part:
            rows = msgspec.structs.replace(definition.rows, hub=f"{definition.rows.hub}_{part}")
            named = f"{definition.name}/{part}"
            definition = msgspec.structs.replace(definition, name=named, rows=rows)
        return replace(_made(definition, path.parent, None), version=version)


def _made(definition: BenchmarkDefinition, directory: Path, path: Path | None) -> FileBenchmark:
    file = str(path or definition.name)
    compiler = TemplateCompiler(directory, file)
    for language in definition.program.languages:
        try:
            registry.get(language)
        except InputError as error:
            raise InputError(error.message, file=file, field="program.languages") from error
    prompts = {
        name: tuple(
            (each.role, compiler.template(each.content, field))
            for field, each in _fields(name, table)
        )
        for name, table in definition.all_prompts.items()
        if table.written()
    }
    extractions = {
        policy: compiler.extraction(text, f"extraction.{policy}")
        for policy, text in definition.extraction.items()
    }
    expressions = _compiled(definition, compiler)
    modes = tuple(definition.modes or MODES[type(definition.grading)])
    grading = definition.grading
    source = None
    if isinstance(grading, SameProcessTable):
        source = compiler.template(grading.source, "grading.source")
    templates = [template for each in prompts.values() for _, template in each]
    templates += [] if source is None else [source]
    values = RowValues(expressions, tuple(definition.let), modes, tuple(templates), source)
    tasks = TaskMaker(definition, directory, values, source)
    given = definition.rows.config
    config = None if given is None else compiler.template(given, "rows.config")
    read = [directory / name for name in sorted(compiler.included)]
    if isinstance(grading, StdioTable | AnswerTable):
        _check_output(grading, file)
        if grading.checker is not None and grading.checker.file:
            read.append(beside(directory, grading.checker.file, file, "grading.checker.file"))
    return FileBenchmark(
        definition, directory, tasks, prompts, extractions, path, tuple(read), config
    )


def _check_output(grading: StdioTable | AnswerTable, file: str) -> None:
    """Raise InputError for a bad tolerance, or a checker in an unknown language."""
    try:
        if grading.compare is not None:
            comparison(grading.compare)
        if grading.checker is not None:
            registry.get(grading.checker.language)
    except InputError as error:
        table = "compare" if grading.compare is not None else "checker"
        field = f"grading.{table}.{error.field}"
        raise InputError(error.message, file=file, field=field) from error


def _fields(prompt: str, table: PromptTable) -> Iterator[tuple[str, MessageTable]]:
    """Return the messages of a prompt, each with the field that holds its text."""
    name = "prompt" if prompt == PLAIN else f"prompts.{prompt}"
    for number, each in enumerate(table.written()):
        yield f"{name}.messages[{number}]" if table.messages else f"{name}.{each.role}", each


def _compiled(definition: BenchmarkDefinition, compiler: TemplateCompiler) -> dict[str, Expression]:
    written = {f"rows.{name}": getattr(definition.rows, name) for name in (*INFO, "where")}
    written |= {f"let.{name}": text for name, text in definition.let.items()}
    written |= {
        f"program.{name}": getattr(definition.program, name) for name in ("function", "head")
    }
    written["examples.where"] = definition.examples.where
    grading = definition.grading
    templates = {"source"} if isinstance(grading, SameProcessTable) else set[str]()
    for name in set(grading.__struct_fields__) - {"wanted"} - templates:
        value = getattr(grading, name)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            written[f"grading.{name}"] = str(value)
    checker = getattr(grading, "checker", None)
    if checker is not None:
        written["grading.checker.source"] = checker.source
    return {field: compiler.expression(text, field) for field, text in written.items() if text}
