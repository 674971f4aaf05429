"""Functions that a profile names, `module:function` or `file.py:function` beside it."""

import ast
from pathlib import Path

from proctor.cell.compiling import ERRORS
from proctor.errors import InputError


def check(directory: Path, named: str, where: str) -> None:
    """Raise InputError unless a function is named properly and, in a file, is defined there.

    `where` is the field that names it.
    """
    home, _, function = named.partition(":")
    if not named:
        return
    if not home or not function.isidentifier():
        raise InputError(f"is module:function or file.py:function, not {named!r}", field=where)
    if not home.endswith(".py"):
        return
    try:
        tree = ast.parse(Path(directory, home).read_bytes(), home)
    except OSError as error:
        raise InputError(f"cannot be read: {home}: {error.strerror}", field=where) from error
    except ERRORS as error:
        raise InputError(f"{home} is not Python: {error}", field=where) from error
    if not any(function in _names(node) for node in ast.walk(tree)):
        raise InputError(f"{home} defines no {function}", field=where)


def _names(node: ast.AST) -> set[str]:
    """Return the names that a node may define."""
    match node:
        case ast.FunctionDef() | ast.ClassDef():
            return {node.name}
        case ast.alias():
            return {node.asname or node.name}
        case ast.Name(ctx=ast.Store()):
            return {node.id}
    return set()
