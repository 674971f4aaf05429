"""The interpreter of a notebook: a program of a session that runs cells for as long as it lives.

Sent as source; `sandbox/notebook.py` is its other half. stdin is a socket. Per cell it brings one
message with two descriptors: the cell's source, and a file for the answer, which is written before
the same message is sent back. What a cell prints goes to descriptors 1 and 2 like any program's.
A cell may do all of this itself: the host believes nothing but that an answer is an answer.
"""

import ast
import base64
import builtins
import inspect
import io
import json
import linecache
import os
import signal
import socket
import struct
import sys
import traceback
import types
from importlib import import_module
from importlib.machinery import ModuleSpec
from typing import Any

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


class FigureBackend:
    """Matplotlib's backend of a notebook: shows a figure as a PNG.

    Finds and loads the module that MPLBACKEND names, when a cell has imported matplotlib.
    """

    MODULE = "proctor_figures"

    def __init__(self, display: Any) -> None:
        self.display = display

    def find_spec(self, name: str, *_: Any) -> ModuleSpec | None:
        """Answer for the backend alone."""
        return ModuleSpec(name, self) if name == self.MODULE else None  # type: ignore[arg-type]

    def create_module(self, _spec: ModuleSpec) -> None:
        """Leave that to Python."""

    def exec_module(self, module: Any) -> None:
        """Give the backend what matplotlib looks for in it."""
        agg = import_module("matplotlib.backends.backend_agg")
        module.FigureCanvas, module.show = agg.FigureCanvasAgg, self.show

    def show(self, *_: Any, **__: Any) -> None:
        """Show all open figures, and close them."""
        pyplot = sys.modules["matplotlib.pyplot"]
        for number in pyplot.get_fignums():
            figure = pyplot.figure(number)
            if figure.axes:
                drawn = io.BytesIO()
                figure.savefig(drawn, format="png", bbox_inches="tight")
                image = base64.b64encode(drawn.getvalue()).decode()
                self.display({"text/plain": repr(figure), "image/png": image}, raw=True)
        pyplot.close("all")

    def end_cell(self) -> None:
        """Show what a cell has drawn and not shown, if this is the backend."""
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is not None and pyplot.get_backend() == f"module://{self.MODULE}":
            self.show()


class NotebookInterpreter:
    """The state that lasts between a notebook's cells."""

    def __init__(self) -> None:
        self.main = types.ModuleType("__main__")
        self.names = vars(self.main)
        self.names["__builtins__"] = builtins
        sys.modules["__main__"] = self.main
        builtins.display = self.display  # type: ignore[attr-defined]
        self.figures = FigureBackend(self.display)
        sys.meta_path.append(self.figures)
        self.shown: list[dict[str, str]] = []
        self.room = MOST_SHOWN
        self.count = 0
        self.loop: Any = None

    def answer(self, source: str) -> dict[str, Any]:
        """Run a cell; say what came of it in plain values."""
        self.count += 1
        self.shown, self.room = [], MOST_SHOWN
        result, error = None, None
        try:
            try:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                result = self.run(source, f"<cell {self.count}>")
                self.figures.end_cell()
            finally:
                signal.signal(signal.SIGINT, signal.SIG_IGN)
        except BaseException as raised:  # noqa: BLE001 - a cell's errors are told, not raised
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            error = _told(raised)
        return {"result": result, "error": error, "shown": self.shown}

    def run(self, source: str, name: str) -> dict[str, str] | None:
        """Run a cell; the value of its last line, if that has one, as `bundle` has it."""
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        body = ast.parse(source, name).body
        last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
        self.evaluate(ast.Module(body, []), name, "exec")
        if not isinstance(last, ast.Expr):
            return None
        value = self.evaluate(ast.Expression(last.value), name, "eval")
        if value is None or source.rstrip().endswith(";"):
            return None
        self.names["_"] = value
        return _fit(bundle(value))

    def evaluate(self, tree: ast.Module | ast.Expression, name: str, mode: str) -> Any:
        """Run a part of a cell; await it, if it awaits at its top level."""
        code = compile(tree, name, mode, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        value = eval(code, self.names)  # noqa: S307 - this is what the box is for
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
            one = _fit({str(k): str(v) for k, v in value.items()} if raw else bundle(value))
            self.room -= sum(map(len, one.values())) + 64
            if self.room < 0:
                raise ValueError(f"a cell can show {MOST_SHOWN} characters in all")
            self.shown.append(one)


def bundle(value: Any) -> dict[str, str]:
    """A value in every MIME type that it has, as IPython asks for them; bytes in base 64."""
    found: dict[str, Any] = {}
    if not isinstance(value, type):
        with_all = getattr(value, "_repr_mimebundle_", None)
        given = with_all() if callable(with_all) else None
        found.update((given[0] if isinstance(given, tuple) else given) or {})
        for mime, method in _MIME_METHODS.items():
            one = getattr(value, method, None)
            if mime not in found and callable(one) and (made := one()) is not None:
                found[mime] = made[0] if isinstance(made, tuple) else made
    found.setdefault("text/plain", repr(value))
    return {str(mime): _text(made) for mime, made in found.items()}


def _text(made: Any) -> str:
    if isinstance(made, str):
        return made
    return base64.b64encode(made).decode() if isinstance(made, bytes) else json.dumps(made)


def _fit(one: dict[str, str]) -> dict[str, str]:
    """Without what is too long; of the plain text, its beginning."""
    kept = {k: v for k, v in one.items() if len(v) <= MOST_TEXT or k == "text/plain"}
    kept["text/plain"] = kept.get("text/plain", "")[:MOST_TEXT]
    return kept


def _told(error: BaseException) -> dict[str, Any]:
    try:
        value = str(error)
    except BaseException:  # noqa: BLE001 - a hostile __str__
        value = ""
    try:
        # Our own frames come first.
        at = error.__traceback__
        while at is not None and not at.tb_frame.f_code.co_filename.startswith("<cell "):
            at = at.tb_next
        lines = traceback.format_exception(type(error), error, at)
    except BaseException:  # noqa: BLE001 - the same, or too deep
        lines = [f"{type(error).__name__}\n"]
    text = "".join(lines)
    if len(text) > MOST_TEXT:
        lines = [text[: MOST_TEXT // 2], "\n...\n", text[-MOST_TEXT // 2 :]]
    return {"name": type(error).__name__[:1000], "value": value[:MOST_TEXT], "lines": lines}


def _encoded(answer: dict[str, Any]) -> bytes:
    # Lone surrogates are nothing that another process must take.
    text = json.dumps(answer, ensure_ascii=False)
    return text.encode("utf-8", "replace")


def _flush() -> None:
    """Have all that was printed in the files, or lost where they are full."""
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


def _write(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def main() -> None:
    """Run cells until the host is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    host = socket.socket(fileno=os.dup(0))
    nothing, writer = os.pipe()  # stdin is at its end
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
        answer = interpreter.answer(source)
        _flush()
        if os.getpid() != own:  # a child that the cell forked and let go on
            os._exit(0)
        try:
            _write(answer_fd, _encoded(answer))
        except OSError:  # longer than a file may be: the cell's doing
            os.ftruncate(answer_fd, 0)
            os.lseek(answer_fd, 0, os.SEEK_SET)
            error = {"name": "AnswerTooLong", "value": "a cell's answer is too long", "lines": []}
            _write(answer_fd, _encoded({"result": None, "error": error, "shown": []}))
        os.close(answer_fd)
        host.send(token)


if __name__ == "__main__":
    main()
