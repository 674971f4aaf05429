"""lcb_runner's changes of a program's text, by way of parsing and unparsing, to the letter.

Imports the standard library only, not proctor: it is also sent into cells as a program.
"""

import ast

RECURSION_LIMIT = 50_000
"""The recursion limit that the last line of upstream's imports sets."""

_ALL_NAMES_OF = (  # noqa: SIM905  # a list of 18 lines says no more
    "string re datetime collections heapq bisect copy math random statistics itertools functools "
    "operator io sys json builtins typing"
).split()
_MODULES = _ALL_NAMES_OF[: _ALL_NAMES_OF.index("builtins")]
IMPORTS = "".join(
    [f"from {name} import *\n" for name in _ALL_NAMES_OF]
    + [f"import {name}\n" for name in _MODULES]
)
PREAMBLE = f"{IMPORTS}sys.setrecursionlimit({RECURSION_LIMIT})\n"
"""The text that upstream puts before a program."""

WRAPPER = "wrapped_function"


def clean_if_name(code: str) -> str:
    """Replace a main guard that ends the program by its body.

    Any other text, also one that cannot be parsed, is returned unchanged.
    """
    try:
        body = ast.parse(code).body
        if isinstance(body[-1], ast.If) and is_main_guard(body[-1].test):
            return f"{_unparse(body[:-1])}\n{_unparse(body[-1].body)}"
    except Exception:  # noqa: BLE001, S110  # a step that fails changes nothing
        pass
    return code


def make_function(code: str) -> str:
    """Move all but the top-level imports into a function, behind upstream's imports.

    Text for which that fails stays as it is.
    """
    try:
        imports, function = wrap(ast.parse(code).body)
        return f"{PREAMBLE}\n{_unparse(imports)}\n{_unparse([function])}"
    except Exception:  # noqa: BLE001  # a step that fails changes nothing
        return code


def parse_assert_statement(statement: str) -> str:
    """Return the text behind the == of an assertion, or upstream's words if there is none."""
    try:
        body = ast.parse(statement).body
    except (SyntaxError, ValueError):
        return "Invalid syntax"
    if not body:
        return "Empty statement"
    if not isinstance(body[0], ast.Assert):
        return "Not an assert statement"
    test = body[0].test
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq):
        return "Not an equality assertion"
    return str(ast.get_source_segment(statement, test.comparators[0]))


def is_main_guard(test: ast.expr) -> bool:
    """Return whether the condition reads exactly `__name__ == '__main__'`; quotes do not matter."""
    match test:
        case ast.Compare(
            left=ast.Name(id="__name__"),
            ops=[ast.Eq()],
            comparators=[ast.Constant(value="__main__", kind=None)],
        ):
            return True
    return False


def wrap(body: list[ast.stmt]) -> tuple[list[ast.stmt], ast.FunctionDef]:
    """Top-level imports, and a function made of all the rest, which may be nothing."""
    function = ast.parse(f"def {WRAPPER}(): pass").body[0]
    assert isinstance(function, ast.FunctionDef)
    function.body = [one for one in body if not isinstance(one, ast.Import | ast.ImportFrom)]
    return [one for one in body if isinstance(one, ast.Import | ast.ImportFrom)], function


def _unparse(statements: list[ast.stmt]) -> str:
    # Not as a Module: that would write a first string as a docstring, over more lines.
    return ast.unparse(statements)  # type: ignore[arg-type]
