"""Inspecting untrusted Python source, and matching untrusted patterns, without running them.

CPython's parser takes quadratic time and memory for some texts and may crash on others, and while
it works no other thread does. So it works in a process of its own, with bounds on each text; a
text beyond them counts as not being Python.
"""

import atexit
from collections.abc import Sequence

import msgspec

from proctor.per_process import PerProcess
from proctor.sandbox.helper import Helper, HelperTimeout

LONGEST = 1 << 18
"""Longest text that is inspected, in characters."""
_WORKER = "proctor.languages.python_parser"
_PATIENCE = 120.0
"""How long to wait for the process, which bounds its own CPU time, in seconds."""


class Definition(msgspec.Struct, frozen=True):
    """A function or class at the top level of a module."""

    name: str
    line: int
    """First line, decorators included; counted from 1."""
    is_class: bool = False
    methods: tuple[str, ...] = ()
    """Names of a class's functions that are not async."""


class Outline(msgspec.Struct, frozen=True):
    """The outline of a module; without arguments, that of an empty one."""

    acts: bool = False
    """False for a text that does nothing: a single word is Python, too."""
    runs: bool = False
    """False for a module that only imports, defines and sets names."""
    definitions: tuple[Definition, ...] = ()
    imports: tuple[str, ...] = ()
    """Import statements at the top level."""
    names: frozenset[str] = frozenset()
    """Names that it reads or sets."""
    future_lines: int = 0
    """Lines up to the end of the last `from __future__`, where no other code may stand."""


class Uses(msgspec.Struct, frozen=True):
    """Names that a module takes from outside of itself, dotted, as `os.path.join`."""

    imports: frozenset[str] = frozenset()
    """Modules that it imports anywhere, and names that it takes from modules."""
    names: frozenset[str] = frozenset()
    """Names that it reads and sets nowhere: builtins, unless something is executed before it. Not
    `open` where that opens standard input."""
    times: dict[str, int] = msgspec.field(default_factory=dict)
    """How often it reads each name of a module; one within a loop, or in its head, counts twice."""
    attributes: frozenset[str] = frozenset()
    """Attributes that it reads or sets anywhere, those matched by patterns and names such as
    `__slots__` among them."""


def outline(text: str) -> Outline | None:
    """Return the outline of a module; None if it is not Python, or beyond the bounds.

    Raises InfraFault.
    """
    found = _asked("outline", text)
    return None if found is None else msgspec.convert(found, Outline)


def public_method(starter: str) -> str | None:
    """Return the first method of class Solution that is not private; None if there is none.

    `starter` may end with the head of the method. Raises InfraFault.
    """
    for ending in ("", "pass", "\n        pass"):
        found = outline(starter.rstrip() + ending if ending else starter)
        if found is None:
            continue
        for each in found.definitions:
            if each.is_class and each.name == "Solution":
                return next((name for name in each.methods if not name.startswith("_")), None)
        return None
    return None


def uses(text: str) -> Uses | None:
    """Return what a module uses; None if it is not Python, or beyond the bounds.

    Raises InfraFault.
    """
    found = _asked("uses", text)
    return None if found is None else msgspec.convert(found, Uses)


def called_from_outside(text: str) -> frozenset[str]:
    """Return the functions that test code takes from elsewhere, if all it does is to call them.

    Empty if it takes none, or if a function in another process would not do: if it uses a class or
    a variable, hands a function over, waits for an exception or wants no result. Raises InfraFault.
    """
    found = _asked("called", text)
    return frozenset(map(str, found)) if isinstance(found, list) else frozenset()


def first_module(texts: Sequence[str]) -> int | None:
    """Return the index of the first text that is Python; the bounds are for all together.

    None if there is none, and beyond the bounds. Raises InfraFault.
    """
    found = _asked("first_module", *texts)
    return found if isinstance(found, int) else None


def literal(text: str) -> str | None:
    """Return a literal as JSON, `true`, `false` and `null` included; None if it is not one.

    Raises InfraFault.
    """
    found = _asked("literal", text)
    return found if isinstance(found, str) else None


def matching(pattern: str, texts: Sequence[str]) -> list[str] | None:
    """Return the texts that a regular expression matches from their start; None if it is invalid.

    One that takes too long counts as invalid, too. Raises InfraFault.
    """
    found = _asked("matching", pattern, *texts)
    return found if isinstance(found, list) else None


def last_match(pattern: str, text: str) -> str | None:
    """Return the last match of a regular expression in a text: its first group, or all of it.

    None if there is no match, if the pattern is invalid, and beyond the bounds. Raises InfraFault.
    """
    found = _asked("last_match", pattern, text)
    return found if isinstance(found, str) else None


def cpu_taken() -> float:
    """Return the CPU seconds that inspecting and matching have taken so far, in a single thread."""
    return _workers.get().cpu()


def _asked(what: str, *texts: str) -> object:
    if max(map(len, texts), default=0) > LONGEST:
        return None
    try:
        return _workers.get().ask([what, *texts], _PATIENCE)
    except HelperTimeout:
        return None


_workers = PerProcess(lambda: Helper(_WORKER))


@atexit.register
def _close() -> None:
    _workers.get().close()
