"""The guarantees that do not depend on the box: they come from control groups, or from sampling."""

from proctor.execution import Guarantee, Strength

OUTPUT = Guarantee(Strength.FULL, "RLIMIT_FSIZE on memory files")


def memory(controls: frozenset[str], *, filtered: bool = True) -> Guarantee:
    """Return how the memory of a program's whole process tree is bounded.

    `filtered` says whether seccomp refuses what neither a control group nor sampling would see.
    """
    if "memory" in controls:
        return Guarantee(Strength.FULL, "control group")
    gap = "what is used between two samples (0.02 to 0.25 s); buffers of pipes and sockets"
    if not filtered:
        gap += "; memory files"
    return Guarantee(Strength.PARTIAL, "sampling of the process tree, RLIMIT_AS", gap)


def cpu(controls: frozenset[str], *, filtered: bool = True) -> Guarantee:
    """Return how CPU time is counted; `filtered` as for memory."""
    if "cpu" in controls:
        return Guarantee(Strength.FULL, "control group")
    how = "clocks of all processes, ended ones included"
    gap = "processes that come and go faster than they can be looked at count late"
    if not filtered:
        gap += "; children of who ignores SIGCHLD do not count"
    return Guarantee(Strength.PARTIAL, how, gap)


def processes(how: str, controls: frozenset[str]) -> Guarantee:
    """Return how processes are kept apart (`how`) and their number bounded."""
    return Guarantee(
        Strength.FULL, f"{how}, {'control group' if 'pids' in controls else 'RLIMIT_NPROC'}"
    )
