"""Level `landlock`: no namespaces. Landlock, a strict system call filter, limits and a keeper.

For where namespaces cannot be had: ordinary users of machines that forbid them (Linux 6.12 or
newer, whose Landlock scopes keep cells apart), and root in a usual container (any Landlock; cells
are kept apart by users of their own).
"""

import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proctor.errors import NoIsolation
from proctor.execution import Guarantee, Strength
from proctor.sandbox.backend import (
    SYSTEM_DIRECTORIES,
    SYSTEM_FILES,
    CellSetup,
    Launch,
    Start,
)
from proctor.sandbox.levels import bare, guarantees
from proctor.sandbox.machine import procfs, users
from proctor.sandbox.process_cell import ProcessCell

_STRANGERS = 512 + 64 * (os.cpu_count() or 1)
"""Number by which the user's other threads may grow before the cell dies and another counts again.

A fork bomb reaches this many processes before it is noticed; the more, the longer its end takes.
"""


class Landlock:
    """Agents as ordinary processes that restrict themselves by Landlock."""

    level = "landlock"

    def __init__(self) -> None:
        """Look whether cells can have users of their own. Raises NoIsolation if none is free."""
        try:
            own_users = users.claim()
        except BlockingIOError as error:
            raise NoIsolation(f"level landlock: {error.strerror}") from error
        self.arrangement = "own users" if own_users is not None else "scopes"
        self.private_files = own_users is None
        if own_users is not None:
            own_users.close()

    def open_cell(self, setup: CellSetup, slot: int) -> ProcessCell:
        return ProcessCell(self, setup, slot)

    def launch(self, setup: CellSetup, start: Start) -> Launch:
        if importlib.util.find_spec("proctor.cell._lockdown") is None:
            raise NoIsolation(
                "level landlock needs proctor's C part: install a C compiler and Python's headers,"
                " then reinstall proctor"
            )
        config = bare.config(setup, "landlock")
        config["readable"] = [
            *SYSTEM_DIRECTORIES, *SYSTEM_FILES, *setup.interpreter.directories, *setup.packages,
            *setup.directories,
        ]  # fmt: skip
        others = _tasks_of_user(os.geteuid()) + _STRANGERS
        if start.user is not None:
            config["uid"], config["guard"] = start.user.job, start.user.guard
            others = 0
        agent, scratch = bare.start_with_scratch(setup, start, config)
        return Launch(agent, config, kept=True, scratch=scratch, others=others)

    def guarantees(
        self, hello: Mapping[str, Any], controls: frozenset[str]
    ) -> dict[str, Guarantee]:
        apart = "a user of its own" if self.arrangement == "own users" else "Landlock scope"
        if self.arrangement == "own users" and hello["scope"]:
            apart += ", Landlock scope"
        bounded = "control group" if "pids" in controls else "RLIMIT_NPROC"
        gap = "others' process numbers, groups, users and start times can be seen by probing"
        if "pids" not in controls and self.arrangement == "scopes":
            gap += "; the limit is counted by sampling"
        return {
            "filesystem": Guarantee(
                Strength.PARTIAL, f"Landlock ABI {hello['landlock']}, seccomp",
                "whether a path exists, its owner, size and times, and where a link points can be"
                " seen; disk is bounded by looking",
            ),
            "network": Guarantee(Strength.FULL, "seccomp: no sockets but connected pairs"),
            "processes": Guarantee(Strength.PARTIAL, f"{apart}, {bounded}", gap),
            "signals": Guarantee(Strength.FULL, apart),
            "memory": guarantees.memory(controls),
            "cpu": guarantees.cpu(controls),
            "output": guarantees.OUTPUT,
            "kernel": Guarantee(Strength.FULL, "seccomp, strict"),
        }  # fmt: skip


def _tasks_of_user(uid: int) -> int:
    """Threads of this user now, as RLIMIT_NPROC counts them."""
    count = 0
    for process in (Path(f"/proc/{pid}") for pid in procfs.all_pids()):
        try:
            if process.stat().st_uid == uid:
                count += len(list((process / "task").iterdir()))
        except OSError:
            continue  # the process is gone, or not ours to look at
    return count
