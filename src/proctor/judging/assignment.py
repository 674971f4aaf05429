"""One judgement to be made, in the cell it is made in."""

from dataclasses import dataclass, replace

from proctor.cell.wire import Kind
from proctor.judging.inputs import Inputs
from proctor.judging.settings import JudgeSettings
from proctor.problem import Problem, Test
from proctor.program import Program
from proctor.sandbox.cell import Cell, Serving, TestRun
from proctor.sandbox.clock import Clock


@dataclass(frozen=True, slots=True)
class Assignment:
    """A program, its problem and how to judge it, for either mode."""

    cell: Cell
    problem: Problem
    program: Program
    settings: JudgeSettings
    inputs: Inputs

    def serve(self, kind: Kind, clock: Clock, disk: int = 0) -> Serving:
        """Load the program into the cell, with so many bytes of disk that its tests share.

        Raises CellDied, and NoIsolation where there is no disk.
        """
        function, limits = self.problem.function or "", self.settings.limits
        if disk:
            limits = replace(limits, disk=disk)
        return self.cell.serve(kind, self.program, function, limits, clock)

    def run_test(self, serving: Serving, test: Test, clock: Clock) -> TestRun:
        """Give a loaded program one test. Raises CellDied."""
        with self.inputs.open(test) as given:
            return serving.test(given, clock)
