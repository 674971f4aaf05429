"""Checks what linters do not: unique class names, no circles, docstrings that stand alone.

`python tools/check_house.py [FOLDER...]` prints what it finds, by file and line, and exits with 1
if there is anything. With folders (as src/proctor/solver) only what concerns them is printed.
"""

import ast
import re
import sys
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "proctor"
PROGRAMS = ("selftest/attacks", "bundled")
"""Folders of programs under test, which are no modules."""
RIDDLE = re.compile(r"\s*(What|Whether|Who|Which|Whose)\b")
"""First words of docstrings that are half a sentence: begin with a verb or a noun instead."""

Graph = Mapping[str, Mapping[str, str]]
"""For each node the nodes it depends on, and the file and line where it does."""


@dataclass(frozen=True, slots=True)
class Module:
    """A file and the parts of it that are checked."""

    path: Path
    classes: list[tuple[str, int]] = field(default_factory=list)
    riddles: list[tuple[str, int]] = field(default_factory=list)
    imports: dict[tuple[str, ...], int] = field(default_factory=dict)
    """Dotted names, the first of which that is a module's is imported, and the first line."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence for whoever mends it, and the files it concerns."""

    text: str
    paths: list[Path]


def read_modules(source: Path) -> dict[str, Module]:
    """Return every module below a package's folder by its dotted name; each is parsed once."""
    programs = [source / folder for folder in PROGRAMS]
    found = {}
    for path in sorted(source.rglob("*.py")):
        if any(path.is_relative_to(folder) for folder in programs):
            continue
        parts = path.relative_to(source.parent).with_suffix("").parts
        package = parts[:-1]
        name = ".".join(package if parts[-1] == "__init__" else parts)
        found[name] = _read(path, package)
    return found


def _read(path: Path, package: tuple[str, ...]) -> Module:
    module = Module(path)
    # Only statements are visited: nothing that is looked for is inside an expression.
    waiting: deque[ast.AST] = deque([ast.parse(path.read_text("utf-8"))])
    while waiting:
        node = waiting.popleft()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue  # only for a type checker: no module needs the other to work
        waiting.extend(
            each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.expr)
        )
        match node:
            case ast.ClassDef():
                module.classes.append((node.name, node.lineno))
            case ast.Expr(ast.Constant(str(text))):
                if riddle := RIDDLE.match(text):
                    module.riddles.append((riddle[1], node.lineno))
            case ast.Import() | ast.ImportFrom():
                for names in _imported(node, package):
                    module.imports.setdefault(names, node.lineno)
    return module


def _imported(
    node: ast.Import | ast.ImportFrom, package: tuple[str, ...]
) -> Iterator[tuple[str, ...]]:
    """Yield names of each import, the first of which that is a module's is what it depends on."""
    if isinstance(node, ast.Import):
        yield from ((each.name,) for each in node.names)
        return
    above = package[: len(package) - node.level + 1] if node.level else ()
    origin = ".".join([*above, *([node.module] if node.module else ())])
    yield from ((f"{origin}.{each.name}", origin) for each in node.names)


def shared_names(modules: Mapping[str, Module]) -> Iterator[Finding]:
    """Yield class names that are defined more than once."""
    places = defaultdict(list)
    for module in modules.values():
        for name, line in module.classes:
            places[name].append((module.path, line))
    for name, where in sorted(places.items()):
        if len(where) > 1:
            listed = ", ".join(_at(path, line) for path, line in where)
            yield Finding(f"class {name} is defined in {listed}", [path for path, _ in where])


def riddles(modules: Mapping[str, Module]) -> Iterator[Finding]:
    """Yield docstrings, those of attributes too, that begin with half a sentence."""
    for module in modules.values():
        for word, line in module.riddles:
            text = f"{_at(module.path, line)}: a docstring begins with {word!r}"
            yield Finding(text, [module.path])


