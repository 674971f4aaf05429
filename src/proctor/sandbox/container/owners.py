"""Labels of a container's owner, to find and remove the containers of a killed proctor.

Containers end by themselves when their proctor does; this is for engines that lost track of one.
"""

import os
import platform
import sys
from pathlib import Path

from proctor.sandbox.container.engine import ContainerEngine
from proctor.sandbox.machine import procfs

OWNER, HOST = "proctor.owner", "proctor.host"


def labels() -> list[str]:
    """Return the options of a run command that name this process as the owner."""
    return ["--label", f"{OWNER}={_owner(os.getpid())}", "--label", f"{HOST}={_host()}"]


def _owner(pid: int) -> str:
    return f"{pid}-{_start(pid)}"


def _start(pid: int) -> int | None:
    """Return a number that tells apart processes of one id; None if there is no such process."""
    return procfs.start_time(pid)


def _host() -> str:
    """Return a name for this PID namespace: an engine may serve several machines."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}-{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return platform.node() or "unknown"


def sweep(engine: ContainerEngine) -> list[str]:
    """Remove containers of dead proctors of this host; return their names.

    On Linux only, where a process id comes with its time of start, and with our own /proc.
    """
    if sys.platform != "linux" or not procfs.shows_us():
        return []
    label = f'.Label "{OWNER}"' if engine.kind == "docker" else f'index .Labels "{OWNER}"'
    form = "{{.Names}}\t{{" + label + "}}"
    listed = engine.call("ps", "--all", "--filter", f"label={HOST}={_host()}", "--format", form)
    dead = []
    for line in listed.stdout.splitlines():
        name, _, owner = line.partition("\t")
        pid = owner.partition("-")[0]
        if pid.isdigit() and owner != _owner(int(pid)):
            dead.append(name)
    if dead:
        engine.call("rm", "--force", *dead)
    return dead
