"""The CPUs that this process may use."""

import os


def usable() -> list[int]:
    """Return their numbers in order; empty where the system does not tell."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def of_cell(slot: int) -> int | None:
    """Return the CPU for the agent of a pool's cell; None where there is no choice.

    Several processes with pools of few cells shall not all take the first CPU.
    """
    cpus = usable()
    return cpus[(os.getpid() + slot) % len(cpus)] if len(cpus) > 1 else None
