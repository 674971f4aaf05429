"""Nothing that users read names what only a clone of the repository has."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import proctor

SOURCES = Path(proctor.__file__).parent
ONLY_IN_A_CLONE = re.compile(
    r"(?<![\w/])(?:docs/|deploy/\w|benchmarks/\w|tests/\w+/\w+\.py)|CONTRIBUTING|SECURITY\.md"
    r"|\bmake (?:all|bench|binary|check|demo|install|languages|soak|test)\b"
)


def docstrings(tree: ast.AST) -> Iterator[ast.Constant]:
    """Docstrings, and the strings that stand below a field to describe it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value


def told(path: Path) -> Iterator[str]:
    """String literals of a module that may be found; of commands docstrings too, their help."""
    source = path.read_text(encoding="utf-8")
    if not ONLY_IN_A_CLONE.search(source):
        return
    tree = ast.parse(source)
    left_out = set() if path.match("cli/*_commands.py") else set(docstrings(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in left_out:
            yield node.value


def test_no_message_names_files_of_the_repository() -> None:
    modules = [path for path in SOURCES.rglob("*.py") if "attacks" not in path.parts]
    assert len(modules) > 500
    found = {
        f"{path.relative_to(SOURCES)}: {text}"
        for path in modules
        for text in told(path)
        if ONLY_IN_A_CLONE.search(text)
    }
    assert found == set()


def test_such_messages_would_be_found() -> None:
    for text in ("see docs/reference/isolation.md", "run `make demo`", "tests/cli/test_run.py"):
        assert ONLY_IN_A_CLONE.search(text), text
    for text in ("tests/*.in", "https://huggingface.co/docs/hub", "tests/NAME/test.yml"):
        assert not ONLY_IN_A_CLONE.search(text), text
