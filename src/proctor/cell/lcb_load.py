"""Loading a program the way lcb_runner does: after its imports, and wrapped in a function.

Upstream works on text: it puts 35 lines of imports before the program and executes the lot. For
stdin/stdout programs it first moves everything but the top-level imports into a function, by way
of `ast.unparse`. Here the imports are executed once per cell and the program is compiled by
itself; where that could differ, in outcome or in the text of an error, upstream's way is followed
to the letter.
"""

import ast
import re
import sys
from types import CodeType, ModuleType
from typing import Any

from proctor.cell.lcb_indent import wrapped
from proctor.cell.lcb_io import CallProgram, StdioProgram
from proctor.cell.lcb_text import (
    IMPORTS,
    PREAMBLE,
    RECURSION_LIMIT,
    WRAPPER,
    clean_if_name,
    is_main_guard,
    make_function,
    wrap,
)

_ANNOTATED = """
def solve(
    a: List[int], b: List[str], c: List[List[int]], d: List[List[str]], e: Optional[int],
    f: Dict[int, int], g: Dict[str, int], h: Tuple[int, int], i: Set[int], j: List[Tuple[int, int]],
) -> Optional[List[int]]: ...
"""
"""The usual signatures of function-call programs. `typing` caches the values of such annotations;
evaluating them first in a forked process takes a hundred page faults."""

_FUNCTION = """
class Solution:
    def solve(self, numbers, text, rows):
        return [len(numbers), text, rows, (1.5, None), {text: True}]
"""

_MODULE_NAME = "tmp_sol"
_COMPILING_LIMIT = 1000
"""CPython's recursion limit, which holds while upstream takes a program apart and compiles it."""
_SHALLOW_LIMIT = 150
"""Recursion limit that sends deeply nested programs upstream's way: `ast.unparse`, written in
Python, gives up on some that the compiler, written in C, accepts."""

# A statement that no future import may follow, and as many line ends as upstream puts before
# the program.
_PADDING = "0" + "\n" * (PREAMBLE.count("\n") + 2)

_SOLUTION = re.compile(r"class\W+Solution")
_F_STRING = re.compile(r"(?<![A-Za-z0-9_])(?:[fF][rR]?|[rR][fF])['\"]")
_SIMPLE_F_STRING = re.compile(
    r"""[fF](?:"(?:[^"'\\{}\n]|\\[nt]|\{[^"'\\{}\n]*\})*"|'(?:[^"'\\{}\n]|\\[nt]|\{[^"'\\{}\n]*\})*')"""
    r"""(?!\s*[A-Za-z]{0,2}['"])"""
)
_JOINED_F_STRING = re.compile(r"['\"]\s*(?:[fF][rR]?|[rR][fF])['\"]")


def preamble() -> ModuleType:
    """A module with what upstream's imports leave in it.

    Takes milliseconds: made once per cell. `load` uses it up, so call that in a forked process.
    """
    module = ModuleType(_MODULE_NAME, "")
    exec(IMPORTS, vars(module))  # a fixed text
    exec(_ANNOTATED, dict(vars(module)))
    return module


def rehearse(program: str) -> None:
    """Load and run this stdin/stdout program and a function: jobs are then spared the first use."""
    load(program, None, ModuleType("rehearsal")).run("")
    load(_FUNCTION, "solve", ModuleType("rehearsal")).run('[1, 2]\n"ab"\n[[1]]')


def load(source: str, function: str | None, base: ModuleType) -> StdioProgram | CallProgram:
    """Execute a program's top level; `function` names the one to call, None is stdin/stdout.

    `base` comes from `preamble` and becomes the program's module: copying its 900 names would touch
    as many objects, on two hundred pages shared with the parent. Any Exception that this raises is
    a failure to load; its str is what upstream puts after "Error during testing: ". Sets the
    recursion limit.
    """
    sys.setrecursionlimit(_COMPILING_LIMIT)
    if function is None:
        return StdioProgram(_attribute(_load_stdio(source, base), WRAPPER))
    module = _execute(_compile_after_preamble(source), base)
    return CallProgram(_attribute(_solution(module, source), function))


