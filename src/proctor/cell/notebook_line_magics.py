"""Line magics of a notebook: `%name arguments`."""

import contextlib
import importlib
import inspect
import os
import runpy
import shlex
import sys
from pathlib import Path
from typing import Any

from proctor.cell.notebook_commands import OutputLines, ShellCommands
from proctor.cell.notebook_source import MagicError


class LineMagics(ShellCommands):
    """Does what `%name` says, in the method `_line_name`."""

    def _line_pwd(self, _line: str) -> str:
        return str(Path.cwd())

    def _line_cd(self, line: str) -> None:
        os.chdir(Path(line.strip().strip("'\"") or "~").expanduser())
        print(Path.cwd())

    def _line_env(self, line: str) -> Any:
        name, sign, value = line.partition("=")
        if not sign:
            name, sign, value = line.partition(" ")
        if not name.strip():
            return dict(os.environ)
        if not sign:
            if name.strip() not in os.environ:
                raise MagicError(f"Environment does not have key: {name.strip()}")
            return os.environ[name.strip()]
        os.environ[name.strip()] = value.strip()
        print(f"env: {name.strip()}={value.strip()}")
        return None

    def _line_pip(self, _line: str) -> None:
        self.system("pip")

    def _line_system(self, line: str) -> OutputLines:
        return self.getoutput(line)

    def _line_who(self, _line: str) -> None:
        found = self._line_who_ls("")
        print("\t".join(found) if found else "Interactive namespace is empty.")

    def _line_who_ls(self, _line: str) -> list[str]:
        own = self._interpreter.own_names
        return sorted(name for name in self.user_ns if name[0] != "_" and name not in own)

    def _line_whos(self, _line: str) -> None:
        rows = [("Variable", "Type", "Data/Info")]
        for name in self._line_who_ls(""):
            value = self.user_ns[name]
            rows.append((name, type(value).__name__, " ".join(repr(value).split())[:60]))
        wide = [max(len(row[column]) for row in rows) for column in (0, 1)]
        lines = [f"{a:{wide[0]}}   {b:{wide[1]}}   {c}" for a, b, c in rows]
        lines.insert(1, "-" * max(map(len, lines)))
        print("\n".join(lines))

    def _line_reset(self, _line: str) -> None:
        for name in [name for name in self.user_ns if name not in self._interpreter.own_names]:
            if not name.startswith("__"):
                del self.user_ns[name]

    def _line_hist(self, _line: str) -> None:
        print("\n".join(self.user_ns["In"][1:-1]))

    def _line_precision(self, line: str) -> str:
        text = self._interpreter.text
        text.precision = f"%.{int(line)}f" if line.strip().isdigit() else line.strip()
        return text.precision or "%r"

    def _line_pprint(self, _line: str) -> None:
        text = self._interpreter.text
        text.pretty = not text.pretty
        print(f"Pretty printing has been turned {'ON' if text.pretty else 'OFF'}")

    def _line_lsmagic(self, _line: str) -> None:
        print("Available line magics:", *(f"%{name}" for name in sorted(self.line_magics)))
        print("Available cell magics:", *(f"%%{name}" for name in sorted(self.cell_magics)))

    def _line_load_ext(self, line: str) -> None:
        if line.strip() not in self.line_magics:
            importlib.import_module(line.strip())

    def _line_matplotlib(self, _line: str) -> None:
        importlib.import_module("matplotlib").use("agg")

    def _line_run(self, line: str) -> None:
        words = shlex.split(line)
        if not words:
            raise MagicError("%run needs the name of a file")
        before, sys.argv = sys.argv, words
        try:
            found = runpy.run_path(words[0], run_name="__main__")
        finally:
            sys.argv = before
        self.user_ns.update({k: v for k, v in found.items() if not k.startswith("__")})

    def _line_pinfo(self, line: str, *, source: bool = False) -> None:
        try:
            value = eval(line, self.user_ns)
        except (NameError, AttributeError):
            print(f"Object `{line}` not found.")
            return
        rows: list[tuple[str, str]] = []
        if callable(value):
            with contextlib.suppress(TypeError, ValueError):
                rows.append(("Signature", f"{line.rpartition('.')[2]}{inspect.signature(value)}"))
        else:
            rows.append(("Type", type(value).__name__))
            rows.append(("String form", str(value)))
        text = ""
        if source:
            with contextlib.suppress(TypeError, OSError):
                text = inspect.getsource(value).rstrip()
        if text:
            rows.append(("Source", "\n" + text))
        else:
            rows.append(("Docstring", inspect.getdoc(value) or "<no docstring>"))
        if callable(value):
            rows.append(("Type", type(value).__name__))
        wide = max(len(title) for title, _ in rows) + 1
        for title, shown in rows:
            gap = "" if shown.startswith("\n") else " "
            print(f"{title + ':':{wide}}{gap}{shown}")

    def _line_pinfo2(self, line: str) -> None:
        self._line_pinfo(line, source=True)
