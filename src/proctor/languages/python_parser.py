"""Run as a program: parses Python for `python_text`, and runs nothing of it.

A text that takes more than its bounds ends the process, or is no Python.
"""

import ast
import json
import re
import resource
import signal
import warnings
from collections.abc import Callable

import msgspec

from proctor.languages.python_text import Definition, Outline
from proctor.limits import MIB
from proctor.sandbox.helper import serve

CPU = 2.0
"""CPU time for one text, in seconds; the densest honest one takes a third."""
MEMORY = 512 * MIB
"""Bytes of address space."""
_NAMES = {"true": True, "false": False, "null": None}
_IDLE = (ast.Constant, ast.Name, ast.Tuple, ast.Attribute, ast.BinOp, ast.Compare)
_NO_PYTHON = (SyntaxError, ValueError, TypeError, RecursionError, MemoryError, OverflowError)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def main() -> None:
    """Answer requests."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")  # a program's odd escapes are its own affair
    serve(_answer)


def _answer(request: bytes) -> object:
    what, *texts = json.loads(request.decode("utf-8", "surrogatepass"))
    # No handler: the parser does not come back to let one run.
    signal.setitimer(signal.ITIMER_PROF, CPU)
    try:
        return _QUESTIONS[what](*texts)
    except (*_NO_PYTHON, re.error):
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _outline(text: str) -> object:
    tree = ast.parse(text)
    body = tree.body
    found = Outline(
        acts=any(not (isinstance(each, ast.Expr) and isinstance(each.value, _IDLE))
                 for each in body),
        definitions=tuple(
            _definition(each) for each in body if isinstance(each, (*_FUNCTIONS, ast.ClassDef))
        ),
        imports=tuple(
            ast.unparse(each) for each in body if isinstance(each, ast.Import | ast.ImportFrom)
        ),
        names=frozenset(each.id for each in ast.walk(tree) if isinstance(each, ast.Name)),
        future_lines=max(
            (each.end_lineno or 0 for each in body
             if isinstance(each, ast.ImportFrom) and each.module == "__future__"),
            default=0,
        ),
    )  # fmt: skip
    return msgspec.to_builtins(found)


def _definition(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Definition:
    line = min([node.lineno, *(each.lineno for each in node.decorator_list)])
    if not isinstance(node, ast.ClassDef):
        return Definition(node.name, line)
    methods = tuple(each.name for each in node.body if isinstance(each, ast.FunctionDef))
    return Definition(node.name, line, is_class=True, methods=methods)


def _literal(text: str) -> object:
    tree = ast.parse(text, mode="eval")
    return json.dumps(ast.literal_eval(_Constants().visit(tree)))


def _first_module(*texts: str) -> object:
    for number, text in enumerate(texts):
        try:
            ast.parse(text)
        except _NO_PYTHON:
            continue
        return number
    return None


def _matching(pattern: str, *texts: str) -> object:
    compiled = re.compile(pattern)
    return [each for each in texts if compiled.match(each)]


class _Constants(ast.NodeTransformer):
    """JSON's true, false and null within Python's literals."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Constant(_NAMES[node.id]) if node.id in _NAMES else node


_QUESTIONS: dict[str, Callable[..., object]] = {
    "outline": _outline, "first_module": _first_module, "literal": _literal,
    "matching": _matching,
}  # fmt: skip

if __name__ == "__main__":
    main()
