"""Processes, control groups and mounts that a proctor has left behind."""

import os
import re
import time
from pathlib import Path

from proctor.sandbox.machine import cgroup


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


def eventually_none(pid: int) -> list[str]:
    """Cells die with their host, but the kernel takes its time on a busy machine."""
    deadline = time.monotonic() + 60
    while (left := processes_of(pid)) and time.monotonic() < deadline:
        os.sched_yield()
    return left


def proctor_mounts() -> list[str]:
    text = Path("/proc/mounts").read_text()
    return [line for line in text.splitlines() if re.search(r"proctor|bubblewrap|/newroot", line)]
