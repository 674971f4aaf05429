"""Sizes of containers, made to fit the jobs that run in them."""

from dataclasses import dataclass

from proctor.limits import MIB, Limits
from proctor.sandbox.cell import lacks_loopback

WORK = "/box/work"
"""Mount point of a job's disk, if it has any."""
HEADROOM = 256 * MIB
"""Memory for the warm agent, proctor's own process in the container, and work on its way."""
OWN_PROCESSES = 16
"""Processes and threads of the box's own, as the engine counts them."""


@dataclass(frozen=True, slots=True)
class Size:
    """Resources that a container was started with; jobs that need more need another container."""

    memory: int
    processes: int
    disk: int = 0

    def holds(self, other: "Size") -> bool:
        """Return whether a container of this size is enough where `other` is needed."""
        large = self.memory >= other.memory and self.processes >= other.processes
        return large and self.disk == other.disk  # no more is to be writable than was asked for

    def joined(self, other: "Size") -> "Size":
        """The least size that holds both; the disk is the other's."""
        memory, processes = max(self.memory, other.memory), max(self.processes, other.processes)
        return Size(memory, processes, other.disk)


def size_for(limits: Limits, payload: int = 0) -> Size:
    """Return the size that a job with these limits and so many bytes of input needs.

    Its input is held twice while it runs. Half of the headroom is for that; larger inputs get room
    of their own, rounded up to a power of two, so that few containers are outgrown. Its outputs are
    held four times after its end, when its own memory is free again. Raises NoIsolation for a
    loopback interface, which would be the container's and last longer than the job.
    """
    if limits.loopback:
        raise lacks_loopback("container")
    room = HEADROOM if 4 * payload <= HEADROOM else HEADROOM + (1 << (2 * payload).bit_length())
    memory = max(limits.memory, 4 * limits.output) + limits.disk + room
    return Size(memory, limits.processes + OWN_PROCESSES, limits.disk)
