"""IPython's additions to Python's syntax, turned into Python: `%magic`, `!command`, `name?`.

Most cells are Python already and are left as they are, but for a common indentation and prompts
that were copied along. Line numbers stay the same.
"""

import ast
import re
from collections import deque

_PYTHON_PROMPT = re.compile(r"(?:>>>|\.\.\.)(?: |$)")
_NOTEBOOK_PROMPT = re.compile(r"(?:In \[\d+\]: ?|\s*\.{3,}: ?)")
_CELL_MAGIC = re.compile(r"%%(\w+)[ \t]*(.*)")
_HELP = re.compile(r"\s*(?:(\?\??)\s*([\w.]+)|([\w.]+)\s*(\?\??))\s*;?\s*$")
_ESCAPE = re.compile(r"(\s*)(%|!!?)(.*)$")
_ASSIGNED = re.compile(r"(\s*)([^=!%?\n'\"]*[^=!%?<>\s'\"]\s*=\s*)([%!])(?![=])(.*)$")
_TOKEN = re.compile(r"\"\"\"|'''|\"(?:\\.|[^\"\\])*\"?|'(?:\\.|[^'\\])*'?|#.*|[(\[{]|[)\]}]")
_TRIPLE_END = {quote: re.compile(r"(?:\\.|[^\\])*?" + quote) for quote in ('"""', "'''")}


class MagicError(Exception):
    """A magic does not exist, or was used wrongly."""


def to_python(source: str) -> str:
    """Return a cell as Python; what is not IPython's syntax either is left to the compiler."""
    lines = _bare(source.splitlines())
    first = next((number for number, line in enumerate(lines) if line), None)
    if first is None:
        return ""
    magic = _CELL_MAGIC.match(lines[first])
    if magic is not None:
        body = "".join(line + "\n" for line in lines[first + 1 :])
        return "\n" * first + _call("run_cell_magic", magic[1], magic[2], body)
    text = "\n".join(lines) + "\n"
    try:
        ast.parse(text)
    except SyntaxError:
        return "\n".join(_without_escapes(lines)) + "\n"
    except (ValueError, RecursionError, MemoryError):
        pass  # the compiler will report it
    return text


def _bare(lines: list[str]) -> list[str]:
    """Return lines without the first one's indentation and without prompts."""
    start = next((number for number, line in enumerate(lines) if line.strip()), len(lines))
    lines = [""] * start + lines[start:]
    if start == len(lines):
        return lines
    indent = lines[start][: len(lines[start]) - len(lines[start].lstrip())]
    if indent:
        lines = [line.removeprefix(indent) for line in lines]
    if lines[start].startswith(">>>") and _PYTHON_PROMPT.match(lines[start]):
        return [_PYTHON_PROMPT.sub("", line, count=1) for line in lines]
    if lines[start].startswith("In [") and _NOTEBOOK_PROMPT.match(lines[start]):
        return [_NOTEBOOK_PROMPT.sub("", line, count=1) for line in lines]
    return lines


def _without_escapes(lines: list[str]) -> list[str]:
    """Replace magics, commands and questions where a statement begins."""
    made: list[str] = []
    inside = _Nesting()
    waiting = deque(lines)
    while waiting:
        line = waiting.popleft()
        if inside.goes_on or _escape(line) is None:
            inside.read(line)
            made.append(line)
            continue
        parts = [line]
        while parts[-1].endswith("\\") and waiting:
            parts[-1] = parts[-1][:-1]
            parts.append(waiting.popleft())
        joined = "".join(parts)
        made += [_escape(joined) or joined, *[""] * (len(parts) - 1)]
    return made


def _escape(line: str) -> str | None:
    """Return the Python for one line; None if it is not one of IPython's."""
    if (asked := _HELP.match(line)) is not None:
        marks, name = asked[1] or asked[4], asked[2] or asked[3]
        return _call("run_line_magic", "pinfo" if marks == "?" else "pinfo2", name)
    if (found := _ESCAPE.match(line)) is not None:
        indent, mark, rest = found.groups()
        return indent + _do(mark, rest)
    if (found := _ASSIGNED.match(line)) is not None:
        indent, target, mark, rest = found.groups()
        return indent + target + _do("!!" if mark == "!" else mark, rest)
    return None


def _do(mark: str, rest: str) -> str:
    if mark == "%":
        name, _, line = rest.strip().partition(" ")
        return _call("run_line_magic", name, line.strip())
    return _call("system" if mark == "!" else "getoutput", rest.strip())


def _call(method: str, *arguments: str) -> str:
    return f"get_ipython().{method}({', '.join(map(repr, arguments))})"


class _Nesting:
    """Tells whether a statement goes on in the next line: in brackets or a string, or joined."""

    def __init__(self) -> None:
        self._depth, self._quote, self._joined = 0, "", False

    @property
    def goes_on(self) -> bool:
        return bool(self._depth > 0 or self._quote or self._joined)

    def read(self, line: str) -> None:
        at = 0
        self._joined = False
        while True:
            if self._quote:
                end = _TRIPLE_END[self._quote].match(line, at)
                if end is None:
                    return
                at, self._quote = end.end(), ""
            token = _TOKEN.search(line, at)
            if token is None:
                self._joined = line.endswith("\\")
                return
            at, text = token.end(), token[0]
            if text in _TRIPLE_END:
                self._quote = text
            elif text in "([{":
                self._depth += 1
            elif text in ")]}":
                self._depth -= 1
            elif text.startswith("#"):
                return
