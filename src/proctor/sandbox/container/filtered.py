"""Cells in a container that permits nothing stronger: the container's walls and proctor's filter.

Not a level of its own: see guarantees.py for what it makes of the container.
"""

from collections.abc import Mapping
from typing import Any

from proctor.errors import CellStartFailed
from proctor.execution import GUARANTEES, Guarantee, Strength
from proctor.sandbox.backend import CellSetup, Launch, Start
from proctor.sandbox.levels import bare, guarantees

LEVEL = "filter"


class Filtered:
    """Agents as ordinary processes under a system call filter."""

    level = LEVEL

    def launch(self, setup: CellSetup, start: Start) -> Launch:
        return Launch(bare.start_agent(setup, start), bare.config(setup, LEVEL))

    def guarantees(
        self, hello: Mapping[str, Any], controls: frozenset[str]
    ) -> dict[str, Guarantee]:
        if not hello["seccomp"]:
            raise CellStartFailed("the image lacks proctor's C part")
        nothing = Guarantee(Strength.NONE, "no wall but the container's")
        return {
            **dict.fromkeys(GUARANTEES, nothing),
            "network": Guarantee(Strength.FULL, "seccomp: no sockets but connected pairs"),
            "memory": guarantees.memory(controls),
            "cpu": guarantees.cpu(controls),
            "output": guarantees.OUTPUT,
            "kernel": Guarantee(Strength.FULL, "seccomp, strict"),
        }
