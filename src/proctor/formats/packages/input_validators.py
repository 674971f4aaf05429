"""The validators of a package's inputs, in whichever format.

They decide no verdict, so that loading a package does not read them; checks of the package itself
read them here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from proctor.errors import InputError
from proctor.formats.packages.documents import read_json, read_toml, read_xml, read_yaml
from proctor.formats.packages.files import Tree, extension, join
from proctor.formats.packages.model import Package
from proctor.formats.packages.polygon_solutions import language_of
from proctor.formats.packages.programs import is_source, load_program
from proctor.program import Program

_HEADERS = (".h", ".hh", ".hpp")
_KATTIS = ("input_validators", "input_format_validators")
_GROUP_FILES = ("test_group.yaml", "testdata.yaml")
_GROUP_KEYS = ("input_validator_args", "input_validator_flags")


@dataclass(frozen=True, slots=True)
class InputValidator:
    """A program that finds an input on stdin and says by its exit code whether it is valid."""

    name: str
    """Path within the package."""
    program: Program
    accepts: frozenset[int]
    """Exit codes by which it accepts."""
    tests: frozenset[str] | None = None
    """Names of the tests that it is for; None: all."""
    args: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Its arguments for a test, by the test's name."""


def load_input_validators(package: Package) -> tuple[tuple[InputValidator, ...], tuple[str, ...]]:
    """Return the package's input validators, and notes on those that cannot be used.

    Raises InputError if a settings file is broken.
    """
    tree = Tree.at(package.path)
    load = _LOADERS.get(package.format)
    found = () if load is None else tuple(load(tree, package))
    return found, tuple(tree.notes.found)


def _native(tree: Tree, _package: Package) -> list[InputValidator]:
    name = read_toml(tree, "problem.toml").get("validator")
    if not isinstance(name, str):
        return []
    return [InputValidator(name, load_program(tree, name), frozenset({0, 42}))]


def _icpc(tree: Tree, package: Package) -> list[InputValidator]:
    found = []
    for directory in _KATTIS:
        for entry in tree.entries(directory, lenient=True):
            name = join(directory, entry)
            if not (tree.is_dir(name) or is_source(name)):
                if extension(name) not in (*_HEADERS, ".md", ".txt"):
                    tree.notes(f"{name}: no program in a known language")
                continue
            with tree.noting(name):
                args = {
                    test.name: _kattis_args(tree, test.name, entry)
                    for test in package.problem.tests
                }
                program = load_program(tree, name)
                found.append(InputValidator(name, program, frozenset({42}), args=args))
    return found


def _kattis_args(tree: Tree, test: str, validator: str) -> tuple[str, ...]:
    """Return a test's arguments: those of the nearest group that states some."""
    parts = test.split("/")
    places = [join("data", test + ".yaml")]
    for depth in range(len(parts) - 1, -1, -1):
        places += [join("data", *parts[:depth], file) for file in _GROUP_FILES]
    for place in places:
        settings: Mapping[str, Any] = read_yaml(tree, place) if tree.is_file(place) else {}
        for key in _GROUP_KEYS:
            given = settings.get(key)
            if isinstance(given, dict):
                given = given.get(validator, given.get(validator.rpartition(".")[0]))
            if isinstance(given, str | int):
                return tuple(str(given).split())
            if isinstance(given, list):
                return tuple(map(str, given))
    return ()


def _polygon(tree: Tree, package: Package) -> list[InputValidator]:
    root = read_xml(tree, "problem.xml")
    groups = {
        str(number): element.get("group") or ""
        for number, element in enumerate(root.findall("judging/testset/tests/test"), 1)
    }
    args = {
        name: ("--testset", "tests", *(("--group", groups[name]) if groups.get(name) else ()))
        for name in package.problem.tests_by_name()
    }
    found = []
    for source in root.findall("assets/validators/validator/source"):
        path = source.get("path") or ""
        with tree.noting(path or "problem.xml: a validator"):
            text = tree.source(path)
            language = language_of(source.get("type") or "", path, text)
            if language is None:
                raise InputError("its language is not known")
            program = Program(text, language, files=_headers(tree, path.rpartition("/")[0]))
            found.append(InputValidator(path, program, frozenset({0}), args=args))
    return found


def _tps(tree: Tree, package: Package) -> list[InputValidator]:
    settings: Mapping[str, Any] = {}
    if tree.is_file("subtasks.json"):
        settings = read_json(tree, "subtasks.json")
    tests: dict[str, frozenset[str] | None] = {}
    for name in _names(settings.get("global_validators")):
        tests[name] = None
    subtasks = settings.get("subtasks")
    for subtask in package.problem.subtasks:
        own = subtasks.get(subtask.name) if isinstance(subtasks, dict) else None
        for name in _names(own.get("validators") if isinstance(own, dict) else None):
            before = tests.get(name, frozenset())
            tests[name] = None if before is None else before | frozenset(subtask.tests)
    found = []
    for command, some in tests.items():
        # A command line: `validator.cpp`, or `validator -subtask 1`.
        name, *words = command.split()
        path = next(
            (join("validator", each) for each in tree.entries("validator")
             if each == name or each.rpartition(".")[0] == name), join("validator", name),
        )  # fmt: skip
        with tree.noting(path):
            program = load_program(tree, path)
            program = replace(program, files=_headers(tree, "validator"))
            given = {test: tuple(words) for test in package.problem.tests_by_name()}
            found.append(InputValidator(path, program, frozenset({0}), some, given))
    return found


def _names(given: object) -> list[str]:
    return [each for each in given if isinstance(each, str)] if isinstance(given, list) else []


def _headers(tree: Tree, directory: str) -> dict[str, bytes]:
    """Return the headers of a directory and of the package's `files/`."""
    found = {}
    for place in dict.fromkeys((directory, "files")):
        for entry in tree.entries(place, lenient=True):
            if extension(entry) in _HEADERS and tree.is_file(join(place, entry)):
                found[entry] = tree.content(join(place, entry))
    return found


_LOADERS: dict[str, Callable[[Tree, Package], list[InputValidator]]] = {
    "native": _native,
    "icpc": _icpc,
    "polygon": _polygon,
    "tps": _tps,
}
