"""One judgement to be made, in the cell it is made in."""

from dataclasses import dataclass

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

    def serve(self, kind: Kind, clock: Clock) -> Serving:
        """Load the program into the cell. Raises CellDied."""
        function = self.problem.function or ""
        return self.cell.serve(kind, self.program, function, self.settings.limits, clock)

    def run_test(self, serving: Serving, test: Test, clock: Clock) -> TestRun:
        """Give a loaded program one test. Raises CellDied."""
        with self.inputs.open(test) as given:
            return serving.test(given, clock)
