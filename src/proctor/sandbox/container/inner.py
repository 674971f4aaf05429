"""Run as a program in a container: one cell in there, driven over standard input and output.

The trusted half of level `container`. It starts the strongest cell that the container allows,
meters it, and holds the limits where /proc is; the host only sends work and reads facts. As process
1 of the container it cannot be killed or stopped from inside, and when it ends, everything does.
Standard library only.
"""

import ctypes
import os
import queue
import signal
import site
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from proctor.cell.wire import Kind
from proctor.errors import CellDied, CellStartFailed, PlatformError, ProctorError
from proctor.execution import Execution
from proctor.limits import Limits
from proctor.program import Program
from proctor.sandbox.backend import CellSetup, Launcher
from proctor.sandbox.cell import Serving
from proctor.sandbox.clock import ContestClock
from proctor.sandbox.command import Streams
from proctor.sandbox.container import crossing, directory_crossing, frames
from proctor.sandbox.container.filtered import Filtered
from proctor.sandbox.container.frames import Fields, Frame
from proctor.sandbox.container.group import ContainerGroup
from proctor.sandbox.container.inner_cell import InnerCell, facts
from proctor.sandbox.container.size import WORK
from proctor.sandbox.directory_job import FoundFile, ProgressLine
from proctor.sandbox.levels.bubblewrap import Bubblewrap, arrangements
from proctor.sandbox.levels.landlock import Landlock
from proctor.sandbox.levels.unsafe import Unsafe
from proctor.sandbox.machine import interpreter
from proctor.sandbox.stop import Stop
from proctor.version import __version__

_MOST_INPUT = [1 << 40] * frames.MOST_PARTS  # the host may send what it likes
_PR_SET_DUMPABLE = 4
_PROBE = Program("print(6 * 7)")


_stops: set[Stop] = set()
"""Stop of the directory job that runs now, if one does."""


def main() -> NoReturn:
    """Serve the host until it hangs up."""
    if os.getpid() != 1:  # whatever else runs here is killed after every job
        sys.exit("proctor.sandbox.container.inner runs as process 1 of a container only")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # or Python's handler would let a job end us
    # Programs run as the same user: nobody may trace us or read our memory.
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    if os.access(WORK, os.W_OK):  # the engine was asked for disk
        tempfile.tempdir = WORK
    commands, answers = _take_streams()
    work: queue.SimpleQueue[Frame] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(commands, work), daemon=True).start()
    try:
        _serve(work.get, answers)
    except BaseException:  # noqa: BLE001 - last words; the host reads them and starts another
        sys.stderr.write(traceback.format_exc())
        sys.stderr.flush()
        os._exit(1)


def _take_streams() -> tuple[BinaryIO, BinaryIO]:
    """Keep standard input and output for frames; prints go to standard error from now on."""
    commands = os.fdopen(os.dup(0), "rb", buffering=0)
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    return commands, answers


def _listen(commands: BinaryIO, work: "queue.SimpleQueue[Frame]") -> None:
    """Queue what the host sends; end this process when the host is gone, whatever is running."""
    try:
        while (frame := frames.read(commands, _MOST_INPUT)) is not None:
            if frame.header.get("do") == "stop":
                for stop in tuple(_stops):
                    stop.set()
            else:
                work.put(frame)
    except (OSError, frames.BadFrame):
        os._exit(1)
    os._exit(0)


def _serve(receive: Callable[[], Frame], answers: BinaryIO) -> NoReturn:
    opening = Fields(receive().header)
    proof = {"token": opening.text("token")}
    try:
        box = _Box(opening)
    except ProctorError as error:
        frames.write(answers, {"fault": error.code, "message": str(error), **proof})
        os._exit(1)
    frames.write(answers, {**box.hello, **proof})
    while True:
        frame = receive()
        try:
            header, parts = box.do(frame)
        except CellDied as error:
            header, parts = {"fault": error.code, "message": str(error)}, ()
        frames.write(answers, {**header, "spent": box.spent, **proof}, parts)


