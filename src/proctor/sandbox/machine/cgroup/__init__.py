"""A control group per cell: memory, processes and CPU time of everything in it.

`create` gives a v1 group, a v2 group, or None where the host lets us have neither; the cell then
falls back to per-process limits and sampling, and says so in its guarantees.
"""

import contextlib
import errno
import itertools
import os
from collections.abc import Iterator
from pathlib import Path

from proctor.sandbox.machine import procfs
from proctor.sandbox.machine.cgroup import homes
from proctor.sandbox.machine.cgroup.group import ENFORCED, PREFIX, Group, members
from proctor.sandbox.machine.cgroup.homes import own_groups
from proctor.sandbox.machine.cgroup.scope import ScopedGroup
from proctor.sandbox.machine.cgroup.v1 import CONTROLLERS, V1Group
from proctor.sandbox.machine.cgroup.v2 import V2Group

__all__ = ["ENFORCED", "Group", "V1Group", "V2Group", "create", "own_groups", "remedy", "sweep"]

_serial = itertools.count()


def create() -> Group | None:
    """Make a group for one cell; None where that is not possible."""
    me = os.getpid()
    owner = f"{me}-{procfs.start_time(me)}-{procfs.pid_namespace()}"
    name = f"{PREFIX}{owner}-{next(_serial)}"
    own = own_groups()
    if all(controller in own for controller in CONTROLLERS):
        names = (*CONTROLLERS, "cpu") if os.access(own.get("cpu", ""), os.W_OK) else CONTROLLERS
        with _passed_over():
            return V1Group({controller: own[controller] / name for controller in names})
    if "" not in own:
        return None
    places = homes.candidates(own[""])
    for home in places:
        with _passed_over(), homes.locked(home):
            if homes.ready(home, own[""]):
                return V2Group(home, name)
    with _passed_over():
        return ScopedGroup(name)
    for home in places[:1]:  # fewer controllers than one would like, but at least a clock
        with _passed_over():
            return V2Group(home, name)
    return None


@contextlib.contextmanager
def _passed_over() -> Iterator[None]:
    """Go on without a group if the host refuses one; raise if descriptors or memory ran out.

    Without raising, a passing shortage would weaken the cell's guarantees for its 10 000 jobs.
    """
    try:
        yield
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM):
            raise


def sweep() -> None:
    """Delete groups whose proctor is gone (kill -9 leaves them behind, empty)."""
    if not procfs.shows_us():
        return  # it cannot be seen whose they are
    own = own_groups()
    places = {home for controller, home in own.items() if controller}
    if "" in own:
        places.update(homes.candidates(own[""]))
    for home in places:
        homes.bury(home)
        leaf = home / homes.LEAF
        with contextlib.suppress(OSError):
            if leaf.is_dir() and not members(leaf):
                with homes.locked(home):
                    homes.dissolve(home)


def remedy() -> str:
    """Return what to do where `create` gives None, or a group without all controls."""
    if os.geteuid() == 0:
        return (
            "have /sys/fs/cgroup mounted writable; in a container, in a cgroup namespace of its own"
        )
    command = "systemd-run --user --scope --quiet --collect -p Delegate=yes proctor ..."
    if Path("/run/systemd/system").is_dir():
        if Path(f"/run/user/{os.geteuid()}/systemd/private").exists():
            return f"start proctor as: {command}"
        return f"have root run: loginctl enable-linger {os.geteuid()}; then start: {command}"
    return (
        "have root make you a control group: a directory of /sys/fs/cgroup that is yours, with its"
        " cgroup.procs and cgroup.subtree_control, in which you start proctor"
    )
