"""The interpreter of a notebook: a program of a session that runs cells for as long as it lives.

Sent as source, with the modules it imports; `sandbox/notebook.py` is its other half. stdin is a
socket. Per cell it brings one message with two descriptors: the cell's source, and a file for the
answer, which is written before the same message is sent back. Prints go to descriptors 1 and 2 like
any program's. A cell may do all of this itself, so the host believes nothing that an answer says,
only that it has come.
"""

import ast
import base64
import builtins
import contextlib
import inspect
import io
import json
import keyword
import linecache
import os
import re
import signal
import socket
import struct
import sys
import traceback
import types
from typing import Any

from proctor.cell.notebook_figures import FigureBackend
from proctor.cell.notebook_source import MagicError, to_python
from proctor.cell.notebook_text import CELL, ValueText, brief, plain_traceback

PARTS: Any = contextlib.nullcontext()
"""Context in which the interpreter's other modules can be imported: see sandbox/notebook.py."""
MOST_TEXT = 1 << 20
"""Characters of a value, and of an error."""
MOST_SHOWN = 8 << 20
"""Characters that a cell can show in all."""
_FDS = struct.Struct("2i")
_MIME_METHODS = {
    "text/html": "_repr_html_",
    "text/markdown": "_repr_markdown_",
    "text/latex": "_repr_latex_",
    "application/json": "_repr_json_",
    "image/svg+xml": "_repr_svg_",
    "image/png": "_repr_png_",
    "image/jpeg": "_repr_jpeg_",
}


_NAME_AND_REST = re.compile(r"\s*([a-z_]\w*)(?:[ \t]+([^=,&|*/+<>(.\s][^\n]*))?\s*")
_OPERATOR = re.compile(r"(?:is|not|in|and|or|if)\b")


class _Leaving:
    """Type of `exit` and `quit` in a cell, which do nothing, called or not: a notebook goes on."""

    def __call__(self) -> None:
        """Do nothing."""


