"""The idle time of a job, told apart from load. Pure: looks in, seconds out.

The kernel tells how long each living task has waited for a CPU, but forgets it when the task ends.
So what remains of the wall time without CPU time and known waits is not all idle: it may have
been the wait of a thread or child that is gone. Therefore idle time is charged only at a moment at
which the whole job was seen at rest, nothing in it running, runnable or held up in the kernel:

- if no task has ended since it was last seen so, all waits are known, and the rest of the time was
  idle, to the nanosecond;
- if one has, only the time since the look before is charged, and no more than was meant to lie
  between the two: a host that was late to look knows nothing of the waits in all that time. A
  program whose tasks come and go but of which one always works is never seen at rest and never
  charged, however busy the machine; one that sleeps is, nearly always.
"""

import math
from dataclasses import dataclass, field

from proctor.sandbox.machine.procfs import Tasks

_NOTHING = 20e-6
"""CPU seconds that two clocks may differ by: one of them counts in microseconds."""


@dataclass(frozen=True, slots=True)
class JobSnapshot:
    """A job at one moment."""

    wall: float = 0.0
    """Time since it began, in seconds."""
    cpu: float = 0.0
    """CPU time of all its tasks, ended ones included, in seconds."""
    tasks: Tasks = field(default_factory=dict)
    """The tasks that live."""

    @property
    def at_rest(self) -> bool:
        """True if there is something in the job, and nothing in it works or waits to work."""
        return bool(self.tasks) and all(task.at_rest for task in self.tasks.values())

    @property
    def ended_cpu(self) -> float:
        """CPU seconds of tasks that have ended. Exact while nothing runs."""
        return self.cpu - sum(task.cpu for task in self.tasks.values()) / 1e9


class Idleness:
    """Adds up the idle time of one job, look by look."""

    def __init__(self, tasks: Tasks | None = None) -> None:
        """Begin with these tasks, whose past does not count."""
        self.seconds = 0.0
        self._rested = self._latest = self._settled = JobSnapshot(tasks=tasks or {})

    def add(self, look: JobSnapshot, *, at_rest: bool, at_most: float = math.inf) -> None:
        """Add a look. `at_rest`: nothing has run during it, and nothing wanted to.

        `at_most`: seconds to charge, at most, where a task has ended and its waits are not known.
        """
        if at_rest:
            if _none_ended(self._rested, look):
                self.seconds += _unexplained(self._rested, look)
            else:
                self.seconds += min(_unexplained(self._latest, look), at_most)
            self._rested = look
        self._latest = look
        if at_rest or not look.at_rest:  # else it rested, but woke while it was looked at
            self._settled = look

    def at_end(self, look: JobSnapshot) -> float:
        """Return the idle seconds up to a look at an ended program, during which nothing ran.

        That it rests now tells nothing of the time before. So that time counts only if all waits
        in it are known, and only since idle time was last charged or the program seen to work.
        """
        if not _none_ended(self._rested, look):
            return self.seconds
        return self.seconds + _unexplained(self._settled, look)


def _none_ended(since: JobSnapshot, now: JobSnapshot) -> bool:
    """Return whether no task that has run since then has ended."""
    grown = now.ended_cpu - since.ended_cpu
    return since.tasks.keys() <= now.tasks.keys() and abs(grown) < _NOTHING


def _unexplained(since: JobSnapshot, now: JobSnapshot) -> float:
    """Return the seconds in which the job neither ran nor, as far as is known, waited for a CPU."""
    waited = 0
    for name, task in now.tasks.items():
        before = since.tasks.get(name)
        waited += max(task.waited - (before.waited if before is not None else 0), 0)
    return max(now.wall - since.wall - (now.cpu - since.cpu) - waited / 1e9, 0.0)
