"""Programs of a session that run while the session is used for other things."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from proctor.execution import Execution
from proctor.sandbox.programs import Programs, Running
from proctor.shown import shown


@dataclass(frozen=True, slots=True, repr=False)
class Background:
    """A program that runs on while its session does other things; made by `Session.start`.

    All methods raise SessionEnded once the session is over.
    """

    _call: Callable[[Callable[[Programs], Any]], Any]
    _running: Running

    def __repr__(self) -> str:
        return shown(self, "ended" if self._running.notice is not None else "running")

    def poll(self) -> Execution | None:
        """Return the facts of the program's run if it has ended."""
        execution: Execution | None = self._call(lambda programs: programs.poll(self._running))
        return execution

    def wait(self) -> Execution:
        """Wait for the program's end; CPU and wall limits count from this call on."""
        execution: Execution = self._call(lambda programs: programs.watch(self._running))
        return execution

    def kill(self) -> Execution:
        """End the program with all that it has started; return the facts of its run."""

        def end(programs: Programs) -> Execution:
            programs.kill(self._running)
            return programs.finish(self._running)

        execution: Execution = self._call(end)
        return execution

    @property
    def stdout(self) -> bytes:
        """Bytes that the program has written to stdout so far."""
        output: bytes = self._call(lambda _: self._running.output(1))
        return output

    @property
    def stderr(self) -> bytes:
        """Bytes that the program has written to stderr so far."""
        output: bytes = self._call(lambda _: self._running.output(2))
        return output