class NotebookInterpreter:
    """The state that lasts between a notebook's cells."""

    def __init__(self) -> None:
        self.main = types.ModuleType("__main__")
        self.names = vars(self.main)
        self.text = ValueText()
        sys.modules["__main__"] = self.main
        builtins.display = self.display  # type: ignore[attr-defined]
        self.figures = FigureBackend(self.display)
        sys.meta_path.append(self.figures)
        self.given: list[str] = [""]
        self.results: dict[int, Any] = {}
        self.names.update(
            __builtins__=builtins, get_ipython=lambda: self.shell, exit=_Leaving(), quit=_Leaving(),
            In=self.given, _ih=self.given, Out=self.results, _oh=self.results,
            _="", __="", ___="",
        )  # fmt: skip
        self.own_names = frozenset(self.names)
        """Names that are the notebook's and not a cell's."""
        self._shell: Any = None
        self._last: Any = ""
        self.shown: list[dict[str, str]] = []
        self.shown_at: list[int] = []
        self.room = MOST_SHOWN
        self.count = 0
        self._depth = 0
        self.loop: Any = None

    @property
    def shell(self) -> Any:
        """The object behind `get_ipython()`; made when first needed, since that takes a while."""
        if self._shell is None:
            with PARTS:
                from proctor.cell.notebook_shell import NotebookShell
            self._shell = NotebookShell(self)
        return self._shell

    def answer(self, source: str) -> dict[str, Any]:
        """Run a cell; return its outcome in plain values."""
        self.count += 1
        self.shown, self.shown_at, self.room = [], [], MOST_SHOWN
        result, error = None, None
        try:
            try:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                self._depth = 0
                value = self.run(source)
                if value is not None and not source.rstrip().endswith(";"):
                    result = self._kept(value)
                self.figures.end_cell()
            finally:
                signal.signal(signal.SIGINT, signal.SIG_IGN)
        except BaseException as raised:  # noqa: BLE001 - a cell's errors are reported, not raised
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            error = _told(raised)
        return {"result": result, "error": error, "shown": self.shown, "shown_at": self.shown_at}

    def _kept(self, value: Any) -> dict[str, str] | None:
        """Keep a cell's value under IPython's names for it; return it as `bundle` does."""
        if isinstance(value, _Leaving):
            return None
        made = _fit(self.bundle(value))
        names = self.names
        if names.get("_") is self._last:  # else the cells have set `_` themselves
            names.update(_=value, __=names.get("_"), ___=names.get("__"))
            self._last = value
        names[f"_{self.count}"] = self.results[self.count] = value
        return made

    def run(self, source: str) -> Any:
        """Run a cell, or the code given to a magic; return its last line's value."""
        named = self._automagic(source)
        text = to_python(source)
        if self._depth == 0:
            self.given.append(text.rstrip("\n"))
            self.names.update(_i=self.given[-2], _ii="".join(self.given[-3:-2]))
        name = f"{CELL}{self.count}>" if self._depth == 0 else f"{CELL}{self.count}, magic>"
        self._depth += 1
        try:
            if named is not None:
                return self.shell.run_line_magic(*named)
            linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
            body = ast.parse(text, name).body
            last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
            self.evaluate(ast.Module(body, []), name, "exec")
            if not isinstance(last, ast.Expr):
                return None
            return self.evaluate(ast.Expression(last.value), name, "eval")
        finally:
            self._depth -= 1

    def _automagic(self, source: str) -> tuple[str, str] | None:
        """Return name and argument if a cell is a line magic without its `%`."""
        found = _NAME_AND_REST.fullmatch(source)
        if found is None or found[1] in self.names or keyword.iskeyword(found[1]):
            return None
        rest = found[2] or ""
        if _OPERATOR.match(rest) or found[1] not in self.shell.line_magics:
            return None
        return found[1], rest

    def evaluate(self, tree: ast.Module | ast.Expression, name: str, mode: str) -> Any:
        """Run a part of a cell; await it, if it awaits at its top level."""
        code = compile(tree, name, mode, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        value = eval(code, self.names)
        if not code.co_flags & inspect.CO_COROUTINE:
            return value
        if self.loop is None:
            import asyncio

            self.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.loop)
        return self.loop.run_until_complete(value)

    def display(self, *values: Any, raw: bool = False) -> None:
        """Show values; `raw`: each is a mapping of MIME types to text already."""
        for value in values:
            one = _fit({str(k): str(v) for k, v in value.items()} if raw else self.bundle(value))
            self.room -= sum(map(len, one.values())) + 64
            if self.room < 0:
                raise ValueError(f"a cell can show {MOST_SHOWN} characters in all")
            self.shown.append(one)
            self.shown_at.append(_written())

    def bundle(self, value: Any) -> dict[str, str]:
        """Return a value in every MIME type that its IPython methods offer; bytes in base 64."""
        found: dict[str, Any] = {}
        if not isinstance(value, type):
            with_all = getattr(value, "_repr_mimebundle_", None)
            given = with_all() if callable(with_all) else None
            found.update((given[0] if isinstance(given, tuple) else given) or {})
            for mime, method in _MIME_METHODS.items():
                one = getattr(value, method, None)
                if mime not in found and callable(one) and (made := one()) is not None:
                    found[mime] = made[0] if isinstance(made, tuple) else made
        if "text/plain" not in found:
            found["text/plain"] = self.text.show(value)
        return {str(mime): _text(made) for mime, made in found.items()}


def _written() -> int:
    """Return how many bytes the cell has printed so far; 0 if it has put its output elsewhere."""
    try:
        sys.stdout.flush()
        return os.lseek(1, 0, os.SEEK_CUR)
    except (OSError, ValueError, AttributeError):
        return 0


def _text(made: Any) -> str:
    if isinstance(made, str):
        return made
    return base64.b64encode(made).decode() if isinstance(made, bytes) else json.dumps(made)


def _fit(one: dict[str, str]) -> dict[str, str]:
    """Drop texts that are too long; shorten the plain text to its beginning."""
    kept = {k: v for k, v in one.items() if len(v) <= MOST_TEXT or k == "text/plain"}
    kept["text/plain"] = kept.get("text/plain", "")[:MOST_TEXT]
    return kept