class _Box:
    """The one cell of this container, and the program that is being served in it."""

    def __init__(self, opening: Fields) -> None:
        if (opening.text("version"), opening.text("digest")) != _identity():
            raise CellStartFailed(f"the image holds another proctor ({' '.join(_identity())})")
        self._setup = _setup(opening)
        self._group = ContainerGroup()
        self._serving: Serving | None = None
        self._limits = Limits()
        self._open: Callable[[], InnerCell]
        self._cell, tried = self._strongest()
        self.hello = {
            "version": __version__,
            "python": sys.version,
            "level": self._cell.isolation.level,
            "tried": tried,
            "guarantees": crossing.guarantees_to_json(self._cell.isolation.guarantees),
            **facts(self._group),
        }

    def _strongest(self) -> tuple[InnerCell, str]:
        """Return a cell of the first level that runs a program, and why better ones did not."""
        tried: list[str] = []
        for backend in _ways(tried):
            self._open = partial(InnerCell, backend, self._setup, self._group)
            try:
                cell = self._open()
            except (ProctorError, OSError) as error:
                tried.append(f"{backend.level}: {error}")
                continue
            failure = _failure(cell)
            if failure is None:
                return cell, "; ".join(dict.fromkeys(tried))
            cell.close()
            tried.append(f"{backend.level}: {failure}")
        raise CellStartFailed(f"no cell works in the container: {'; '.join(tried)}")

    @property
    def spent(self) -> bool:
        """True if the whole container should be replaced."""
        return self._cell.odd

    def do(self, frame: Frame) -> tuple[dict[str, Any], Sequence[bytes]]:
        """Do what the host asks. Raises CellDied."""
        return _ACTIONS[Fields(frame.header).text("do")](self, Fields(frame.header), frame.parts)

    def _ready(self) -> InnerCell:
        """Return the cell; a new one in the same container if it is spent, but not odd."""
        if self._cell.spent and not self._cell.odd:
            self._cell.close()
            self._cell = self._open()
        return self._cell

    def _run(self, fields: Fields, parts: Sequence[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        source, stdin = parts
        limits = crossing.limits_from_json(fields.object("limits"))
        cell = self._ready()
        done: Execution = cell.run(_program(source), stdin, limits)
        cell.clear()
        return crossing.facts_to_json(done), [done.stdout, done.stderr]

    def _script(self, fields: Fields, parts: Sequence[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        source, stdin = parts
        limits = crossing.limits_from_json(fields.object("limits"))
        script = crossing.script_from_json(fields.object("script"), _program(source))
        cell = self._ready()
        done = cell.run_script(script, Streams(stdin), limits, ContestClock(limits))
        cell.clear()
        return crossing.facts_to_json(done), [done.stdout, done.stderr]

    def _work(self, fields: Fields, parts: Sequence[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        limits = crossing.limits_from_json(fields.object("limits"))
        heard: list[FoundFile | ProgressLine] = []
        cell = self._ready()
        with Stop() as stop:
            _stops.add(stop)
            try:
                worked = cell.run_in_directory(
                    directory_crossing.job_from(fields, parts), limits, stop, heard.append
                )
            finally:
                _stops.discard(stop)
        cell.clear()
        return directory_crossing.answer(worked, heard)

    def _execute(
        self, fields: Fields, parts: Sequence[bytes]
    ) -> tuple[dict[str, Any], list[bytes]]:
        stdin, files = parts
        limits = crossing.limits_from_json(fields.object("limits"))
        python = self._setup.interpreter.executable
        command = crossing.command_from_json(fields.object("command"), files, python)
        clock = crossing.clock_from_json(fields.object("clock"))
        cell = self._ready()
        done = cell.execute(command, Streams(stdin), limits, clock)
        cell.clear()
        told = done.execution
        return crossing.facts_to_json(told), [told.stdout, told.stderr, crossing.packed(done.files)]

    def _load(self, fields: Fields, parts: Sequence[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        cell = self._ready()
        self._limits = crossing.limits_from_json(fields.object("limits"))
        self._serving = serving = cell.serve(
            Kind(fields.count("kind")), _program(parts[0]), fields.text("function"), self._limits,
            crossing.clock_from_json(fields.object("clock")),
        )  # fmt: skip
        limit = serving.load_limit
        facts = {"alive": serving.alive, "unloadable": serving.unloadable, "load_limit": limit}
        return facts, []

    def _test(self, fields: Fields, parts: Sequence[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        assert self._serving is not None
        clock = crossing.clock_from_json(fields.object("clock"))
        done = self._serving.test(parts[0], clock)
        facts = {**crossing.facts_to_json(done), "alive": self._serving.alive}
        return facts, [done.stdout, done.stderr, done.result]

    def _unload(
        self, _fields: Fields, _parts: Sequence[bytes]
    ) -> tuple[dict[str, Any], list[bytes]]:
        if self._serving is not None:
            serving, self._serving = self._serving, None
            serving.__exit__(None, None, None)
        self._cell.clear()
        return {}, []


_Action = Callable[[_Box, Fields, Sequence[bytes]], tuple[dict[str, Any], Sequence[bytes]]]
_ACTIONS: dict[str, _Action] = {
    "run": _Box._run,  # noqa: SLF001 - a table of its own methods
    "script": _Box._script,  # noqa: SLF001
    "work": _Box._work,  # noqa: SLF001
    "execute": _Box._execute,  # noqa: SLF001
    "load": _Box._load,  # noqa: SLF001
    "test": _Box._test,  # noqa: SLF001
    "unload": _Box._unload,  # noqa: SLF001
}


def _ways(tried: list[str]) -> Iterator[Launcher]:
    """Yield the levels, strongest first; note in `tried` what cannot be used."""
    try:
        yield from map(Bubblewrap, arrangements())
    except PlatformError as error:
        tried.append(f"namespaces: {error}")
    yield Landlock()
    yield Filtered()
    yield Unsafe()  # the container is then the only wall, as its guarantees say


def _failure(cell: InnerCell) -> str | None:
    """Return why a cell that has started is no use; None if it is."""
    try:
        done = cell.run(_PROBE, b"", Limits(cpu=5.0))
    except ProctorError as error:
        return str(error)
    if not done.ok or done.stdout != b"42\n":
        return f"a program ended wrongly: {done.stderr!r}"
    return None


def _identity() -> tuple[str, str]:
    return __version__, crossing.digest()


def _setup(opening: Fields) -> CellSetup:
    python = opening.text_or_none("python")
    chosen = interpreter.probe(python) if python is not None else interpreter.current()
    packages = tuple(crossing.packages_inside(opening.count("packages", 1000)))
    preload = tuple(opening.text("preload").split())
    for path in packages:
        if not Path(path).is_dir():
            raise CellStartFailed(f"{path} was not mounted into the container")
    if python is None:  # the image's packages; agents start without looking for them
        packages += tuple(path for path in site.getsitepackages() if Path(path).is_dir())
    return CellSetup(chosen, packages, preload)


def _program(source: bytes) -> Program:
    return Program(source.decode("utf-8", "surrogatepass"))


if __name__ == "__main__":
    main()
