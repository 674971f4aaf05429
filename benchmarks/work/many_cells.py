"""Opens as many cells as a request says and runs one program in each; they stay, idle."""

import loop
import task

from proctor import Limits, Program
from proctor.sandbox.backend import CellSetup
from proctor.sandbox.choice import policy

choice = policy.choose()
setup = CellSetup(choice.interpreter)
cells = []


def job(wanted):
    while len(cells) < wanted:
        cells.append(choice.backend.open_cell(setup, len(cells)))
        done = cells[-1].run(Program(task.PROGRAM), task.STDIN.encode(), Limits())
        assert done.stdout == task.STDOUT.encode(), done


loop.serve(job)