def _is_ours(file: str) -> bool:
    return file in (__file__, "solution.py")


def _told(error: BaseException) -> dict[str, Any]:
    if isinstance(error, MagicError):
        print(f"UsageError: {error}", file=sys.stderr)
    try:
        value = str(error)
    except BaseException:  # noqa: BLE001 - a hostile __str__
        value = ""
    name = "UsageError" if isinstance(error, MagicError) else type(error).__name__
    try:
        # Skip our own frames, which come first.
        at = error.__traceback__
        while at is not None and not at.tb_frame.f_code.co_filename.startswith(CELL):
            at = at.tb_next
        lines = traceback.format_exception(type(error), error, at)
        plain, short = plain_traceback(error, _is_ours), brief(error)
    except BaseException:  # noqa: BLE001 - hostile again, or nested too deep
        lines, plain, short = [f"{name}\n"], f"{name}\n", f"{name}\n"
    if isinstance(error, MagicError):
        plain = short = ""
    text = "".join(lines)
    if len(text) > MOST_TEXT:
        lines = [text[: MOST_TEXT // 2], "\n...\n", text[-MOST_TEXT // 2 :]]
    return {
        "name": name[:1000], "value": value[:MOST_TEXT], "lines": lines,
        "plain": plain[:MOST_TEXT], "brief": short[:MOST_TEXT],
    }  # fmt: skip


def _encoded(answer: dict[str, Any]) -> bytes:
    # Lone surrogates are replaced: other processes need not accept them.
    text = json.dumps(answer, ensure_ascii=False)
    return text.encode("utf-8", "replace")


def _flush() -> None:
    """Write all that was printed to the files; it is lost where they are full."""
    for name, fd in (("stdout", 1), ("stderr", 2)):
        for stream in {getattr(sys, name, None), getattr(sys, f"__{name}__", None)}:
            try:
                if stream is not None:
                    stream.flush()
            except BaseException:  # noqa: BLE001 - a full file, or a stream of the cell's own
                fresh = io.TextIOWrapper(
                    io.FileIO(fd, "w", closefd=False), encoding="utf-8", errors="backslashreplace"
                )
                vars(sys).update({name: fresh, f"__{name}__": fresh})


def _write_lines_at_once(wanted: bool) -> None:
    """Write each printed line to the file at once, or only when the buffer is full."""
    with contextlib.suppress(Exception):  # a stream of the cell's own
        sys.stdout.reconfigure(line_buffering=wanted)  # type: ignore[union-attr]


def _write(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def main() -> None:
    """Run cells until the host is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    host = socket.socket(fileno=os.dup(0))
    nothing, writer = os.pipe()  # so that stdin is at its end
    os.close(writer)
    os.dup2(nothing, 0)
    os.close(nothing)
    interpreter = NotebookInterpreter()
    os.environ.setdefault("MPLBACKEND", f"module://{FigureBackend.MODULE}")
    own = os.getpid()
    while True:
        token, extras, _, _ = host.recvmsg(64, socket.CMSG_LEN(_FDS.size), socket.MSG_CMSG_CLOEXEC)
        if not token:
            os._exit(0)
        code_fd, answer_fd = _FDS.unpack(extras[0][2])
        source = os.pread(code_fd, os.fstat(code_fd).st_size, 0).decode("utf-8", "surrogatepass")
        os.close(code_fd)
        _write_lines_at_once(token[-1] == 1)  # 1: somebody waits for the output
        answer = interpreter.answer(source)
        _flush()
        if os.getpid() != own:  # a child that the cell forked has come here
            os._exit(0)
        try:
            _write(answer_fd, _encoded(answer))
        except OSError:  # the cell's answer is longer than a file may be
            os.ftruncate(answer_fd, 0)
            os.lseek(answer_fd, 0, os.SEEK_SET)
            error = {"name": "AnswerTooLong", "value": "a cell's answer is too long"}
            _write(answer_fd, _encoded({"result": None, "error": error, "shown": []}))
        os.close(answer_fd)
        host.send(token)
