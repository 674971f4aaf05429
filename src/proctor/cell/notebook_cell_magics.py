"""Cell magics of a notebook: `%%name arguments` above the lines of a cell."""

import contextlib
import io
import shlex
import subprocess
import sys
from pathlib import Path

from proctor.cell.notebook_commands import ShellCommands
from proctor.cell.notebook_source import MagicError


class CapturedOutput:
    """Output of a cell below `%%capture`."""

    def __init__(self, stdout: str, stderr: str) -> None:
        self.stdout, self.stderr = stdout, stderr

    def show(self) -> None:
        """Print it."""
        sys.stdout.write(self.stdout)
        sys.stderr.write(self.stderr)

    def __str__(self) -> str:
        return self.stdout


class CellMagics(ShellCommands):
    """Does what `%%name` says, in the method `_cell_name`."""

    def _cell_bash(self, line: str, cell: str) -> None:
        self._script(["/bin/bash", *shlex.split(line)], cell)

    def _cell_script(self, line: str, cell: str) -> None:
        self._script(shlex.split(line), cell)

    def _cell_python(self, line: str, cell: str) -> None:
        self._script([sys.executable, *shlex.split(line)], cell)

    def _cell_writefile(self, line: str, cell: str) -> None:
        words = shlex.split(line)
        if not words:
            raise MagicError("%%writefile needs the name of a file")
        path = Path(words[-1]).expanduser()
        does = "Appending to" if "-a" in words else "Overwriting" if path.exists() else "Writing"
        print(f"{does} {words[-1]}")
        with path.open("a" if "-a" in words else "w", encoding="utf-8") as file:
            file.write(cell)

    def _cell_capture(self, line: str, cell: str) -> None:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            value = self._interpreter.run(cell)
            if value is not None:
                print(self._interpreter.text.show(value))
        names = [word for word in line.split() if not word.startswith("-")]
        if names:
            self.user_ns[names[0]] = CapturedOutput(out.getvalue(), err.getvalue())

    def _cell_html(self, _line: str, cell: str) -> None:
        self._interpreter.display({"text/html": cell}, raw=True)

    def _cell_markdown(self, _line: str, cell: str) -> None:
        self._interpreter.display({"text/markdown": cell}, raw=True)

    def _cell_latex(self, _line: str, cell: str) -> None:
        self._interpreter.display({"text/latex": cell}, raw=True)

    def _script(self, words: list[str], cell: str) -> None:
        if not words:
            raise MagicError("%%script needs a command")
        done = self._command(words, input=cell.encode("utf-8", "surrogatepass"))
        self.user_ns["_exit_code"] = done.returncode
        if done.returncode:
            raise subprocess.CalledProcessError(done.returncode, cell.encode())
