"""A request to solve, and the limits and variables that its program gets."""

import math
import os
from dataclasses import dataclass
from typing import Any

from proctor.errors import InputError
from proctor.limits import MIB, Limits
from proctor.sandbox.pool import available_cpus
from proctor.solver import strict_json
from proctor.solver.envelope import SolveRefused
from proctor.solver.profile import Profile

_DEEPEST_INPUT = 256
_PROCESSES = 128


@dataclass(frozen=True, slots=True)
class SolveRequest:
    """One run. Raises InputError for a timeout, number of workers or seed out of range."""

    code: str | bytes
    """The program, as received."""
    given: bytes
    """The input, as JSON."""
    profile: Profile
    timeout: float | None = None
    """Wall seconds; None for EXECUTOR_TIMEOUT_SECONDS, else the profile's limit."""
    workers: int | None = None
    """Threads; None for SOLVER_WORKERS, else one less than there are CPUs."""
    seed: int = 42
    deterministic: bool = False
    """True if the program is to use one thread and be repeatable."""
    roundtrip: bool = False
    """True if the profile's own model must confirm a solution."""
    reference: bytes | None = None
    """Data that only the validator sees, as JSON."""
    job_id: str = ""
    """Id of the run; empty to have one made."""

    def __post_init__(self) -> None:
        most = float(self.profile.limits.max_wall)
        if self.timeout is not None and not 0 < self.timeout <= most:
            raise InputError(f"must be more than 0 and at most {most:g} seconds", field="timeout")
        if self.workers is not None and self.workers < 1:
            raise InputError("must be at least 1", field="workers")
        if not 0 <= self.seed < 1 << 31:
            raise InputError("must be from 0 to 2147483647", field="seed")


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """The steps in which a run is ended, in wall seconds, each later than the one before."""

    inner: float
    """Time that the program is told; by then it should end by itself."""
    wall: float
    """Time at which it gets SIGINT."""
    grace: float
    """Time after that at which all its processes are killed."""

    @property
    def transport(self) -> float:
        """Time for which a client should wait for the answer."""
        return self.wall + self.grace + 5.0


def time_limits(request: SolveRequest) -> TimeLimits:
    """Return the limits on time. Raises InputError for a bad variable of the environment."""
    wall = request.timeout
    if wall is None:
        wall = _number("EXECUTOR_TIMEOUT_SECONDS") or float(request.profile.limits.wall)
        wall = min(wall, float(request.profile.limits.max_wall))
    inner = min(max(1.0, wall - max(1.0, 0.05 * wall)), 0.9 * wall)
    return TimeLimits(inner, wall, float(request.profile.limits.grace))


def workers(request: SolveRequest) -> int:
    """Return how many threads the program is told to use: never more than there are CPUs.

    Raises InputError for a bad variable of the environment.
    """
    low, high = request.profile.limits.workers
    cpus = available_cpus()
    wanted = request.workers or _number("SOLVER_WORKERS") or cpus - 1
    if request.deterministic:
        wanted = 1
    return max(min(math.floor(wanted), high, cpus), low)


def limits(request: SolveRequest, times: TimeLimits, threads: int) -> Limits:
    """Return the limits on the program. Wall time ends it: CPU time is never the first limit."""
    bounds = request.profile.limits
    needed = int(bounds.disk) + len(request.given) + len(request.code) + MIB
    return Limits(
        cpu=(times.wall + times.grace) * (threads + 1) * 2,
        wall=times.wall,
        memory=int(bounds.memory),
        output=int(bounds.output),
        processes=threads + (bounds.processes or max(_PROCESSES, 2 * (os.cpu_count() or 1))),
        disk=1 << (needed - 1).bit_length(),  # a power of two, so that few containers are outgrown
    )


def in_force(times: TimeLimits, limits: Limits) -> dict[str, float]:
    """Return the limits in force, as the envelope states them."""
    return {
        "innerSeconds": times.inner,
        "wallSeconds": times.wall,
        "graceSeconds": times.grace,
        "transportSeconds": times.transport,
        "memoryBytes": limits.memory,
        "diskBytes": limits.disk,
        "outputBytes": limits.output,
        "processes": limits.processes,
    }


def environment(request: SolveRequest, times: TimeLimits, threads: int) -> dict[str, str]:
    """Return the program's environment variables."""
    found = {
        **request.profile.environment,
        "EXECUTOR_TIMEOUT_SECONDS": f"{times.wall:g}",
        "SOLVER_MAX_SECONDS": f"{times.inner:g}",
        "SOLVER_WORKERS": str(threads),
        "SOLVER_RANDOM_SEED": str(request.seed),
        "SOLVER_MAX_MEMORY_MB": str(int(request.profile.limits.memory) // MIB),
        "SOLVER_PROGRESS_FD": "3",
        "PYTHONUNBUFFERED": "1",
    }
    if request.deterministic:
        found |= {"SOLVER_DETERMINISTIC": "1", **request.profile.deterministic_environment}
    return found


def decoded(request: SolveRequest) -> tuple[Any, Any]:
    """Return the input and the reference data, None if there is none. Raises SolveRefused."""
    known = request.profile
    given = _decoded("input", request.given, known)
    if request.reference is None:
        return given, None
    if not known.validator.reference:
        why = f"profile {known.id} takes no reference: `reference` of [validator] is false"
        raise SolveRefused("prepare", "invalid_input", why)
    return given, _decoded("reference", request.reference, known)


def _decoded(name: str, data: bytes, profile: Profile) -> Any:
    most = profile.input.max_bytes
    if len(data) > most:
        why = f"the {name} has {len(data)} bytes, more than {most}"
        raise SolveRefused("prepare", "invalid_input", why)
    try:
        return strict_json.decode(data, _DEEPEST_INPUT)
    except ValueError as error:
        why = f"the {name} is not JSON: {error}"
        raise SolveRefused("prepare", "invalid_input", why) from error


def _number(variable: str) -> float | None:
    """Return the number in an environment variable, None if it is not set. Raises InputError."""
    text = os.environ.get(variable)
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise InputError(f"is not a number above 0: {text!r}", field=variable)
    return value
