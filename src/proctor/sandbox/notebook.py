"""Notebooks: a Python interpreter in a session, whose state lasts from cell to cell."""

import contextlib
import os
import secrets
import select
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from proctor.cell.wire import send
from proctor.errors import Cancelled, SessionEnded, must_be
from proctor.execution import Execution, LimitHit
from proctor.limits import Limits
from proctor.program import Program
from proctor.sandbox.machine import memfile
from proctor.sandbox.output import OnOutput
from proctor.sandbox.programs import Programs, Running, Watch
from proctor.sandbox.stop import Stop
from proctor.shown import counted, quoted, seconds, shown

MAX_ANSWER = 32 << 20
"""Bytes of an answer at most. An honest one is shorter, see notebook_job.py."""
_GRACE = Limits(cpu=1.0)
"""Limits for ending a cell that was interrupted."""
_INTERRUPT_EVERY, _INTERRUPTS = 0.25, 20
"""Wall seconds between interrupts, and how many there are."""
_SOFT = (LimitHit.CPU, LimitHit.WALL, LimitHit.IDLE)
_LIFE = 1e7
"""CPU seconds, the most there may be: an interpreter lives as long as its session."""
_MESSAGES_AT_ONCE = 64
_FIRST_LOOK = 0.05  # seconds: most cells have answered by then


@dataclass(frozen=True, slots=True, repr=False)
class CellError:
    """An exception that ended a cell, as text."""

    name: str
    """Name of its class."""
    value: str
    traceback: tuple[str, ...]
    """Lines, with their ends."""
    plain: str = ""
    """The traceback as IPython's mode Plain has it, without lines that tell a place in a cell."""
    brief: str = ""
    """Name, value and notes alone, as IPython's mode Minimal has them."""

    def __repr__(self) -> str:
        return shown(self, f"{self.name[:40]}: {quoted(self.value)}")


@dataclass(frozen=True, slots=True, repr=False)
class CellResult:
    """Outcome of one cell. The cell's programs can forge all of it but `limit` and `ended`."""

    stdout: bytes
    """Bytes that the cell printed."""
    stderr: bytes
    """Bytes that the cell wrote to stderr. Both are cut at the output limit."""
    result: str | None
    """Representation of the last line's value; None if it has no value."""
    error: CellError | None
    """Exception that ended the cell, or None."""
    displays: tuple[Mapping[str, str], ...]
    """Objects shown with display(), then the last line's value if it has more than text: content by
    MIME type, images in base64."""
    limit: LimitHit | None
    """Limit that the cell overran. It was interrupted then, and killed if that did not end it."""
    ended: Execution | None
    """Facts of the interpreter's run if it has ended, with all its state; else None."""
    fresh: bool
    """True if the interpreter was started for this cell, so that nothing earlier was known."""
    cpu: float
    """CPU seconds."""
    shown_at: tuple[int, ...] = ()
    """For each object shown with display(), the bytes of stdout that the cell says came before."""

    @property
    def ok(self) -> bool:
        """True if the cell ended without an exception and within its limits."""
        return self.error is None and self.limit is None and self.ended is None

    def __repr__(self) -> str:
        return shown(
            self,
            "ok" if self.ok else "failed",
            "" if self.limit is None else f"{self.limit.value} limit hit",
            "" if self.error is None else repr(self.error)[1:-1],
            "" if self.ended is None else "interpreter ended",
            "" if self.result is None else f"result {quoted(self.result, 30)}",
            f"stdout {quoted(self.stdout, 30)}" if self.stdout else "",
            counted(len(self.displays), "display") if self.displays else "",
            f"CPU {seconds(self.cpu)}",
        )


class _Error(msgspec.Struct):
    name: str
    value: str
    lines: list[str] = []
    plain: str = ""
    brief: str = ""


class _CellAnswer(msgspec.Struct):
    result: dict[str, str] | None
    error: _Error | None
    shown: list[dict[str, str]]
    shown_at: list[int] = []


