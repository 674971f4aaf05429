"""What lint cannot say: sizes, and who may run source or undo pickles."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src/proctor").rglob("*.py"))
SOURCES = [path for path in SOURCES if not {"bundled", "attacks"} & set(path.parts)]
C_SOURCES = sorted((ROOT / "src/proctor/cell").glob("*.[ch]"))
LONGEST_MODULE = 400
LONGEST_FUNCTION = 60
RUNS_SOURCE = {"compile", "exec", "eval", "__import__"}
UNPICKLES = {"pickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle"}


def nodes(path: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(path.read_text()))


@pytest.mark.parametrize("path", [*SOURCES, *C_SOURCES], ids=lambda path: path.name)
def test_modules_are_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LONGEST_MODULE


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_functions_are_short(path: Path) -> None:
    long = [
        (node.name, node.end_lineno - node.lineno + 1)
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno >= LONGEST_FUNCTION
        # A command's options are its declaration, not its length.
        and not any("command" in ast.unparse(decorator) for decorator in node.decorator_list)
    ]
    assert long == []


def called(node: ast.AST) -> str | None:
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_only_the_cell_runs_source(path: Path) -> None:
    if path.parent.name in {"cell", "in_cell"}:
        return
    assert [called(node) for node in nodes(path) if called(node) in RUNS_SOURCE] == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_nobody_unpickles(path: Path) -> None:
    imported: set[str] = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            imported.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported.add(node.module)
    assert imported & UNPICKLES == set()


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_only_the_sandbox_starts_processes(path: Path) -> None:
    """The cell forks inside the box; the places that do it in Python are named, and the bait."""
    inside = ("fallback.py", "keeper.py", "native_job.py", "pages.py", "victim.py")
    if "sandbox" in path.parts or path.name in inside:
        return
    text = path.read_text()
    for way in ("subprocess.run", "subprocess.Popen(", "os.fork(", "os.exec", "os.posix_spawn"):
        assert way not in text, way


@pytest.mark.parametrize(
    "path", [*(ROOT / "src/proctor/cli").glob("*.py")], ids=lambda path: path.name
)
def test_the_command_line_writes_in_one_place(path: Path) -> None:
    """What is foreign is not obeyed by terminals, and is no markup: see terminal.py."""
    if path.name == "terminal.py":
        return
    writes = {"Console", "print", "typer.echo", "click.echo", "sys.stdout.write",
              "sys.stderr.write", "sys.stdout.writelines", "sys.stderr.writelines",
              "sys.stdout.buffer.write", "sys.stderr.buffer.write"}  # fmt: skip
    made = {ast.unparse(node.func) for node in nodes(path) if isinstance(node, ast.Call)}
    assert made & writes == set()
