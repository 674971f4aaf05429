"""The CPUs that this process may use."""

import os
import platform
import re
from functools import cache
from pathlib import Path


def usable() -> list[int]:
    """Return the numbers of usable CPUs in order; empty where the system does not tell."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def of_cell(slot: int | None) -> int | None:
    """Return the CPU for the agent of a pool's cell; None if it has no slot, or no choice.

    Starts at a CPU that depends on the process id, so that pools in several processes, with few
    cells each, do not all take the first CPU.
    """
    cpus = usable()
    if slot is None or len(cpus) < 2:
        return None
    return cpus[(os.getpid() + slot) % len(cpus)]


@cache
def model() -> str:
    """Return the model of the first CPU, such as `AMD EPYC 7B13`; empty if the system hides it."""
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8", "replace")
    except OSError:
        return platform.processor()
    found = re.search(r"^(?:model name|cpu model|CPU part)\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1].strip() if found else platform.machine()
