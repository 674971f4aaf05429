"""What lint cannot say: sizes, and who may run source or undo pickles."""

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src/proctor"
TESTS = ROOT / "tests"
SOURCES = sorted(PACKAGE.rglob("*.py"))
SOURCES = [path for path in SOURCES if not {"bundled", "attacks"} & set(path.parts)]
C_SOURCES = sorted((PACKAGE / "cell").glob("*.[ch]"))
LONGEST_MODULE = 600
"""Lines. From 400 on, ask yourself whether it is one thing; around 120 is what reads well."""
LONGEST_FUNCTION = 60
"""Lines."""
RUNS_SOURCE = {"compile", "exec", "eval", "__import__"}
UNPICKLES = {"pickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle"}
STARTS_PROCESSES = (
    "subprocess.run", "subprocess.Popen(", "os.fork(", "os.exec", "os.posix_spawn",
)  # fmt: skip


SLEEPS = {"time.sleep", "asyncio.sleep", "anyio.sleep", "sleep"}
PROGRAMS = {"attacks", "corpus", "packages", "partners", "referees"}
"""Folders of programs under test, which may sleep as they like."""
ASKED_BY = {"get", "post", "put", "patch", "delete", "request", "stream", "Client", "AsyncClient"}
"""Names in httpx that give up after five seconds unless told otherwise."""
MAY_SLEEP = {
    "waiting.py",  # what all others wait with
    "vm/checks/serve_unit.py",  # alone in a virtual machine
}


@dataclass(frozen=True, slots=True)
class Facts:
    """The parts of a module that the rules are about; the tree itself would be kept for long."""

    calls: set[str]
    imports: set[str]
    long_functions: list[str]


@cache
def facts(path: Path) -> Facts:
    found = Facts(set(), set(), [])
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Call(func=ast.Name() | ast.Attribute() as function):
                found.calls.add(dotted(function))
            case ast.Import():
                found.imports.update(alias.name for alias in node.names)
            case ast.ImportFrom(module=str(module)):
                found.imports.add(module)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                lines = (node.end_lineno or 0) - node.lineno + 1
                # A command's options are its declaration, not its length.
                if lines > LONGEST_FUNCTION and not node.name.endswith("_command"):
                    found.long_functions.append(f"{node.name}, {lines} lines")
    return found


def dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "?"


def some(found: dict[Path, set[str]]) -> dict[str, set[str]]:
    """Leave out modules of which nothing was found."""
    return {str(path.relative_to(PACKAGE)): each for path, each in found.items() if each}


def test_the_sources_are_found() -> None:
    assert len(SOURCES) > 100
    assert C_SOURCES


def test_modules_are_short() -> None:
    lengths = {path: len(path.read_text().splitlines()) for path in [*SOURCES, *C_SOURCES]}
    assert {path: lines for path, lines in lengths.items() if lines > LONGEST_MODULE} == {}


def test_functions_are_short() -> None:
    assert some({path: {*facts(path).long_functions} for path in SOURCES}) == {}


def test_only_the_cell_runs_source() -> None:
    others = [path for path in SOURCES if path.parent.name not in ("cell", "in_cell")]
    assert some({path: facts(path).calls & RUNS_SOURCE for path in others}) == {}


def test_nobody_unpickles() -> None:
    assert some({path: facts(path).imports & UNPICKLES for path in SOURCES}) == {}


def test_only_the_sandbox_starts_processes() -> None:
    """The cell forks inside the box; the places that do it in Python are named, and the bait.

    A model's server is started by a command of the user's own.
    """
    inside = (
        "fallback.py", "keeper.py", "memory.py", "native_job.py", "notebook_commands.py",
        "started_server.py", "stranger.py", "victim.py",
    )  # fmt: skip
    others = [p for p in SOURCES if "sandbox" not in p.parts and p.name not in inside]
    texts = {path: path.read_text() for path in others}
    found = {path: {way for way in STARTS_PROCESSES if way in texts[path]} for path in others}
    assert some(found) == {}


def test_the_command_line_writes_in_one_place() -> None:
    """Foreign text cannot control a terminal, and is not read as markup: see terminal.py."""
    writes = {"Console", "print", "typer.echo", "click.echo", "sys.stdout.write",
              "sys.stderr.write", "sys.stdout.writelines", "sys.stderr.writelines",
              "sys.stdout.buffer.write", "sys.stderr.buffer.write"}  # fmt: skip
    modules = [path for path in (PACKAGE / "cli").glob("*.py") if path.name != "terminal.py"]
    assert modules
    assert some({path: facts(path).calls & writes for path in modules}) == {}


def test_tests_wait_for_a_state_and_not_for_a_time() -> None:
    """A machine that is busy takes longer than any sleep: see waiting.py.

    `asyncio.sleep(0)` is no sleep, it gives others their turn.
    """
    assert {path for path, calls in calls_of_tests() if any(map(sleeps, calls))} == MAY_SLEEP


def test_tests_say_how_long_they_wait_for_an_answer() -> None:
    assert [path for path, calls in calls_of_tests() if any(map(is_impatient, calls))] == []


@pytest.mark.parametrize(
    ("source", "refused"),
    [
        ("time.sleep(0.1)", True), ("asyncio.sleep(n)", True), ("asyncio.sleep(0)", False),
        ("asyncio.sleep(0, 'well')", False), ("httpx.get(url)", True), ("httpx.URL(url)", False),
        ("httpx.Client(base_url=url)", True), ("httpx2.AsyncClient(timeout=PATIENCE)", False),
        ("client.get(url)", False), ("f()(1)", False),
    ],
)  # fmt: skip
def test_those_two_rules_know_what_they_refuse(source: str, refused: bool) -> None:
    call = ast.parse(source, mode="eval").body
    assert isinstance(call, ast.Call)
    assert (sleeps(call) or is_impatient(call)) is refused


def calls_of_tests() -> Iterator[tuple[str, list[ast.Call]]]:
    for path in TESTS.rglob("*.py"):
        if not PROGRAMS & set(path.parts):
            nodes = ast.walk(ast.parse(path.read_bytes()))
            yield (
                str(path.relative_to(TESTS)),
                [each for each in nodes if isinstance(each, ast.Call)],
            )


def sleeps(call: ast.Call) -> bool:
    first = call.args[0] if call.args else None
    return dotted(call.func) in SLEEPS and not (isinstance(first, ast.Constant) and not first.value)


def is_impatient(call: ast.Call) -> bool:
    module, _, name = dotted(call.func).partition(".")
    told = {each.arg for each in call.keywords}
    return (
        module in {"httpx", "httpx2"} and name in ASKED_BY and not {"timeout", "transport"} & told
    )


def test_all_has_every_extra() -> None:
    """But for verifiers, which needs another mcp than ours, and what developers need."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    named = set(extras["all"][0].removeprefix("proctor[").removesuffix("]").split(","))
    assert named == extras.keys() - {"all", "dev", "docs", "verifiers"}
