"""What nobody may ask for: what would be at the machine's expense, and what no cell can do."""

import os

from proctor.errors import InputError, LevelLacks
from proctor.limits import GIB, MIB, Limits

CPU = 24 * 3600.0
"""Seconds."""
OUTPUT = 256 * MIB
"""Bytes, which are held in memory."""
DISK = 4 * GIB
"""Bytes, which are memory too."""
PROCESSES = 4096


def physical_memory() -> int:
    """Bytes that this machine has."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not every system says
        return 64 * GIB


def check_level(what: str, *, only_python: bool) -> None:
    """Raise LevelLacks where cells run nothing but Python programs from start to end."""
    if only_python:
        raise LevelLacks(
            f"{what} not to be had at level container, which runs Python programs from start to"
            " end: use level namespaces or landlock"
        )


def check(limits: Limits) -> Limits:
    """Return limits that may be asked for. Raises InputError, naming the field."""
    for name, asked, most in (
        ("cpu", limits.cpu, CPU),
        ("wall", limits.wall or 0.0, 10 * CPU),
        ("memory", limits.memory, physical_memory()),
        ("output", limits.output, OUTPUT),
        ("disk", limits.disk, DISK),
        ("processes", limits.processes, PROCESSES),
        ("stack", limits.stack, physical_memory()),
    ):
        if asked > most:
            raise InputError(f"at most {most:g} here, not {asked:g}", field=f"limits.{name}")
    return limits
