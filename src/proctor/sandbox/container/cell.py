"""A cell in a container, seen from the host: work goes in, facts come out."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from proctor.cell.wire import Kind
from proctor.errors import CellDied, LevelLacks, ProctorError
from proctor.execution import Execution, LimitHit
from proctor.limits import MIB, Limits
from proctor.program import Program
from proctor.sandbox.backend import CellSetup
from proctor.sandbox.cell import TestRun
from proctor.sandbox.clock import Clock, ContestClock
from proctor.sandbox.command import Command, Finished, Script, Streams
from proctor.sandbox.container import crossing, directory_crossing
from proctor.sandbox.container.box import Box
from proctor.sandbox.container.frames import BadFrame, Fields, Frame
from proctor.sandbox.container.size import Size, size_for
from proctor.sandbox.directory_job import (
    DirectoryJob,
    DirectoryResult,
    FoundFile,
    JobListener,
    ProgressLine,
)
from proctor.sandbox.machine import memfile
from proctor.sandbox.stop import Stop

T = TypeVar("T")
GRACE = 120.0
"""Time beyond a job's own limits after which a silent container is given up, in seconds."""
RETIRE_AFTER = 10_000
"""Jobs after which a container is replaced."""
_NO_LIMIT = 1 << 40
_MOST_FOUND = 512 * MIB
"""Bytes of all files that are found in a directory."""


class Starter(Protocol):
    """The part of a level that its cells need; see level.Container."""

    def size(self, needed: Size | None = None) -> Size:
        """Return the size of containers to come, which is to hold `needed` from now on."""

    def start(self, setup: CellSetup, size: Size, slot: int) -> Box:
        """Start a container."""


class ContainerCell:
    """A warm container that runs one job at a time."""

    loopback = False

    def __init__(self, starter: Starter, setup: CellSetup, slot: int) -> None:
        """Start a container and wait until its cell has run a program.

        Raises NoIsolation if the engine or the image is at fault, else CellStartFailed.
        """
        self.jobs = 0
        self.odd = False
        self.killed = False  # not known in a container
        self._starter, self._setup, self._slot = starter, setup, slot
        self._closed = False
        self._size = starter.size()
        self._box = starter.start(setup, self._size, slot)
        self.isolation = self._box.isolation

    @property
    def spent(self) -> bool:
        """True if the cell should be replaced before its next job."""
        return self.odd or self.jobs >= RETIRE_AFTER

    def run(self, program: Program, stdin: bytes, limits: Limits) -> Execution:
        """Run a program once; `queue` of the result is 0. Raises CellDied."""
        source = program.encoded()
        self.reserve(size_for(limits, len(source) + len(stdin)))
        request = {"do": "run", "limits": crossing.limits_to_json(limits)}
        wall = crossing.longest(ContestClock(limits))
        self.jobs += 1
        return self.ask(
            request, [source, stdin], [limits.output] * 2, wall,
            lambda frame: crossing.execution_from(frame, self.isolation),
        )  # fmt: skip

    def run_script(
        self,
        script: Script,
        streams: Streams,
        limits: Limits,
        clock: Clock,  # noqa: ARG002
    ) -> Execution:
        """Run a program once: its input crosses as a whole before it starts, its output after."""
        stdin = streams.stdin
        try:
            data = stdin if isinstance(stdin, bytes) else memfile.to_end(stdin)
        finally:
            streams.close()
        source = script.program.encoded()
        self.reserve(size_for(limits, len(source) + len(data)))
        request = {
            "do": "script",
            "limits": crossing.limits_to_json(limits),
            "script": crossing.script_to_json(script),
        }
        self.jobs += 1
        done = self.ask(
            request, [source, data], [limits.output] * 2, crossing.longest(ContestClock(limits)),
            lambda frame: crossing.execution_from(frame, self.isolation),
        )  # fmt: skip
        if streams.on_output is not None:
            streams.on_output(1, done.stdout)
            streams.on_output(2, done.stderr)
        return done

    def execute(self, command: Command, streams: Streams, limits: Limits, clock: Clock) -> Finished:
        """Execute the image's own Python with arguments and files; nothing else crosses.

        Its disk limit is rounded up to a power of two: another limit takes another container.
        """
        streams.close()
        python = self._setup.interpreter.executable
        stdin = streams.stdin
        plain = isinstance(stdin, bytes) and streams.stdout is None and not streams.inherit
        if not plain or command.argv[0] != python or command.executable is not None:
            raise LevelLacks(
                "level container runs Python programs only, from start to end: its image has no"
                " compilers, and nothing but bytes crosses to it; use level namespaces or landlock"
            )
        assert isinstance(stdin, bytes)
        if limits.disk:
            limits = replace(limits, disk=1 << (limits.disk - 1).bit_length())
        files = crossing.packed(command.files)
        self.reserve(size_for(limits, len(files) + len(stdin)))
        request = {
            "do": "execute",
            "limits": crossing.limits_to_json(limits),
            "clock": crossing.clock_to_json(clock),
            "command": crossing.command_to_json(command, self._setup.packages),
        }
        self.jobs += 1
        return self.ask(
            request, [stdin, files], [limits.output, limits.output, command.most + MIB],
            crossing.longest(clock), lambda frame: crossing.finished_from(frame, self.isolation),
        )  # fmt: skip

    def run_in_directory(
        self, job: DirectoryJob, limits: Limits, stop: Stop, hear: JobListener
    ) -> DirectoryResult:
        """Run a program in a directory that is watched; `hear` is called only after its end."""
        header, parts = directory_crossing.request(job, limits)
        # The disk is mounted when a container starts: one size for programs that ask for little.
        self.reserve(size_for(limits, sum(map(len, parts))))
        self.jobs += 1
        box = self._box
        stop.when_set(box.stop)
        most = [limits.output, limits.output, _MOST_FOUND]
        worked, told = self.ask(
            header, parts, most, crossing.longest(ContestClock(limits)) + job.grace,
            lambda frame: directory_crossing.worked_from(frame, self.isolation),
        )  # fmt: skip
        events: list[FoundFile | ProgressLine] = [*told, *worked.interim]
        for each in sorted(events, key=lambda one: one.at):
            hear(each)
        return worked

    def serve(
        self, kind: Kind, program: Program, function: str, limits: Limits, clock: Clock
    ) -> "ContainerServing":
        """Load a program that is to take tests, under `clock`. Raises CellDied."""
        self.jobs += 1
        return ContainerServing(self, kind, program, function, limits, clock)

    def ask(
        self,
        request: Mapping[str, Any],
        parts: Sequence[bytes],
        most: Sequence[int],
        wall: float,
        decode: Callable[[Frame], T],
    ) -> T:
        """Send a request whose answer is due `wall` seconds later; return it. Raises CellDied."""
        try:
            frame = self._box.ask(request, parts, most, wall + GRACE)
            fields = Fields(frame.header)
            if "fault" in frame.header:
                raise CellDied(fields.text("message"))
            self.odd = self.odd or fields.flag("spent")
            return decode(frame)
        except BadFrame as error:
            self.odd = True
            raise CellDied(f"the container's answer makes no sense: {error}") from error
        except CellDied:
            self.odd = True
            raise

    def reserve(self, needed: Size) -> bool:
        """Replace the container if it does not hold `needed`; return whether it was replaced."""
        if self._size.holds(needed):
            return False
        self._size = self._starter.size(needed)
        self._box.close()
        if self._closed:
            raise CellDied("the cell was closed")
        try:
            self._box = self._starter.start(self._setup, self._size, self._slot)
        except ProctorError:
            self.odd = True
            raise
        if self._closed:  # kill() may have met the box before this one
            self._box.kill()
        self.isolation = self._box.isolation
        return True

    def runs(self) -> bool:
        return True  # what goes on inside cannot be seen from here

    def any_ending(self) -> bool:
        return False  # nor this

    def kill(self) -> None:
        """End the cell from any thread; whoever waits on it gets CellDied."""
        self._closed = True
        self._box.kill()

    def close(self) -> None:
        """End the cell and leave nothing of it behind."""
        self._closed = True
        self._box.close()