class Notebook:
    """An interpreter of a session that runs one cell after the other. Use Session.notebook.

    After an interpreter has ended, the next cell starts a fresh one. Other notebooks of the session
    share its workspace and limits, and have interpreters of their own. Every method raises
    SessionEnded once the session is over.
    """

    def __init__(self, call: Callable[[Callable[[Programs], Any]], Any], limits: Limits) -> None:
        self._call, self._limits = call, limits
        self._running: Running | None = None
        self._socket: socket.socket | None = None
        self._one_at_a_time = threading.Lock()

    def run_cell(
        self,
        source: str,
        *,
        cpu: float | None = None,
        wall: float | None = None,
        elapsed: float | None = None,
        stop: Stop | None = None,
        on_output: OnOutput | None = None,
    ) -> CellResult:
        """Run a cell and wait for it. Limits of time are the cell's; None is the session's.

        `on_output` is called from some thread with the cell's output as it comes, up to the limit.

        A cell that overruns them gets SIGINT, a KeyboardInterrupt that leaves the state as it is;
        if that does not end it, the interpreter is killed. The same happens if `stop` is set before
        the cell's end, and Cancelled is raised then. Cells of one notebook wait for one another;
        the session does other things meanwhile.
        """
        limits = self._limits
        limits = replace(
            limits,
            cpu=limits.cpu if cpu is None else cpu,
            wall=limits.wall if wall is None else wall,
            elapsed=limits.elapsed if elapsed is None else elapsed,
        )
        must_be(str, source, "source")
        data = source.encode("utf-8", "surrogatepass")
        with self._one_at_a_time:
            try:
                return self._run(data, limits, stop, on_output)
            except SessionEnded:
                self._close_socket()
                raise

    def close(self) -> None:
        """End the interpreter; the next cell starts a fresh one. Idempotent."""
        with self._one_at_a_time:
            self._close_socket()
            self._call(self._end)

    def __del__(self) -> None:
        self._close_socket()

    def _close_socket(self) -> None:
        if self._socket is not None:
            self._socket.close()

    def _run(
        self, source: bytes, limits: Limits, stop: Stop | None, on_output: OnOutput | None
    ) -> CellResult:
        fresh, watch = self._call(lambda programs: self._begin(programs, limits, on_output))
        token, code, answer = secrets.token_bytes(16), -1, -1
        token += bytes(
            [on_output is not None]
        )  # this byte tells the interpreter to write lines at once
        try:
            code, answer = memfile.sealed_reader(source), memfile.empty()
            hit, answered, called_off = None, False, False
            with contextlib.suppress(BlockingIOError, ConnectionError):  # nobody is listening
                assert self._socket is not None
                send(self._socket, token, [code, answer])
                hit, answered, called_off = self._attend(watch, token, stop)
            reply = _decoded(memfile.content(answer, MAX_ANSWER + 1)) if answered else None
        finally:
            for fd in (code, answer):
                if fd >= 0:
                    os.close(fd)
        result: CellResult = self._call(
            lambda programs: self._result(programs, watch, reply, hit, fresh)
        )
        if called_off:
            kept = "its state is kept" if result.ended is None else "the interpreter was ended"
            raise Cancelled(f"the cell was called off; {kept}")
        return result

    def _result(
        self,
        programs: Programs,
        watch: Watch,
        reply: _CellAnswer | None,
        hit: LimitHit | None,
        fresh: bool,
    ) -> CellResult:
        """Return the outcome of a cell; ends an interpreter that did not answer."""
        running, most = watch.running, self._limits.output
        cpu = programs.cpu(running) - watch.cpu0
        running.tell_output()
        running.follow(None)  # output between cells belongs to no cell
        stdout, stderr = (memfile.content(fd, most + 1) for fd in running.files[1:])
        if hit is None and max(len(stdout), len(stderr)) > most:
            hit = LimitHit.OUTPUT
        ended = None
        if reply is None:
            running.hit = hit
            ended = self._end(programs)
            hit = hit or (ended.limit if ended is not None else None)
        return CellResult(
            stdout=stdout[:most],
            stderr=stderr[:most],
            result=(reply.result or {}).get("text/plain") if reply is not None else None,
            error=_error(reply),
            displays=_displays(reply),
            limit=hit,
            ended=ended,
            fresh=fresh,
            cpu=max(cpu, 0.0),
            shown_at=tuple(reply.shown_at) if reply is not None else (),
        )

    def _begin(
        self, programs: Programs, limits: Limits, on_output: OnOutput | None
    ) -> tuple[bool, Watch]:
        """Start an interpreter if there is none; True if it is a new one. Raises UsageError."""
        fresh = False
        if self._running is not None and programs.poll(self._running) is not None:
            self._end(programs)
        if self._running is None:
            fresh = True
            self._close_socket()
            self._socket, far_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            life = replace(self._limits, cpu=_LIFE, wall=None, elapsed=None)
            self._running = programs.start(Program(_driver()), far_end.detach(), life)
            nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
            os.dup2(nothing, self._running.files[0], inheritable=False)  # so that a hang-up shows
            os.close(nothing)
        self._running.drop_output()
        self._running.follow(on_output)
        return fresh, programs.watch(self._running, limits)

    def _end(self, programs: Programs) -> Execution | None:
        running, self._running = self._running, None
        if running is None:
            return None
        programs.kill(running)
        return programs.finish(running)

    def _attend(
        self, watch: Watch, token: bytes, stop: Stop | None
    ) -> tuple[LimitHit | None, bool, bool]:
        """Wait for a cell's end.

        Returns the limit that it overran, whether it answered, and whether it was stopped.
        """
        hit, answered = self._wait(watch, token, stop)
        if hit in _SOFT and not answered:
            _, answered = self._interrupt(watch, token, _GRACE)
        if hit is not None or answered or stop is None or not stop.wanted:
            return hit, answered, False
        # The cell may not have begun yet and then ignores an interrupt: so, repeatedly.
        used = self._call(lambda programs: programs.cpu(watch.running))
        for _ in range(_INTERRUPTS):
            hit, answered = self._interrupt(watch, token, replace(_GRACE, wall=_INTERRUPT_EVERY))
            cpu = self._call(lambda programs: programs.cpu(watch.running)) - used
            if answered or hit is not LimitHit.WALL or cpu > _GRACE.cpu:
                break
        return None, answered, True

    def _interrupt(self, watch: Watch, token: bytes, grace: Limits) -> tuple[LimitHit | None, bool]:
        """Interrupt a cell and wait for its end."""

        def interrupt(programs: Programs) -> tuple[Watch]:
            programs.interrupt(watch.running)
            return (programs.watch(watch.running, grace),)

        (graced,) = self._call(interrupt)
        return self._wait(graced, token, None)

    def _wait(self, watch: Watch, token: bytes, stop: Stop | None) -> tuple[LimitHit | None, bool]:
        """Wait for the answer, outside the session's thread, which only looks at the program."""
        connection, pause = self._socket, _FIRST_LOOK
        assert connection is not None
        poller = select.poll()
        poller.register(connection, select.POLLIN)
        if stop is not None:
            poller.register(stop, select.POLLIN)
        hung_up = False
        while True:
            events = dict(poller.poll((min(pause, _FIRST_LOOK) if hung_up else pause) * 1000))
            if events and _came(connection, token):
                return None, True
            if stop is not None and stop.wanted:
                return None, False
            if (
                events.get(connection.fileno(), 0) & select.POLLHUP
            ):  # the interpreter is about to end, or should be
                hung_up = True
                poller.unregister(connection)
            hit, over, pause = self._call(lambda programs: programs.glance(watch))
            if hit is not None or over:
                return hit, _came(connection, token)


