"""Wrapping a stdin/stdout program in a function by indenting its text.

`lcb_load` can wrap any program by way of its syntax tree, but the tree's many objects are a third
of what loading costs a fresh process. The text of most programs can be indented instead, since
only brackets span lines in them. This module gives the same code or None, never other code.
"""

import re

_SPANS_LINES = re.compile(r"""[\t\f\r]|\\(?:\n|\Z)|\"{3}|'{3}""")
"""Matches what spans lines without brackets, and blank space whose meaning an indent may change."""
_BEGINS_INDENTED = re.compile(r"(?:[ ]*(?:#.*)?\n)*[ ]+[^ #\n]")
_STATEMENT = re.compile(r"^(?!import\b|from\b)[^\s#]", re.MULTILINE)
_IMPORT = re.compile(r"^(?:import|from)\b.*$", re.MULTILINE)
_PLAIN_IMPORT = re.compile(r"(?:import|from) [\w., *]*")
_IMPORT_BESIDE = re.compile(r";.*import")
_MAIN_GUARD = re.compile(r"""^if __name__ == (["'])__main__\1:""", re.MULTILINE)
_LAST_BLOCK = re.compile(r".*(?:\n(?:[ #].*)?)*")


def wrapped(source: str, name: str) -> str | None:
    """Return text in which top-level imports stand before a function `name` of all the rest.

    A main guard that ends the program is replaced by its body. Returns None if this needs a syntax
    tree. The text is valid Python if and only if `source` is and has a statement besides imports.
    """
    if _SPANS_LINES.search(source) or _BEGINS_INDENTED.match(source) or "\0" in source:
        return None
    if _IMPORT_BESIDE.search(source) or not _STATEMENT.search(source):
        return None
    if "__name__" in source:
        guard = _MAIN_GUARD.search(source)
        if guard is None or source.count("__name__") > 1:
            return None
        block = source[guard.end() :]
        # Upstream moves an import in this block to the top level.
        if "import" in block or not _LAST_BLOCK.fullmatch(block):
            return None
        source = f"{source[: guard.start()]}if 1:{block}"
    imports = _IMPORT.findall(source)
    if not all(map(_PLAIN_IMPORT.fullmatch, imports)):
        return None
    # `pass` takes the place of each import: without it, wrong code around it might become valid.
    body = _IMPORT.sub("pass", source).replace("\n", "\n ")
    # A first statement rules out a docstring and future imports, as upstream's imports do.
    return "\n".join(["0", *imports, f"def {name}():", f" {body}", ""])
