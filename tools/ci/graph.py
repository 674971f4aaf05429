"""Find the files of tests that depend on a change, by what they import and name.

An edge leads from a module to whatever it imports anywhere, in functions too, and to modules and
packages that its texts name in full ("proctor.cell"). A file of tests also depends on the package
that its folder mirrors, on the commands of `proctor` that it starts (offers.py), on the helpers in
its folder, and on files of the repository outside `src` that its texts name. A file that is no
module, such as the definition of a language, or that is gone, belongs to the package around it.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import PurePosixPath as Path

from ci import offers
from ci.changes import ROOT, Changes

EVERYWHERE = (
    "pyproject.toml",
    "uv.lock",
    "setup.py",
    "tests/conftest.py",
    "tests/needs.py",
    "tests/sampling.py",
)
"""Files on which every test depends."""
CELL = "src/proctor/cell"
"""Package of what runs inside a cell: it is sent there as a whole, not imported."""
_NO_TESTS = {"corpus", "packages", "attacks", "partners", "referees"}
"""Folders below tests with programs to judge."""
_BEGUN = re.compile(r"f['\"](proctor(?:\.\w+)+)\.\w*\{")
"""Name of a module of which only the package is known."""
_DOTTED = re.compile(r"(proctor(?:\.\w+)+)(?::[\w.]+)?")


@cache
def files() -> frozenset[str]:
    """Return all Python files that may be imported, as paths below the repository."""
    found = (
        path
        for top in ("src", "tests", "benchmarks", "tools")
        for path in (ROOT / top).rglob("*.py")
    )
    return frozenset(str(path.relative_to(ROOT)) for path in found)


def tests() -> list[str]:
    """Return all files of tests."""
    found = (each for each in files() if each.startswith("tests/"))
    return sorted(
        each for each in found
        if Path(each).name.startswith("test_") and not _NO_TESTS & set(Path(each).parts)
    )  # fmt: skip


def affected(changes: Changes) -> list[str]:
    """Return the files of tests that depend on what changed."""
    if changes.paths is None or changes.within(*EVERYWHERE):
        return tests()
    return [test for test in tests() if any(_depends(test, path) for path in changes.paths)]


def _depends(test: str, path: str) -> bool:
    if path.startswith("src/"):
        return path in modules(test) or (path not in files() and _package(path) in _packages(test))
    folder = str(Path(test).parent)
    near = (
        folder != "tests"
        and path.startswith(f"{folder}/")
        and not Path(path).name.startswith("test_")
    )
    return path in modules(test) or near or _is_named(path, _texts_of(test))


@cache
def modules(test: str) -> frozenset[str]:
    """Return the modules on which a file of tests depends, itself included."""
    named = _named_in(test)
    start = {(each, True) for each in (test, *_around(test))}
    if named.starts:
        start |= _of_commands(named)
    seen, waiting = set(start), list(start)
    while waiting:
        path, whole = waiting.pop()
        for other, other_whole in _edges(path, whole):
            # A server has all doors, the command all commands: a test depends on those it names.
            if (door := offers.entered(path, other)) is not None and not named.door(door):
                continue
            edge = (other, other_whole and other not in _defining())
            if edge not in seen:
                seen.add(edge)
                waiting.append(edge)
    return frozenset(path for path, _ in seen)


@cache
def _helpers(test: str) -> frozenset[str]:
    """Return a file of tests with what it uses outside of src, but for what all tests have."""
    own = (each for each in _around(test) if not each.startswith("src/"))
    seen = {test, *own} - set(EVERYWHERE)
    waiting = list(seen)
    while waiting:
        found = {path for path, _ in _edges(waiting.pop(), True) if not path.startswith("src/")}
        waiting += found - seen
        seen |= found
    return frozenset(seen)


def _named_in(test: str) -> offers.Named:
    """Return which commands and doors a file of tests and its helpers name."""
    helpers = _helpers(test)
    return offers.Named(
        frozenset().union(*(_words(each) for each in helpers)),
        any(offers.starts(ROOT / each) for each in helpers),
        "README.md" in _texts(test),
    )


@cache
def _words(file: str) -> frozenset[str]:
    return offers.words(_tree(file))


@cache
def _of_command(file: str) -> dict[str, frozenset[tuple[str, bool]]]:
    """Return what the commands import that a module defines, by their names."""
    return {
        name: _found(file, (node for each in functions for node in ast.walk(each)))
        for name, functions in offers.commands(file, _tree(file)).items()
    }


def _of_commands(named: offers.Named) -> set[tuple[str, bool]]:
    """Return what the command imports when it starts, and what the named commands import."""
    scripts = {(path, True) for script, path in offers.scripts().items() if named.command(script)}
    return {(offers.MAIN, False), *scripts}.union(
        *(edges for file in _defining() for name, edges in _of_command(file).items()
          if named.command(name))
    )  # fmt: skip


@cache
def _defining() -> frozenset[str]:
    """Return the modules that define commands."""
    below = (each for each in files() if each.startswith(offers.COMMANDS))
    return frozenset(each for each in below if _of_command(each))


@cache
def _packages(test: str) -> frozenset[str]:
    return frozenset(str(Path(each).parent) for each in modules(test))


def _around(test: str) -> Iterator[str]:
    """Yield what a file of tests depends on without importing it."""
    folder = Path(test).parent
    conftests = (f"{each}/conftest.py" for each in (folder, *folder.parents))
    yield from (each for each in conftests if each in files())
    if folder not in (Path("tests"), Path("tests/cli")):  # where tests name their commands
        yield from _below(str("src/proctor" / folder.relative_to("tests")))


def _below(folder: str) -> list[str]:
    return [each for each in files() if each.startswith(f"{folder}/")]


@cache
def _edges(file: str, whole: bool) -> frozenset[tuple[str, bool]]:
    """Return what a module imports; not whole: only what is imported when a module below it is."""
    return _found(file, _nodes(file) if whole else _executed(_tree(file)))


def _found(file: str, nodes: Iterable[ast.AST]) -> frozenset[tuple[str, bool]]:
    """Return what these parts of a module import, and whether the whole of it counts."""
    found = set[tuple[str, bool]]()
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                for name in _attributes(file, alias.name):
                    found |= _named(file, alias.name, name)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = Path(file).parents[node.level - 1].parts[1:]
                base = ".".join((*package, *([base] if base else [])))
            for alias in node.names:
                found |= _named(file, base, alias.name)
        elif isinstance(node, ast.Constant) and (dotted := _DOTTED.fullmatch(str(node.value))):
            below = _below("src/" + dotted[1].replace(".", "/"))
            found |= {(each, True) for each in below} | _named(file, dotted[1], "")
        elif isinstance(node, ast.JoinedStr) and (begun := _BEGUN.match(ast.unparse(node))):
            found |= {(each, True) for each in _below("src/" + begun[1].replace(".", "/"))}
        elif isinstance(node, ast.Name) and node.id == "__package__":
            # Its modules may be imported by the last part of their names.
            found |= {(each, True) for each in _below(str(Path(file).parent))}
    if any(each.startswith(f"{CELL}/") for each, _ in found):
        found |= {(each, True) for each in _below(CELL)}
    return frozenset(found)


def _attributes(file: str, module: str) -> list[str]:
    """Return what a file takes of the package of public names, which loads each on first use."""
    if module != "proctor":
        return [""]
    return re.findall(r"\bproctor\.(\w+)", (ROOT / file).read_text("utf-8")) or [""]


def _named(file: str, base: str, name: str) -> set[tuple[str, bool]]:
    """Return the module of a dotted name, and the packages around it; `name` may be no module."""
    parts = [part for part in (*base.split("."), name) if part]
    for root in _roots(file):
        for end in range(len(parts), 0, -1):
            if (module := _file("/".join((*root, *parts[:end])))) is None:
                continue
            around = (_file("/".join((*root, *parts[:less]))) for less in range(1, end))
            home = _home(module, name) if end < len(parts) else None
            # What has homes for its names loads them lazily: one name is no use of all.
            own = {(module, False), *home} if home is not None else {(module, True)}
            return {(each, False) for each in around if each} | own
    return set()


def _file(place: str) -> str | None:
    return next((each for each in (f"{place}.py", f"{place}/__init__.py") if each in files()), None)


def _home(package: str, name: str) -> set[tuple[str, bool]] | None:
    """Return where a package has a name that it loads on first use; None if it loads none so."""
    homes = _homes(package)
    if not homes:
        return None
    return _named(package, *homes[name]) if name in homes else set()


@cache
def _homes(package: str) -> dict[str, tuple[str, str]]:
    """Return modules and names there of what an `__init__.py` imports for type checkers alone."""
    if not package.endswith("/__init__.py"):
        return {}
    imports = (
        each
        for node in _tree(package).body if isinstance(node, ast.If) and _for_checkers(node)
        for each in node.body if isinstance(each, ast.ImportFrom) and each.module
    )  # fmt: skip
    return {
        alias.asname or alias.name: (each.module or "", alias.name)
        for each in imports for alias in each.names
    }  # fmt: skip


def _for_checkers(node: ast.If) -> bool:
    return ast.unparse(node.test).endswith("TYPE_CHECKING")


def _roots(file: str) -> Iterator[tuple[str, ...]]:
    """Yield the folders in which a module is looked for, as pytest and tools do."""
    yield ("src",)
    if not file.startswith("src/"):
        yield from (each.parts for each in Path(file).parents if each.parts)
        yield ("benchmarks",)


@cache
def _tree(file: str) -> ast.Module:
    return ast.parse((ROOT / file).read_bytes())


@cache
def _nodes(file: str) -> list[ast.AST]:
    return list(ast.walk(_tree(file)))


def _executed(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the statements that are executed on import."""
    for node in tree.body:
        if isinstance(node, ast.Try) or (isinstance(node, ast.If) and not _for_checkers(node)):
            yield from ast.walk(node)
        else:
            yield node


def _package(path: str) -> str:
    """Return the folder of the package around a file that is no module."""
    folder = Path(path).parent
    while f"{folder}/__init__.py" not in files() and folder.parts:
        folder = folder.parent
    return str(folder)


def _is_named(path: str, texts: frozenset[str]) -> bool:
    """Say whether a text is a file's name or path, or the path of a folder around it."""
    parts = Path(path).parts
    return parts[-1] in texts or any(
        "/".join(parts[:end]) in texts for end in range(1, len(parts) + 1)
    )


@cache
def _texts_of(test: str) -> frozenset[str]:
    """Return the texts of a file of tests and of the helpers that it imports."""
    helpers = (each for each in modules(test) if not each.startswith("src/"))
    return frozenset().union(*map(_texts, helpers))


@cache
def _texts(file: str) -> frozenset[str]:
    return frozenset(
        node.value.rstrip("/")
        for node in _nodes(file)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
