"""Level `none`: the agent as an ordinary process. For development only; holds nothing."""

from collections.abc import Mapping
from typing import Any

from proctor.execution import GUARANTEES, Guarantee, Strength
from proctor.sandbox.backend import CellSetup, Launch, Start
from proctor.sandbox.levels import bare, guarantees
from proctor.sandbox.process_cell import ProcessCell


class Unsafe:
    """Agents as ordinary processes without any box."""

    level = "none"
    arrangement = ""
    private_files = True

    def open_cell(self, setup: CellSetup, slot: int) -> ProcessCell:
        return ProcessCell(self, setup, slot)

    def launch(self, setup: CellSetup, start: Start) -> Launch:
        config = bare.config(setup, "none")
        agent, scratch = bare.start_with_scratch(setup, start, config)
        return Launch(agent, config, scratch=scratch)

    def guarantees(
        self, hello: Mapping[str, Any], controls: frozenset[str]
    ) -> dict[str, Guarantee]:
        del hello
        nothing = Guarantee(Strength.NONE, "level none")
        pids = Guarantee(Strength.PARTIAL, "control group", "visible to one another")
        return {
            **dict.fromkeys(GUARANTEES, nothing),
            "processes": pids if "pids" in controls else nothing,
            "memory": guarantees.memory(controls, filtered=False),
            "cpu": guarantees.cpu(controls, filtered=False),
            "output": guarantees.OUTPUT,
        }
