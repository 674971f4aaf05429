"""Compiling a program to report its errors and imports. Nothing of it is executed.

Used by directory_job.py, and sent into a cell as a separate program where nothing is to be run.
"""

from typing import Any

ERRORS = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)
"""Errors that CPython's compiler raises for source it cannot compile."""
_MOST_NAMES, _LONGEST_NAME, _LONGEST_ERROR = 64, 60, 1000
"""Bounds of a report, which must fit into one message whatever the program contains."""


def look(source: bytes, name: str, *, whole: bool = True) -> dict[str, Any]:
    """Parse and (`whole`) compile; return the error, or None, and the top-level modules named."""
    # Not imported in every cell: callers in a hurry have `ast` preloaded.
    import ast
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(source, name)
            if whole:
                compile(source, name, "exec", dont_inherit=True)
        except ERRORS as caught:
            error = f"{type(caught).__name__}: {str(caught) or 'nested too deep'}"
            return {"error": error[:_LONGEST_ERROR], "imports": [], "more": 0}
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {each.name.split(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    shown = [each[:_LONGEST_NAME] for each in sorted(found)[:_MOST_NAMES]]
    return {"error": None, "imports": shown, "more": len(found) - len(shown)}
