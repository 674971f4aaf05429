"""The interface of a cell, however it is boxed."""

from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from proctor.cell.wire import Kind
from proctor.errors import NoIsolation
from proctor.execution import Execution, Isolation, LimitHit
from proctor.limits import Limits
from proctor.program import Program
from proctor.sandbox.clock import Clock
from proctor.sandbox.command import Command, Finished, Script, Streams
from proctor.sandbox.directory_job import DirectoryJob, DirectoryResult, JobListener
from proctor.sandbox.stop import Stop


@dataclass(frozen=True, slots=True)
class TestRun:
    """The facts of one test."""

    __test__ = False  # not a pytest class

    exit_code: int | None
    """Exit code; None if a signal ended it, it never answered, or it raised."""
    signal: int | None
    stdout: bytes
    """Output; in official mode, the value returned or text printed, as lcb_io encodes it."""
    stderr: bytes
    result: bytes
    """Encoded return value of a function; empty if it did not get that far."""
    raised: str | None
    """Repr of the exception that ended the test, in official mode."""
    harness_failure: str | None
    """Failure that lcb_runner's own code would have had, in official mode."""
    cpu: float
    wall: float
    memory: int
    limit: LimitHit | None


class Serving(Protocol):
    """A program loaded in a cell, taking tests. Use as a context manager."""

    alive: bool
    """True while it can take a test; if it never could, one of the next two fields may say why."""
    unloadable: str | None
    """The fault of the program's source; None if it has been loaded."""
    load_limit: LimitHit | None
    """The limit that loading the program hit, if it hit one."""

    def test(self, given: bytes | int, clock: Clock) -> TestRun:
        """Run one test. Raises CellDied. Afterwards `alive` may be False.

        `given` is its input, or a descriptor of a file that holds it, at its start.
        """

    def __enter__(self) -> Self:
        """Do nothing."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the program and all it started."""


def lacks_loopback(level: str) -> NoIsolation:
    """Return the error for a program that asks for a loopback interface where there is none."""
    return NoIsolation(
        f"limits.loopback: this cell (level {level}) cannot give a program a loopback interface of"
        " its own, which takes level namespaces with a user namespace, Linux 5.14 and proctor's C"
        " part: ask for none"
    )


class Cell(Protocol):
    """A warm sandbox that runs one job at a time, driven by one thread at a time."""

    isolation: Isolation
    loopback: bool
    """True if it can give a program a loopback interface of its own."""
    odd: bool
    """Set at the first sign of trouble; the pool then replaces the cell."""
    killed: bool
    """Set when a program that takes tests was ended by a SIGKILL that no limit explains: its own,
    or that of the machine's out-of-memory killer, or of a person."""

    @property
    def spent(self) -> bool:
        """True if the cell should be replaced before its next job."""

    def run(self, program: Program, stdin: bytes, limits: Limits) -> Execution:
        """Run a program once; `queue` of the result is 0. Raises CellDied."""

    def run_script(
        self, script: Script, streams: Streams, limits: Limits, clock: Clock
    ) -> Execution:
        """Run a program once, with arguments and streams that may be a terminal's.

        The descriptors in `streams` are closed. Raises CellDied.
        """

    def execute(self, command: Command, streams: Streams, limits: Limits, clock: Clock) -> Finished:
        """Execute a program that is not the cell's Python, closing the descriptors in `streams`.

        Raises CellDied, and NoIsolation where this cannot be done.
        """

    def run_in_directory(
        self, job: DirectoryJob, limits: Limits, stop: Stop, hear: JobListener
    ) -> DirectoryResult:
        """Run a program in a directory that is watched; `hear` is called from another thread.

        Raises CellDied, and NoIsolation where this cannot be done.
        """

    def serve(
        self, kind: Kind, program: Program, function: str, limits: Limits, clock: Clock
    ) -> Serving:
        """Load a program that is to take tests, under `clock`. Raises CellDied."""

    def runs(self) -> bool:
        """Return whether any process of the job in it runs, or waits for nothing but a CPU."""

    def any_ending(self) -> bool:
        """Return whether any process of the job in it is ending, and may have files to close."""

    def kill(self) -> None:
        """End the cell from any thread; whoever waits on it gets CellDied."""

    def close(self) -> None:
        """End the cell and leave nothing of it behind."""
