"""Commands in a notebook's cells: `!command`, `name = !command`, and values put into them."""

import contextlib
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from proctor.cell.notebook_source import MagicError

_SHELL = "/bin/sh"
_VARIABLE = re.compile(r"\$\$|\$([A-Za-z_]\w*)|\{([^{}\n]+)\}")
_PIP = re.compile(r"\s*(python3? -m )?(pip3?|conda)\b")
_NO_PIP = (
    "pip: nothing can be installed here, where there is no network: a cell imports the standard"
    " library and the packages that its server offers"
)


class OutputLines(list[str]):
    """Lines that a command has printed."""

    @property
    def s(self) -> str:
        """All in one line."""
        return " ".join(self)

    @property
    def n(self) -> str:
        """The text."""
        return "\n".join(self)


class ShellCommands:
    """Executes commands for cells."""

    def __init__(self, interpreter: Any) -> None:
        """`interpreter` is the notebook's, whose names commands and magics see."""
        self._interpreter = interpreter
        self.user_ns: dict[str, Any] = interpreter.names
        self.line_magics: dict[str, Callable[..., Any]] = {}
        self.cell_magics: dict[str, Callable[..., Any]] = {}

    def system(self, command: str) -> None:
        """Execute a command; what it prints is the cell's output."""
        if _PIP.match(command):
            print(_NO_PIP, file=sys.stderr)
            self.user_ns["_exit_code"] = 1
            return
        self.user_ns["_exit_code"] = self._command(
            [_SHELL, "-c", self._expanded(command)]
        ).returncode

    def getoutput(self, command: str) -> OutputLines:
        """Return the lines that a command prints."""
        done = self._command([_SHELL, "-c", self._expanded(command)], stdout=subprocess.PIPE)
        self.user_ns["_exit_code"] = done.returncode
        return OutputLines(done.stdout.decode("utf-8", "replace").splitlines())

    def _command(self, words: list[str], **more: Any) -> subprocess.CompletedProcess[bytes]:
        sys.stdout.flush()
        sys.stderr.flush()
        try:
            return subprocess.run(words, check=False, **more)
        except OSError as error:
            raise MagicError(
                f"{words[0]} cannot be executed in this cell: {error.strerror}"
            ) from None

    def _expanded(self, text: str) -> str:
        """Put values for `$name` and `{expression}`; what cannot be evaluated stays."""

        def value(found: re.Match[str]) -> str:
            if found[0] == "$$":
                return "$"
            with contextlib.suppress(Exception):
                return str(eval(found[1] or found[2], self.user_ns))
            return found[0]

        return _VARIABLE.sub(value, text)
