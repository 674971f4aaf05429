"""Groups for an ordinary user who may not change his own group: scopes of his systemd.

A process in a login session may not move into the part of the hierarchy that the user's manager
has; but the manager can move it. So each cell is started through `systemd-run --user --scope`.
This is done only within the user's own slice, and only if no group below that slice has a memory
limit: no process leaves a limit this way, and a batch system's job or a system service stays where
it is.
"""

import contextlib
import os
import subprocess
import threading
from functools import cache
from pathlib import Path

from proctor.sandbox.levels.launcher import SCOPE, scope_command
from proctor.sandbox.machine.cgroup.group import ENFORCED
from proctor.sandbox.machine.cgroup.homes import MANAGER_PATIENCE, lineage, own_groups
from proctor.sandbox.machine.cgroup.v2 import V2Group

_LOOK = 'read -r line < /proc/self/cgroup && cat "$1${line#0::}/cgroup.controllers"'
_broken: set[int] = set()
"""Our pid, if a scope failed us."""


class ScopedGroup(V2Group):
    """A group inside a scope that the user's systemd makes when the cell is launched."""

    kind = "cgroup v2, a systemd scope per cell"

    def __init__(self, name: str) -> None:
        """Raises OSError where the user's systemd makes no scopes."""
        super(V2Group, self).__init__()
        if os.getpid() in _broken or not _works():
            raise OSError("no scopes")
        self._name = name
        self._asked = self._entered = False
        self.controls = frozenset({"cpu"}) | ENFORCED

    def join_files(self) -> list[str]:
        self._asked = True
        return [f"{SCOPE}{self._name}"]

    def holds(self, pid: int) -> bool:
        try:
            self._home = _group_of(pid)
            if self._home.parent.name == f"{self._name}.scope":
                self._take()
                self._entered = self.controls >= ENFORCED
        except OSError:
            self._entered = False
        return self._entered

    def pids(self) -> list[int]:
        return super().pids() if self._entered else []  # before that, no group is known to be ours

    def remove(self) -> None:
        if self._entered:
            super().remove()  # the empty scope is collected by systemd
            return
        self._close()
        if self._asked:
            _broken.add(os.getpid())  # the cell did not start; the next one goes without


@cache
def _works() -> bool:
    """Return whether the user's systemd makes a scope with all controllers, tried once."""
    user = os.geteuid()
    own = own_groups().get("")
    if user == 0 or own is None or f"user-{user}.slice" not in own.parts:
        return False
    if any(_bounded(group) for group in lineage(own) if f"user-{user}.slice" in group.parent.parts):
        return False
    if not Path(f"/run/user/{user}/systemd/private").exists():
        return False
    command, environment = scope_command(f"proctor-probe-{os.getpid()}-{threading.get_native_id()}")
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run(
            [*command, "/bin/sh", "-c", _LOOK, "sh", str(lineage(own)[-1])], env=environment,
            check=False, stdin=subprocess.DEVNULL, capture_output=True, timeout=MANAGER_PATIENCE,
        )  # fmt: skip
        return done.returncode == 0 and set(done.stdout.decode().split()) >= ENFORCED
    return False


def _bounded(group: Path) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return (group / "memory.max").read_text() != "max\n"
    return False


def _group_of(pid: int) -> Path:
    for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        if line.startswith("0::"):
            return lineage(own_groups()[""])[-1] / line.removeprefix("0::/")
    raise FileNotFoundError(f"process {pid} has no v2 group")