_PACKAGE = "proctor.cell"
_MODULES = (
    "notebook_source", "notebook_text", "notebook_commands", "notebook_line_magics",
    "notebook_cell_magics", "notebook_timing", "notebook_shell", "notebook_figures",
    "notebook_job",
)  # fmt: skip
"""The interpreter's modules."""
_BOOT = """\
import sys, types
from importlib.machinery import ModuleSpec
class NotebookModules:
    # Has the interpreter's modules imported while it is entered; else a cell may have such names.
    def __init__(self, sources):
        self.sources = sources
        self.made = {name: types.ModuleType(name) for name in ("proctor", "proctor.cell")}
        for module in self.made.values():
            module.__path__ = []
    def __enter__(self):
        self.others = self._taken()
        sys.modules.update(self.made)
        sys.meta_path.insert(0, self)
    def __exit__(self, *_):
        sys.meta_path.remove(self)
        self.made = self._taken()
        sys.modules.update(self.others)
    def _taken(self):
        names = [each for each in sys.modules if each == "proctor" or each.startswith("proctor.")]
        return {name: sys.modules.pop(name) for name in names}
    def find_spec(self, name, *_):
        return ModuleSpec(name, self) if name in self.sources else None
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        module.__file__ = "<notebook>"
        source = self.sources[module.__name__]
        exec(compile(source, module.__file__, "exec", dont_inherit=True), vars(module))
def main(sources):
    parts = NotebookModules(sources)
    with parts:
        from proctor.cell import notebook_job
    notebook_job.PARTS = parts
    notebook_job.main()
"""


@cache
def _driver() -> str:
    """Return the interpreter as one program."""
    package = files(_PACKAGE)
    sources = {
        f"{_PACKAGE}.{name}": package.joinpath(f"{name}.py").read_text("utf-8") for name in _MODULES
    }
    return f"{_BOOT}main({sources!r})\n"


def _came(connection: socket.socket, token: bytes) -> bool:
    """Return True if the message that a cell is over has come; others are the cell's own."""
    for _ in range(_MESSAGES_AT_ONCE):
        try:
            if secrets.compare_digest(connection.recv(64, socket.MSG_DONTWAIT), token):
                return True
        except (BlockingIOError, ConnectionError):
            return False
    return False


def _decoded(data: bytes) -> _CellAnswer | None:
    """Decode the answer; None if it is malformed: then a program has taken over the interpreter."""
    if len(data) > MAX_ANSWER:
        return None
    try:
        return msgspec.json.decode(data, type=_CellAnswer)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _error(reply: _CellAnswer | None) -> CellError | None:
    if reply is None or reply.error is None:
        return None
    error = reply.error
    return CellError(error.name, error.value, tuple(error.lines), error.plain, error.brief)


def _displays(reply: _CellAnswer | None) -> tuple[Mapping[str, str], ...]:
    if reply is None:
        return ()
    rich = reply.result is not None and reply.result.keys() > {"text/plain"}
    return (*reply.shown, reply.result) if rich and reply.result is not None else tuple(reply.shown)
