"""Run as a program: parses Python for `python_text`, and runs nothing of it.

A text that exceeds its bounds ends the process, or counts as text that is not Python.
"""

import ast
import builtins
import json
import re
import warnings
from collections import Counter, deque
from collections.abc import Callable

import msgspec

from proctor.languages.python_text import Definition, Outline, Uses
from proctor.limits import MIB
from proctor.sandbox.helper import serve

CPU = 2.0
"""CPU time for one text, in seconds; the densest honest one takes a third."""
MEMORY = 512 * MIB
"""Bytes of address space."""
_LONGEST_NAME = 200
"""Characters of a dotted name: a short one may stand for a long one, thousands of times."""
_NAMES = {"true": True, "false": False, "null": None}
_IDLE = (ast.Constant, ast.Name, ast.Tuple, ast.Attribute, ast.BinOp, ast.Compare)
_NO_PYTHON = (SyntaxError, ValueError, TypeError, RecursionError, MemoryError, OverflowError)
_LOOPS = (
    ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
)  # fmt: skip
_DEFINING = (
    ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign,
    ast.AnnAssign,
)  # fmt: skip
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_ALL_IN_ONE = (ast.ExceptHandler, ast.AsyncFunctionDef, ast.Await)
_IN_ONE_PROCESS = frozenset({
    "__file__", "__import__", "__name__", "_exit", "asyncio", "builtins", "eval", "exec", "exit",
    "globals", "inspect", "locals", "mock", "patch", "pytest", "quit", "raises", "redirect_stdout",
    "stdin", "stdout", "unittest", "vars",
})  # fmt: skip
"""Names in test code that needs the functions in its own process, or one that it may end."""


def main() -> None:
    """Answer requests."""
    warnings.simplefilter("ignore")  # a program's odd escapes are its own affair
    serve(_answer, CPU, MEMORY)


def _answer(request: bytes) -> object:
    what, *texts = json.loads(request.decode("utf-8", "surrogatepass"))
    try:
        return _QUESTIONS[what](*texts)
    except (*_NO_PYTHON, re.error):
        return None


def _outline(text: str) -> object:
    tree = ast.parse(text)
    body = tree.body
    found = Outline(
        acts=not all(map(_idle, body)),
        runs=not all(_idle(each) or isinstance(each, _DEFINING) for each in body),
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


def _idle(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, _IDLE)


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


def _last_match(pattern: str, text: str) -> object:
    last = deque(re.finditer(pattern, text), maxlen=1)
    if not last:
        return None
    return last[0][1] if last[0].re.groups else last[0][0]


def _uses(text: str) -> object:
    visitor = _Uses()
    visitor.visit(ast.parse(text))
    return msgspec.to_builtins(visitor.found())


class _Uses(ast.NodeVisitor):
    """Collects the names that a module reads, and those that it sets or imports."""

    def __init__(self) -> None:
        self._imports: set[str] = set()
        self._origins: dict[str, str] = {}
        """Module, or name in a module, that each imported name stands for."""
        self._set: set[str] = set()
        self._read: list[tuple[str, str, int]] = []
        """First name of what is read, the rest of it, and how often."""
        self._attributes: set[str] = set()
        self._times = 1

    def found(self) -> Uses:
        """Return the names collected, once all is visited. Raises ValueError for too long names."""
        names, times = set(), Counter[str]()
        for first, rest, count in self._read:
            if first in self._origins:
                if len(self._origins[first]) + len(rest) > _LONGEST_NAME:
                    raise ValueError("a name is too long")
                times[self._origins[first] + rest] += count
            elif first not in self._set:
                names.add(first)
        attributes = frozenset(self._attributes)
        return Uses(frozenset(self._imports), frozenset(names), dict(times), attributes)

    def visit_Import(self, node: ast.Import) -> None:
        for each in node.names:
            self._imports.add(each.name)
            root = each.name.partition(".")[0]
            self._origins[each.asname or root] = each.name if each.asname else root

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = "." * node.level + (node.module or "")
        for each in node.names:
            self._imports.add(f"{module}.{each.name}")
            self._origins[each.asname or each.name] = f"{module}.{each.name}"

    def visit_Name(self, node: ast.Name) -> None:
        if node.id.startswith("__"):
            self._attributes.add(node.id)  # in a class's body it is one
        if isinstance(node.ctx, ast.Load):
            self._read.append((node.id, "", self._times))
        else:
            self._set.add(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        parts: list[str] = []
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            parts.append(inner.attr)
            inner = inner.value
        self._attributes.update(parts)
        if isinstance(inner, ast.Name):
            rest = "".join(f".{each}" for each in reversed(parts))
            self._read.append((inner.id, rest, self._times))
        else:
            self.visit(inner)

    def visit_MatchClass(self, node: ast.MatchClass) -> None:
        self._attributes.update(node.kwd_attrs)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        match node:
            case ast.Call(ast.Name("open"), [ast.Constant(0 | "/dev/stdin"), *_]):
                for each in (*node.args, *node.keywords):
                    self.visit(each)
            case _:
                self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> None:
        before, name = self._times, getattr(node, "name", None)
        if isinstance(node, _LOOPS):
            self._times = 2
        # `name`: definitions, exceptions, patterns; `arg`: arguments; `rest`: mapping patterns.
        for each in (name, getattr(node, "arg", None), getattr(node, "rest", None)):
            if isinstance(each, str) and not isinstance(node, ast.keyword):
                self._set.add(each)
        super().generic_visit(node)
        self._times = before


def _called(text: str) -> object:
    tree = ast.parse(text)
    visitor = _Uses()
    visitor.visit(tree)
    found = visitor.found()
    outside = {each for each in found.names if not hasattr(builtins, each)}
    words = found.names | {each.partition(".")[0] for each in found.imports}
    odd = words & _IN_ONE_PROCESS or any(each[0].isupper() for each in outside)
    odd = odd or any(each.endswith(".*") for each in found.imports)  # it could be from there
    nodes = list(ast.walk(tree))
    here = {each.name for each in nodes if isinstance(each, (*_FUNCTIONS, ast.ClassDef))}
    calls = [each for each in nodes if isinstance(each, ast.Call)]
    usual = 0
    for node in calls:
        given = [*node.args, *(each.value for each in node.keywords)]
        if _is_named(node.func, outside):
            usual += 1
            odd = odd or any(
                isinstance(each, ast.Lambda) or _is_named(each, here)
                for argument in given
                for each in ast.walk(argument)
            )
        usual += sum(_is_named(each, outside) for each in given)
    odd = odd or any(
        isinstance(each, _ALL_IN_ONE)
        or getattr(each, "attr", None) in _IN_ONE_PROCESS
        # What is called for something else than its result: it changes an argument, or prints.
        or (
            isinstance(each, ast.Expr)
            and isinstance(each.value, ast.Call)
            and _is_named(each.value.func, outside)
        )
        for each in nodes
    )
    return [] if odd or usual < sum(_is_named(each, outside) for each in nodes) else sorted(outside)


def _is_named(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


class _Constants(ast.NodeTransformer):
    """JSON's true, false and null within Python's literals."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Constant(_NAMES[node.id]) if node.id in _NAMES else node


_QUESTIONS: dict[str, Callable[..., object]] = {
    "outline": _outline, "uses": _uses, "called": _called, "first_module": _first_module,
    "literal": _literal, "matching": _matching, "last_match": _last_match,
}  # fmt: skip

if __name__ == "__main__":
    main()
