"""The object behind `get_ipython()` in a notebook: finds magics by their names.

Magics that need a terminal, an editor or a network are missing, and fail as unknown ones do.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from proctor.cell.notebook_cell_magics import CellMagics
from proctor.cell.notebook_line_magics import LineMagics
from proctor.cell.notebook_source import MagicError
from proctor.cell.notebook_timing import TimingMagics

_COMMANDS = ("cat", "cp", "ls", "mkdir", "mv", "rm", "rmdir")
_WITHOUT_EFFECT = ("autoreload", "colors", "config", "gui", "reload_ext", "unload_ext", "xmode")
"""Magics without effect: they set up a terminal, or what a notebook does anyhow."""
_LINE_ALIASES = {"set_env": "env", "conda": "pip", "history": "hist", "sx": "system"}
_CELL_ALIASES = {"sh": "bash", "python3": "python", "file": "writefile"}
_AS_WRITTEN = {"time", "timeit", "pinfo", "pinfo2", "system", "sx", *_COMMANDS}
"""Line magics that get their line as written: no values are put into it, or only later."""


class NotebookShell(LineMagics, CellMagics, TimingMagics):
    """The object that cells get from `get_ipython()`."""

    def __init__(self, interpreter: Any) -> None:
        """`interpreter` is the notebook's."""
        super().__init__(interpreter)
        self.line_magics |= self._methods("_line_", _LINE_ALIASES)
        self.cell_magics |= self._methods("_cell_", _CELL_ALIASES)
        self.line_magics |= dict.fromkeys(_WITHOUT_EFFECT, _do_nothing)
        self.line_magics |= {name: partial(self._named, name) for name in _COMMANDS}

    def _named(self, name: str, line: str) -> None:
        self.system(f"{name} {line}")

    def _methods(self, kind: str, aliases: dict[str, str]) -> dict[str, Callable[..., Any]]:
        found = {
            name.removeprefix(kind): getattr(self, name)
            for name in dir(self)
            if name.startswith(kind)
        }
        return found | {new: found[old] for new, old in aliases.items()}

    def run_line_magic(self, name: str, line: str, *_: Any) -> Any:
        """Do what `%name line` does. Raises MagicError."""
        magic = self.line_magics.get(name)
        if magic is None:
            raise MagicError(f"Line magic function `%{name}` not found.")
        return magic(line if name in _AS_WRITTEN else self._expanded(line))

    def run_cell_magic(self, name: str, line: str, cell: str) -> Any:
        """Do what `%%name line`, above a cell, does. Raises MagicError."""
        magic = self.cell_magics.get(name)
        if magic is None:
            raise MagicError(f"Cell magic `%%{name}` not found.")
        return magic(line, cell)

    def magic(self, line: str) -> Any:
        """Do what a line magic does, given as one text: the way of older code."""
        name, _, rest = line.lstrip("%").partition(" ")
        return self.run_line_magic(name, rest)

    def run_cell(self, source: str, *_: Any, **__: Any) -> Any:
        """Run a cell within a cell, and show its last line's value."""
        value = self._interpreter.run(source)
        if value is not None:
            self._interpreter.display(value)


def _do_nothing(_line: str) -> None:
    pass
