"""Checks what linters do not: unique class names, no circles, docstrings that stand alone.

`python tools/check_house.py [FOLDER...]` prints what it finds, by file and line, and exits with 1
if there is anything. With folders (as src/proctor/solver) only what concerns them is printed.
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "proctor"
PROGRAMS = (SOURCE / "selftest" / "attacks", SOURCE / "bundled")
"""Programs under test, which are no modules."""
RIDDLES = {"What", "Whether", "Who", "Which", "Whose"}
"""First words of docstrings that are half a sentence: begin with a verb or a noun instead."""


def modules() -> dict[str, tuple[Path, ast.Module]]:
    """Return every module's file and tree by its dotted name."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        if not any(path.is_relative_to(place) for place in PROGRAMS):
            parts = path.relative_to(SOURCE.parent).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = (path, ast.parse(path.read_text("utf-8")))
    return found


def shared_names(trees: dict[str, tuple[Path, ast.Module]]) -> Iterator[tuple[list[Path], str]]:
    """Yield class names that are defined more than once."""
    places = defaultdict(list)
    for path, tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].append((path, node.lineno))
    for name, where in sorted(places.items()):
        if len(where) > 1:
            listed = ", ".join(f"{path.relative_to(ROOT)}:{line}" for path, line in where)
            yield [path for path, _ in where], f"class {name} is defined in {listed}"


def riddles(trees: dict[str, tuple[Path, ast.Module]]) -> Iterator[tuple[list[Path], str]]:
    """Yield docstrings, those of attributes too, that begin with a word of RIDDLES."""
    for path, tree in trees.values():
        for node in ast.walk(tree):
            body = getattr(node, "body", None)
            for statement in body if isinstance(body, list) else ():
                if not isinstance(statement, ast.Expr) or not isinstance(
                    statement.value, ast.Constant
                ):
                    continue
                text = statement.value.value
                if isinstance(text, str) and text.split(None, 1)[:1]:
                    first = text.split(None, 1)[0].rstrip(",'s")
                    if first in RIDDLES:
                        at = f"{path.relative_to(ROOT)}:{statement.lineno}"
                        yield [path], f"{at}: a docstring begins with {first!r}"


def circles(trees: dict[str, tuple[Path, ast.Module]]) -> Iterator[tuple[list[Path], str]]:
    """Yield a circle of modules that import one another when they are loaded, and one of folders.

    Folders are those right below `proctor`; imports inside functions and for types count too.
    """
    imports: dict[str, set[str]] = {name: set() for name in trees}
    for name, (_, tree) in trees.items():
        for node in ast.walk(tree):
            imports[name] |= {each for each in _imported(node) if each in trees and each != name}
    del imports["proctor"]  # names all that is public, on first use
    rooms: dict[str, set[str]] = defaultdict(set)
    for name, others in imports.items():
        others.discard("proctor")
        rooms[_room(name)] |= {_room(each) for each in others} - {_room(name)}
    for graph, kind in ((imports, "modules"), (rooms, "folders")):
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            circle = error.args[1]
            paths = [trees[each][0] for each in circle if each in trees]
            yield paths, f"{kind} import one another: {' <- '.join(circle)}"


def _room(module: str) -> str:
    return ".".join(module.split(".")[:2])


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (each.name for each in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield node.module
        yield from (f"{node.module}.{each.name}" for each in node.names)


def main(folders: list[str]) -> int:
    """Print what is found; return the exit code."""
    wanted = [Path(folder).resolve() for folder in folders] or [SOURCE]
    trees, count = modules(), 0
    for check in (shared_names, riddles, circles):
        for paths, finding in check(trees):
            if any(path.is_relative_to(place) for path in paths for place in wanted):
                count += 1
                sys.stdout.write(f"{finding}\n")
    sys.stdout.write(f"{count} to mend\n" if count else "the house is in order\n")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
