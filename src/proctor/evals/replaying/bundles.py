"""Recorded judgements as bundles, which anybody can replay without any other file.

The manifest has the judgement, its settings and its program in readable form; the problem is packed
(problem.msgpack). Inputs and outputs of tests stand beside it as files, for people: they are
compared with those of the packed problem.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.evals.replaying.recorded import RecordedJudgement, Surroundings
from proctor.formats.bundle import MANIFEST, ZIP, read_bundle, write_bundle
from proctor.formats.livecodebench import schema_error
from proctor.json_values import convert_json
from proctor.judgement import Judgement
from proctor.judging.packed import pack, to_judge, unpack
from proctor.judging.settings import JudgeSettings
from proctor.languages import registry
from proctor.languages.naming import file_name
from proctor.problem import Problem
from proctor.program import Program
from proctor.version import __version__

VERSION = 1
_KIND = "proctor_bundle"
"""Key of the manifest's version, by which a bundle is known."""
_PROBLEM, _ABOUT = "problem.msgpack", "README.txt"
_SOURCE, _BESIDE, _TESTS = "program", "beside", "tests"
_UNUSUAL = re.compile(r"[^A-Za-z0-9._-]")
_MOST_TESTS = 500
"""Tests that are written as files too."""
_README = """\
A judgement by proctor, to be made again on another machine.

    proctor replay {place}

Recorded: {verdict}, for problem {problem}, from {name}.
Program: {source}; files it comes with, if any, are in {beside}/.
Tests: {tests}/, in the problem's order, {shown} of {count}, for people to read. This bundle holds
what the problem keeps from those who solve it.

manifest.json has the settings, the verdict of each test, versions and machine of then, and the size
and SHA-256 of each file. problem.msgpack is the problem that is judged against, in MessagePack.
"""


class _ProgramEntry(msgspec.Struct, frozen=True):
    """Program in a manifest; its texts are files of the bundle."""

    source: str
    """Path in the bundle."""
    language: str
    name: str = ""
    beside: tuple[str, ...] = ()
    """Names of its further files."""


class _BundleManifest(msgspec.Struct, frozen=True):
    record: str
    program: _ProgramEntry
    settings: JudgeSettings
    recorded: Judgement
    subtasks: tuple[str, ...] | None = None
    then: Surroundings = Surroundings()
    pool: dict[str, Any] = {}
    notes: tuple[str, ...] = ()


def is_bundle(place: Path) -> bool:
    """Return True for an archive, or a directory with a manifest."""
    return place.suffix == ZIP or (place / MANIFEST).is_file()


def bundle(recorded: RecordedJudgement, place: Path) -> None:
    """Write a recorded judgement as a bundle. Raises InputError; nothing is overwritten."""
    source = f"{_SOURCE}/{_source_name(recorded.program)}"
    packed = pack(to_judge(recorded.problem))
    outcome = recorded.outcome
    if outcome.isolation is not None:  # its guarantees are not recorded
        outcome = replace(outcome, isolation=replace(outcome.isolation, guarantees={}))
    entry = _ProgramEntry(
        source, recorded.program.language, recorded.program.name, tuple(recorded.program.files)
    )
    content = _BundleManifest(
        recorded.name, entry, recorded.settings, outcome, recorded.subtasks, recorded.then,
        {name: value for name, value in recorded.pool.items() if value}, recorded.notes,
    )  # fmt: skip
    manifest = {
        _KIND: VERSION,
        "made_by": f"proctor {__version__}",
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "problem": recorded.problem.id,
        **msgspec.to_builtins(content),
    }
    shown = _shown_files(unpack(packed, Problem), recorded.program, source)
    count = len(recorded.problem.tests)
    readme = _README.format(
        place=place.name, verdict=outcome.verdict, problem=recorded.problem.id,
        name=recorded.name, source=source, beside=_BESIDE, tests=_TESTS,
        shown=min(count, _MOST_TESTS), count=count,
    )  # fmt: skip
    about = readme.encode("utf-8", "backslashreplace")
    write_bundle(place, manifest, {_ABOUT: about, _PROBLEM: packed, **shown})


def of_bundle(place: Path) -> RecordedJudgement:
    """Read a bundle, which may come from a stranger. Raises InputError.

    Options of a pool that it names go into the notes of the result, not its `pool`, since they name
    directories and modules of another machine.
    """
    content, files = read_bundle(place)
    try:
        return _recorded(content, files)
    except InputError as error:
        raise InputError(error.message, file=str(place), field=error.field) from error


def _recorded(content: dict[str, Any], files: Mapping[str, bytes]) -> RecordedJudgement:
    if content.get(_KIND) != VERSION:
        by = content.get("made_by", "another version of proctor")
        raise InputError(f"is not a bundle that this version reads, but one of {by!s:.60}")
    try:
        manifest = convert_json(content, _BundleManifest)
        problem = unpack(files[_PROBLEM], Problem)
        program = _program(manifest.program, files)
    except msgspec.ValidationError as error:
        found = schema_error(error, within=MANIFEST)
        raise InputError(found.message, field=found.field) from error
    except (KeyError, UnicodeDecodeError) as error:
        raise InputError(f"its manifest does not fit its files: {error!r}") from error
    shown = _shown_files(problem, program, manifest.program.source)
    for name in sorted({*shown, *files} - {_PROBLEM, _ABOUT}):
        if files.get(name) != shown.get(name):
            raise InputError(f"{name} is not that of the judgement: it was changed")
    notes = tuple(f"it was judged with {name}: {_listed(value)}" for name, value in
                  manifest.pool.items())  # fmt: skip
    return RecordedJudgement(
        manifest.record, problem, program, manifest.settings, manifest.recorded, manifest.subtasks,
        manifest.then, notes=(*manifest.notes, *notes),
    )  # fmt: skip


def _program(entry: _ProgramEntry, files: Mapping[str, bytes]) -> Program:
    if not entry.source.startswith(f"{_SOURCE}/"):
        raise InputError(f"its program is not below {_SOURCE}/, but {entry.source!r:.100}")
    source = files[entry.source].decode("utf-8", "surrogatepass")
    beside = {name: files[f"{_BESIDE}/{name}"] for name in entry.beside}
    return Program(source, entry.language, entry.name, beside)


def _shown_files(problem: Problem, program: Program, source: str) -> dict[str, bytes]:
    """Return the readable files of a bundle: the program, and inputs and outputs of tests."""
    shown = {source: program.encoded()}
    shown |= {f"{_BESIDE}/{name}": data for name, data in program.files.items()}
    digits = len(str(len(problem.tests)))
    for at, test in enumerate(problem.tests[:_MOST_TESTS]):
        called = f"-{_UNUSUAL.sub('_', test.name)[:60]}" if test.name else ""
        name = f"{_TESTS}/{at:0{digits}}{called}"
        shown[f"{name}.in"] = test.input_bytes()
        if test.output is not None:
            shown[f"{name}.out"] = test.output_bytes()
    return shown


def _source_name(program: Program) -> str:
    if program.name:
        return program.name.rpartition("/")[2]
    with suppress(InputError):
        return file_name(registry.get(program.language), program.source)
    return "source"


def _listed(value: Any) -> str:
    return (", ".join(map(str, value)) if isinstance(value, list) else str(value))[:200]
