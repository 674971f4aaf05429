"""Processes, control groups and mounts that a proctor has left behind."""

import re
from pathlib import Path

from proctor.sandbox.machine import cgroup
from waiting import until_none


def groups_of(pid: int) -> list[Path]:
    """Control groups that the proctor of that number made."""
    return [
        path for home in set(cgroup.own_groups().values()) for path in home.glob(f"proctor-{pid}-*")
    ]


def processes_of(pid: int) -> list[str]:
    """What belongs to cells of the proctor of that number: by group, or by a uid only it gives."""
    uid = 0x70000000 | ((pid << 6) & 0x0FFFFFFF)
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            status = (entry / "status").read_text()
            text = (entry / "cgroup").read_text() + (entry / "cmdline").read_text()
        except OSError:
            continue
        owner = int(re.search(r"^Uid:\t(\d+)", status, re.MULTILINE)[1])  # type: ignore[index]
        alive = not re.search(r"^State:\t[ZX]", status, re.MULTILINE)
        if alive and (f"proctor-{pid}-" in text or owner & ~63 == uid):
            found.append(f"{entry.name}: {text!r}")
    return found


def until_nothing_is_left(pid: int) -> None:
    """Cells die with their host, but the kernel takes its time on a busy machine."""
    until_none(lambda: processes_of(pid))


def proctor_mounts() -> list[str]:
    text = Path("/proc/mounts").read_text()
    return [line for line in text.splitlines() if re.search(r"proctor|bubblewrap|/newroot", line)]
