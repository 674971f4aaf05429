"""Limits on a program's use of resources, in seconds and bytes throughout."""

import os
from dataclasses import dataclass, fields
from functools import cache

from proctor.errors import InputError
from proctor.units import size_text

MIB = 1 << 20
GIB = 1 << 30
LEAST_MEMORY = 4 * MIB
"""Smallest memory limit, in bytes: with less a job's first process cannot even start."""
MOST_CPU = 24 * 3600.0
"""Most CPU seconds that a run may request; for wall seconds, ten times as many."""
MOST_OUTPUT = 256 * MIB
"""Most bytes of output that a run may request; they are held in memory."""
MOST_DISK = 4 * GIB
"""Most bytes of a working directory that a run may request; they are held in memory, too."""
MOST_PROCESSES = 4096


@dataclass(frozen=True, slots=True, repr=False)
class Limits:
    """Bounds on one execution, in seconds and bytes, over all processes that the program starts.

    Raises InputError when a bound is negative, zero where zero makes no sense, or not a number, and
    when memory is less than any program takes.
    """

    cpu: float = 10.0
    """CPU time in seconds, which decides verdicts: a busy machine does not use it up."""
    wall: float | None = None
    """Wall time in seconds; None for the load-tolerant safety net (`idle_allowance`)."""
    memory: int = GIB
    """Memory in bytes, of the whole process tree where a cgroup is available."""
    output: int = 64 * MIB
    """Output in bytes, of stdout and of stderr each."""
    processes: int = 64
    """Number of processes and threads alive at once."""
    disk: int = 0
    """Private scratch space in the working directory, in bytes; with 0 nothing is writable."""
    stack: int = 64 * MIB
    """Size of the main thread's C stack, in bytes."""
    loopback: bool = False
    """True to let it open TCP and UDP sockets on a loopback interface that nobody else has, and use
    a /dev/shm of its own, which counts as memory. Not for judged programs."""
    elapsed: float | None = None
    """Time computing and at rest together, in seconds, without what a busy machine makes it wait;
    None for no such limit. Not counted where the kernel does not tell waiting from resting."""
    locks: bool | None = None
    """True to let it lock files, as databases and build tools do; None: a session may, another run
    may not. Not for judged programs: a lock on a file that all see is a note to the others."""

    def __post_init__(self) -> None:
        for field in _BOUNDS:
            value = getattr(self, field)
            if value is None and field in _OPTIONAL:
                continue
            kinds = (int, float) if field in _SECONDS else int
            if isinstance(value, bool) or not isinstance(value, kinds):
                raise InputError(_wanted(field, value), field=f"limits.{field}")
            if not 0 <= value < float("inf"):
                raise InputError(f"must not be {_number(value)}", field=f"limits.{field}")
            if value > (most := _most(field)):
                what = f"must be at most {most:g}, not {_number(value)}"
                raise InputError(what, field=f"limits.{field}")
            if value < LEAST and field != "disk":
                raise InputError("must be more than zero", field=f"limits.{field}")
        if not isinstance(self.loopback, bool):
            raise InputError(
                f"must be true or false, not {self.loopback!r}", field="limits.loopback"
            )
        if self.locks is not None and not isinstance(self.locks, bool):
            raise InputError(f"must be true or false, not {self.locks!r}", field="limits.locks")
        if self.memory < LEAST_MEMORY:
            raise InputError(
                f"{self.memory} bytes cannot hold a program: it is counted in bytes, and must be at"
                f" least {LEAST_MEMORY}",
                field="limits.memory",
            )

    def __repr__(self) -> str:
        """Return the bounds that are not the usual ones, exactly."""
        changed = [
            _bound_text(each.name, getattr(self, each.name))
            for each in fields(self)
            if getattr(self, each.name) != each.default
        ]
        return f"<Limits {', '.join(changed) or 'as usual'}>"

    @property
    def idle_allowance(self) -> float:
        """Longest time spent neither computing nor waiting for a CPU, in seconds."""
        return max(2 * self.cpu, 5.0)

    @property
    def wall_backstop(self) -> float:
        """Wall time after which a program is stopped on however busy a machine, in seconds."""
        return max(20 * self.cpu, 60.0)


_SECONDS = ("cpu", "wall", "elapsed")
_OPTIONAL = ("wall", "elapsed")
_BYTES = ("memory", "output", "disk", "stack")
_BOUNDS = (*_SECONDS, *_BYTES, "processes")


LEAST = 1e-6
"""Least seconds of a limit; whole numbers have at least 1."""


def _most(field: str) -> float:
    """Return what a bound may be: beyond it there is a mistake, or something overflows."""
    return 1e7 if field in _SECONDS else 1 << (60 if field in _BYTES else 22)


def _number(value: float) -> str:
    try:
        return str(value)
    except ValueError:
        return "a number of thousands of digits"


def _wanted(field: str, value: object) -> str:
    if field in _SECONDS:
        return f"must be a number of seconds, not {value!r}; write {field}=2.0"
    unit = "bytes" if field in _BYTES else field
    example = "256 << 20" if field in _BYTES else "8"
    return f"must be a whole number of {unit}, not {value!r}; write {field}={example}"


def _bound_text(field: str, value: float | None) -> str:
    if field in _BYTES and isinstance(value, int) and value:
        return f"{field} {size_text(value)}"
    return f"{field} {value!r} s" if field in _SECONDS and value is not None else f"{field} {value}"


LIMITS_HINT = "; write Limits(cpu=2.0), in seconds"
"""End of the message for an argument that should be Limits but is not."""
TEST_LIMITS = Limits(cpu=6.0)
"""Limits of one test where neither problem nor caller states any: lcb_runner's six seconds, as CPU
time, and a gibibyte."""


@cache
def physical_memory() -> int:
    """Return the bytes of memory that this machine has."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not known on every system
        return 64 * GIB


def check_limits(limits: Limits) -> Limits:
    """Return the limits if none is too high. Raises InputError, naming the field, otherwise."""
    for name, asked, most in (
        ("cpu", limits.cpu, MOST_CPU),
        ("wall", limits.wall or 0.0, 10 * MOST_CPU),
        ("memory", limits.memory, physical_memory()),
        ("output", limits.output, MOST_OUTPUT),
        ("disk", limits.disk, MOST_DISK),
        ("processes", limits.processes, MOST_PROCESSES),
        ("stack", limits.stack, physical_memory()),
    ):
        if asked > most:
            raise InputError(f"at most {most:g} here, not {asked:g}", field=f"limits.{name}")
    return limits
