"""A cell on this machine, in a box that we start ourselves."""

from proctor.cell.wire import Kind
from proctor.execution import Execution
from proctor.limits import Limits
from proctor.program import Program
from proctor.sandbox.agent_cell import AgentCell
from proctor.sandbox.clock import Clock
from proctor.sandbox.command import Command, Finished, Streams
from proctor.sandbox.execute import execute, execute_command
from proctor.sandbox.serving import AgentServing
from proctor.sandbox.stop import Stop
from proctor.sandbox.work import work
from proctor.sandbox.workplace import Hear, Job, Worked


class LocalCell(AgentCell):
    """What agent cells can do, under the names of the Cell protocol."""

    def run(self, program: Program, stdin: bytes, limits: Limits) -> Execution:
        """Run a program once; `queue` of the result is 0. Raises CellDied."""
        return execute(self, program, stdin, limits)

    def execute(self, command: Command, streams: Streams, limits: Limits, clock: Clock) -> Finished:
        """Execute a program that is not the cell's Python. Raises CellDied and NoIsolation."""
        return execute_command(self, command, streams, limits, clock)

    def work(self, job: Job, limits: Limits, stop: Stop, hear: Hear) -> Worked:
        """Run a program in a directory that is looked into. Raises CellDied and NoIsolation."""
        return work(self, job, limits, stop, hear)

    def serve(
        self, kind: Kind, program: Program, function: str, limits: Limits, clock: Clock
    ) -> AgentServing:
        """Load a program that is to take tests, under `clock`. Raises CellDied."""
        return AgentServing(self, kind, program, function, limits, clock)