class ContainerServing:
    """A program loaded in a container's cell. Use as a context manager."""

    def __init__(
        self,
        cell: ContainerCell,
        kind: Kind,
        program: Program,
        function: str,
        limits: Limits,
        clock: Clock,
    ) -> None:
        """Load the program under `clock`. Raises CellDied."""
        self.alive = False
        self.unloadable: str | None = None
        self.load_limit: LimitHit | None = None
        self._cell, self._limits = cell, limits
        self._source, self._load_wall = program.encoded(), crossing.longest(clock)
        self._request = {
            "do": "load",
            "kind": int(kind),
            "function": function,
            "limits": crossing.limits_to_json(limits),
            "clock": crossing.clock_to_json(clock),
        }
        cell.reserve(size_for(limits, len(self._source)))
        self._load()

    def _load(self) -> None:
        self._cell.ask(self._request, [self._source], [], self._load_wall, self._loaded)

    def _loaded(self, frame: Frame) -> None:
        fields = Fields(frame.header)
        self.alive = fields.flag("alive")
        self.unloadable = fields.text_or_none("unloadable")
        self.load_limit = crossing.limit_from(fields, "load_limit")

    def test(self, given: bytes | int, clock: Clock) -> TestRun:
        """Run one test with this input. Raises CellDied. Afterwards `alive` may be False."""
        data = given if isinstance(given, bytes) else memfile.content(given, _NO_LIMIT)
        if self._cell.reserve(size_for(self._limits, len(self._source) + len(data))):
            # The input does not fit into the container the program was loaded in. In official
            # mode the program forgets what earlier tests left in it; there is no other way.
            self._load()
            if not self.alive:
                raise CellDied("a program that had been loaded did not load again")
        request = {"do": "test", "clock": crossing.clock_to_json(clock)}
        most = [self._limits.output] * 3
        return self._cell.ask(request, [data], most, crossing.longest(clock), self._tested)

    def _tested(self, frame: Frame) -> TestRun:
        self.alive = Fields(frame.header).flag("alive")
        return crossing.test_run_from(frame)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # An error may be about a test and not the cell, which is then used again.
        with contextlib.nullcontext() if kind is None else contextlib.suppress(CellDied):
            self._cell.ask({"do": "unload"}, [], [], 0.0, lambda _frame: None)
