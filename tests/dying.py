"""Whether a process has ended, as far as its neighbours are concerned."""

from pathlib import Path

_EXITING = 0x4
"""PF_EXITING of proc(5): it has left its control group; a busy machine may keep it for a while."""


def dead(pid: int) -> bool:
    """Whether it is gone, waits to be reaped, or is past the last instruction of its program."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return True
    state, *fields = stat.rpartition(b") ")[2].split()
    return state in {b"Z", b"X"} or bool(int(fields[5]) & _EXITING)