def circles(modules: Mapping[str, Module]) -> Iterator[Finding]:
    """Yield circles of modules, and of the folders right below the package.

    Imports inside functions count too. For each import that is part of a circle the
    shortest such circle is yielded.
    """
    top = min(modules, key=len)  # it imports what is public, on first use
    graph: dict[str, dict[str, str]] = {name: {} for name in modules}
    rooms: dict[str, dict[str, str]] = {_room(name): {} for name in modules}
    for name, module in modules.items():
        if name == top:
            continue
        for names, line in module.imports.items():
            imported = next((each for each in names if each in modules), top)
            if imported in (name, top):
                continue
            graph[name].setdefault(imported, _at(module.path, line))
            if _room(name) != _room(imported):
                rooms[_room(name)].setdefault(_room(imported), _at(module.path, line))
    for edges, kind in ((graph, "modules"), (rooms, "folders")):
        for circle in shortest_circles(edges):
            steps = [(each, circle[(at + 1) % len(circle)]) for at, each in enumerate(circle)]
            way = " -> ".join(f"{one} ({edges[one][other]})" for one, other in steps)
            text = f"{kind} import one another: {way} -> {circle[0]}"
            yield Finding(text, [ROOT / edges[one][other].split(":")[0] for one, other in steps])


def shortest_circles(graph: Graph) -> list[tuple[str, ...]]:
    """Return for each edge the shortest circle that it is part of, if any; each circle once."""
    found = set()
    for group in _bound_together(graph):
        for one in group:
            for other in graph[one]:
                if other in group:
                    circle = _shortest_way(graph, other, one, group)
                    first = circle.index(min(circle))
                    found.add((*circle[first:], *circle[:first]))
    return sorted(found, key=lambda circle: (len(circle), circle))


def _bound_together(graph: Graph) -> list[set[str]]:
    """Return the groups of more than one node in which each reaches each (Kosaraju's algorithm)."""
    against: dict[str, list[str]] = {name: [] for name in graph}
    for name, others in graph.items():
        for other in others:
            against[other].append(name)
    order: list[str] = []
    seen: set[str] = set()
    for start in graph:
        _visit(start, graph, seen, order)
    groups, seen = [], set()
    for start in reversed(order):
        group: list[str] = []
        _visit(start, against, seen, group)
        groups.append(set(group))
    return [group for group in groups if len(group) > 1]


def _visit(start: str, graph: Mapping[str, Iterable[str]], seen: set[str], done: list[str]) -> None:
    """Append all that can be reached from a node and was not seen, the deepest first."""
    if start in seen:
        return
    seen.add(start)
    path = [(start, iter(graph[start]))]
    while path:
        name, others = path[-1]
        other = next((each for each in others if each not in seen), None)
        if other is None:
            done.append(name)
            path.pop()
        else:
            seen.add(other)
            path.append((other, iter(graph[other])))


def _shortest_way(graph: Graph, start: str, end: str, among: set[str]) -> tuple[str, ...]:
    came_from = {start: start}
    waiting = deque([start])
    while end not in came_from:
        name = waiting.popleft()
        for other in sorted(graph[name]):
            if other in among and other not in came_from:
                came_from[other] = name
                waiting.append(other)
    way = [end]
    while way[-1] != start:
        way.append(came_from[way[-1]])
    return tuple(reversed(way))


def _room(module: str) -> str:
    return ".".join(module.split(".")[:2])


def _at(path: Path, line: int) -> str:
    return f"{path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}:{line}"


def main(folders: list[str]) -> int:
    """Print what is found; return the exit code."""
    wanted = [Path(folder).resolve() for folder in folders] or [SOURCE]
    modules, count = read_modules(SOURCE), 0
    for check in (shared_names, riddles, circles):
        for finding in check(modules):
            if any(path.is_relative_to(place) for path in finding.paths for place in wanted):
                count += 1
                sys.stdout.write(f"{finding.text}\n")
    sys.stdout.write(f"{count} to mend\n" if count else "the house is in order\n")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
