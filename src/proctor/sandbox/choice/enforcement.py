"""Proof that a cell enforces the limits it names: jobs that overrun each, and must be stopped.

What a cell is refused, such as a namespace or a filter, the kernel says; but of what is measured
or set through files (/proc, control groups) only the effect tells whether it is this cell's.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from proctor.execution import Execution, Isolation, LimitHit, Strength
from proctor.limits import MIB, Limits
from proctor.program import Program

_WENT_ON = b"went on"
# A program that nobody stops ends by itself, after far more time than a late host takes to look.
_GO_ON = f"""
import os, time
while time.process_time() < 2: pass
os.write(2, {_WENT_ON!r})
"""
_ALLOCATE = "data = bytearray(b'x') * (48 << 20)\n"
_START = """
import _thread
lock = _thread.allocate_lock()
lock.acquire()
for _ in range(32): _thread.start_new_thread(lock.acquire, ())
"""
_WRITE = f"""
import os
for _ in range(16): os.write(1, bytes(4096))
os.write(2, {_WENT_ON!r})
"""


@dataclass(frozen=True, slots=True)
class Overrun:
    """A program that overruns a limit, and then says on stderr that it was not stopped."""

    guarantee: str
    """Name of the guarantee that the limit belongs to."""
    program: Program
    limits: Limits
    hit: LimitHit | None
    """The limit that must be reported; None if the program may also just fail."""


_OVERRUNS = (
    Overrun("cpu", Program(_GO_ON), Limits(cpu=0.05), LimitHit.CPU),
    Overrun("memory", Program(_ALLOCATE + _GO_ON), Limits(memory=32 * MIB), LimitHit.MEMORY),
    Overrun("processes", Program(_START + _GO_ON), Limits(processes=4), None),
    Overrun("output", Program(_WRITE), Limits(output=1024), LimitHit.OUTPUT),
)


def overruns(isolation: Isolation) -> Iterator[Overrun]:
    """Yield an overrun of each limit that a cell with these guarantees enforces."""
    for overrun in _OVERRUNS:
        named = isolation.guarantees.get(overrun.guarantee)
        if named is not None and named.strength is not Strength.NONE:
            yield overrun


def failure(overrun: Overrun, done: Execution) -> str | None:
    """Return why the guarantee is not in force, given how its overrun ended; None if it is."""
    seen = overrun.hit is None or done.limit is overrun.hit
    if seen and not done.ok and _WENT_ON not in done.stderr:
        return None
    how = done.isolation.guarantees[overrun.guarantee]
    return f"limits on {overrun.guarantee} ({how}) are not in force: an overrun ended: {done}"
