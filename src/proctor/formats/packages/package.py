"""Loading a package of any format.

A new format is a module beside this one with `load(tree) -> Package`, and its line in `_FORMATS`.
"""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from proctor.errors import InputError
from proctor.formats.packages.files import CONTROL, LARGEST_EXPORT, Tree, join
from proctor.formats.packages.model import (
    Bound,
    Claim,
    Expectation,
    Labelled,
    Package,
    Part,
    Several,
    Timing,
)
from proctor.problem import MOST_DECIMALS

__all__ = ["Bound", "Claim", "Expectation", "Labelled", "Package", "Part", "Timing", "load"]

# Title and module by main file; the module is imported when there is such a package. Tried in this
# order: exports to other formats are put into an ICPC package more often than the other way round.
_FORMATS = {
    "problem.toml": ("proctor's own", "native"),
    "problem.yaml": ("ICPC/Kattis", "icpc"),
    "problem.json": ("IOI (TPS, CMS), QDUOJ", "tps"),
    "task.yaml.orig": ("Italian, for task-maker", "italian"),
    "task.yaml": ("Italian, for CMS", "italian"),
    "task.yml": ("Italian, for CMS", "italian"),
    "problem.xml": ("Polygon, FPS", "polygon"),
    "init.yml": ("DMOJ", "dmoj"),
}
_TWINS = {"problem.json": (b'"display_id"', "qduoj"), "problem.xml": (b"<fps", "fps")}
"""Main files that two formats share: text that only the second has, and its module."""
_LISTED = 20
MOST_TESTS = 100_000
"""Tests of a problem, as at a server."""
_LONGEST_NAME = 100
_LONGEST_MESSAGE = 20_000
"""Characters of a message about a package."""


def is_main_file(name: str) -> bool:
    """Return True for the name of a package's main file."""
    return name in _FORMATS


def holds_problems(path: Path) -> bool:
    """Return True for a file that is a package by itself, or the main file of one.

    An FPS file may have any name that ends in .xml.
    """
    return path.is_file() and (is_main_file(path.name) or path.suffix == ".xml")


def load(path: Path | str, problem_id: str | None = None) -> Package:
    """Load the package in a directory, or the one that a main file belongs to.

    The result has `problem`, for `judge`; `submissions`, which came with it and are labelled; and
    `notes` on what was left out. Where there are several problems, `problem_id` says which. Tests
    are not read, only named, unless they are in the main file. Raises InputError, with file and
    field, for a directory that is not a package and for a package that is broken.
    """
    found, titles = load_some(path, None if problem_id is None else {problem_id})
    if found and problem_id in {None, *found}:
        return next(iter(found.values()))
    some = [f"{name} ({title:.60})" if title else name for name, title in titles.items()]
    listed = ", ".join(some[:_LISTED]) + (", ..." if len(some) > _LISTED else "")
    if problem_id is None:
        what = f"there are {len(some)} problems; say which with --problem-id: {listed}"
    else:
        what = f"there is no problem {problem_id!r} (there are: {listed})"
    raise InputError(what, file=str(path), field="id")


def load_some(
    path: Path | str, only: Collection[str] | None = None
) -> tuple[dict[str, Package], Mapping[str, str]]:
    """Load the problems of a place with ids in `only`, by id; return the titles of all as well.

    None loads the only problem, and none of them where there are several. Raises InputError.
    """
    try:
        found = _open(Path(path))
        if isinstance(found, Package):
            problem = _usable(found).problem
            return {problem.id: found}, {problem.id: problem.title}
        titles = found.titles
        if only is None:
            only = titles if len(titles) == 1 else ()
        return {name: _usable(found.load(name)) for name in titles if name in only}, titles
    except InputError as error:
        # It may quote a whole file.
        message, file = _line(error.message[:_LONGEST_MESSAGE]), _line(error.file or str(path))
        raise InputError(message, file=file, line=error.line, field=error.field) from error


def _line(text: str) -> str:
    """Return a text without line breaks and the like, which a package may have in its names."""
    return CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def _usable(package: Package) -> Package:
    """Return a package whose names are names, with tests in a number that can be judged.

    Raises InputError.
    """
    tests = package.problem.tests_by_name()
    if len(tests) > MOST_TESTS:
        raise InputError(f"has {len(tests)} tests, more than {MOST_TESTS}", field="tests")
    if not 0 <= package.problem.precision <= MOST_DECIMALS:
        what = f"points are rounded to 0 to {MOST_DECIMALS} decimals"
        raise InputError(f"{what}, not {package.problem.precision}", field="precision")
    for what, names in (
        ("id", [package.problem.id]),
        ("tests", tests),
        ("subtasks", [each.name for each in package.problem.subtasks]),
    ):
        odd = next((name for name in names if CONTROL.search(name)), None)
        if odd is not None:
            shown = repr(odd[:_LONGEST_NAME])
            raise InputError(f"the name {shown} has control characters", field=what)
    return package


def _open(path: Path) -> Package | Several:
    main = path.name if holds_problems(path) else ""
    tree = Tree.at(path.parent if main else path)
    if main and not is_main_file(main):
        return _opened(tree, main, "fps")
    for name, (_, module) in _FORMATS.items():
        if os.path.lexists(tree.root / name):
            tree.file(name)
            text, twin = _TWINS.get(name, (b"", ""))
            shared = twin and text in tree.content(name, largest=LARGEST_EXPORT)
            return _opened(tree, name, twin if shared else module)
    if inner := [name for name in tree.entries("", lenient=True) if _is_package(tree, name)]:
        return _SideBySide(tree, dict.fromkeys(inner, ""))
    beside = tree.root.parent / f"{tree.root.name}.yaml"  # CMS read the task's YAML here, long ago
    if beside.is_file() and tree.is_dir("sol"):
        raise InputError(f"there is no task.yaml; move {beside} to task.yaml", file=str(tree.root))
    from proctor.formats.packages import plain

    if plain.has_tests(tree):
        return plain.load(tree)
    looked = ", ".join(f"{name} ({title})" for name, (title, _) in _FORMATS.items())
    what = f"not a problem package: none of {looked} is there, nor tests such as {plain.EXAMPLES}"
    raise InputError(what, file=str(path))


def _opened(tree: Tree, name: str, module: str) -> Package | Several:
    if module == "fps":
        from proctor.formats.packages.fps import FpsItems

        return FpsItems(tree, name)
    loaded: Package = import_module(f"{__package__}.{module}").load(tree)
    return loaded


def _is_package(tree: Tree, name: str) -> bool:
    return tree.is_dir(name) and any(tree.is_file(join(name, main)) for main in _FORMATS)


@dataclass(frozen=True, slots=True)
class _SideBySide:
    """Packages in subdirectories of one directory, as in exports of several problems."""

    tree: Tree
    titles: Mapping[str, str]

    def load(self, problem_id: str) -> Package:
        """Load the package in the directory of that name. Raises InputError."""
        return load(self.tree.root / problem_id)