def _execute(code: CodeType, base: ModuleType) -> ModuleType:
    names = vars(base)
    # As the star imports would have found these in this very process, after reliability_guard.
    names.update(stdin=sys.stdin, stdout=sys.stdout, stderr=sys.stderr, quit=None, help=None)
    sys.setrecursionlimit(RECURSION_LIMIT)
    exec(code, names)  # the program; this runs in its sandbox
    return base


def _solution(module: ModuleType, text: str) -> object:
    """Return a Solution if the text says "class Solution", as upstream does; else the module."""
    return module.Solution() if "class Solution" in text else module


def _attribute(holder: object, name: str) -> Any:
    try:
        found = getattr(holder, name) if hasattr(holder, name) else None
    except Exception:  # noqa: BLE001  # as upstream: for any error, there is no such function
        found = None
    if found is None:
        # Upstream's error when it unpacks a result that was never computed.
        raise TypeError("cannot unpack non-iterable NoneType object")
    return found


def _compile_after_preamble(source: str) -> CodeType:
    try:
        return compile(_PADDING + source, "<string>", "exec", dont_inherit=True)
    except Exception:  # noqa: BLE001  # source text can fail in many ways, all reported alike
        # Some messages count characters, so they need upstream's text in full.
        return compile(f"{PREAMBLE}\n\n{source}", "<string>", "exec", dont_inherit=True)


def _load_stdio(source: str, base: ModuleType) -> object:
    code = None
    if not _needs_text(source):
        code = _compile_indented(source) or _compile_wrapped(source)
    if code is not None:
        return _execute(code, base)
    text = make_function(clean_if_name(source))
    module = ModuleType(_MODULE_NAME, "")
    exec(text, vars(module))  # the program; this runs in its sandbox
    return _solution(module, text)


def _needs_text(source: str) -> bool:
    """Return whether the outcome may depend on the text that `ast.unparse` makes of the program.

    That is where the text is searched ("class Solution"), where upstream's imports stand before a
    future import, and with f-strings whose quotes and backslashes `ast.unparse` cannot write.
    """
    if "__future__" in source or _SOLUTION.search(source) or _JOINED_F_STRING.search(source):
        return True
    return any(
        not _SIMPLE_F_STRING.match(source, found.start()) for found in _F_STRING.finditer(source)
    )


def _compile_indented(source: str) -> CodeType | None:
    """The wrapped program, compiled without a syntax tree in Python. None if that cannot be."""
    text = wrapped(source, WRAPPER)
    if text is None:
        return None
    try:
        sys.setrecursionlimit(_SHALLOW_LIMIT // 3)  # the compiler allows three levels per frame
        return compile(text, "<string>", "exec", dont_inherit=True)
    except Exception:  # noqa: BLE001  # whatever it is, _compile_wrapped finds it too
        return None
    finally:
        sys.setrecursionlimit(_COMPILING_LIMIT)


def _compile_wrapped(source: str) -> CodeType | None:
    """The wrapped program, compiled without the detour through text. None if anything fails."""
    try:
        sys.setrecursionlimit(_SHALLOW_LIMIT)
        body = ast.parse(source).body
        if body and isinstance(body[-1], ast.If) and is_main_guard(body[-1].test):
            body = body[:-1] + body[-1].body
        imports, function = wrap(body)
        # A first statement rules out a docstring and future imports, as upstream's imports do.
        start = ast.Pass(lineno=1, col_offset=0)
        module = ast.Module(body=[start, *imports, function], type_ignores=[])
        return compile(module, "<string>", "exec", dont_inherit=True)
    except Exception:  # noqa: BLE001  # whatever it is, upstream's way finds it and words it
        return None
    finally:
        sys.setrecursionlimit(_COMPILING_LIMIT)
