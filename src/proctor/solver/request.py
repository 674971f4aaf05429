"""What is asked for: a program, its input, a profile, and how long it may take."""

import math
import os
from dataclasses import dataclass

from proctor.errors import InputError
from proctor.limits import MIB, Limits
from proctor.sandbox.pool import available_cpus
from proctor.solver.profile import Profile


@dataclass(frozen=True, slots=True)
class SolveRequest:
    """One run. Raises InputError for a timeout or a number of workers that makes no sense."""

    code: str | bytes
    """The program, as it came."""
    given: bytes
    """The input: JSON."""
    profile: Profile
    timeout: float | None = None
    """Wall seconds; None: what EXECUTOR_TIMEOUT_SECONDS says, else the profile."""
    workers: int | None = None
    """None: what SOLVER_WORKERS says, else one less than there are CPUs."""
    seed: int = 42
    deterministic: bool = False
    roundtrip: bool = False
    """Whether the profile's own model must agree that a solution is one."""
    job_id: str = ""
    """Of the host's making; empty: one is made."""

    def __post_init__(self) -> None:
        most = float(self.profile.limits.max_wall)
        if self.timeout is not None and not 0 < self.timeout <= most:
            raise InputError(f"is more than 0 and at most {most:g} seconds", field="timeout")
        if self.workers is not None and self.workers < 1:
            raise InputError("is at least 1", field="workers")
        if not 0 <= self.seed < 1 << 31:
            raise InputError("is from 0 to 2147483647", field="seed")


@dataclass(frozen=True, slots=True)
class Ladder:
    """When a run ends, each step later than the one before. Wall seconds."""

    inner: float
    """What the program is told: it should end by itself."""
    wall: float
    """SIGINT."""
    grace: float
    """So much later, the end of all."""

    @property
    def transport(self) -> float:
        """How long whoever waits for the answer should be patient."""
        return self.wall + self.grace + 5.0


def ladder(request: SolveRequest) -> Ladder:
    """Return the limits on time. Raises InputError for what the environment says."""
    wall = request.timeout
    if wall is None:
        wall = _number("EXECUTOR_TIMEOUT_SECONDS") or float(request.profile.limits.wall)
        wall = min(wall, float(request.profile.limits.max_wall))
    inner = min(max(1.0, wall - max(1.0, 0.05 * wall)), 0.9 * wall)
    return Ladder(inner, wall, float(request.profile.limits.grace))


def workers(request: SolveRequest) -> int:
    """Return how many threads the program is told to use: never more than there are CPUs.

    Raises InputError for what the environment says.
    """
    low, high = request.profile.limits.workers
    cpus = available_cpus()
    asked = request.workers or _number("SOLVER_WORKERS") or cpus - 1
    if request.deterministic:
        asked = 1
    return max(min(math.floor(asked), high, cpus), low)


def limits(request: SolveRequest, steps: Ladder, threads: int) -> Limits:
    """Return the limits on the program. Time is the wall's: a solver is given seconds to use."""
    bounds = request.profile.limits
    needed = int(bounds.disk) + len(request.given) + len(request.code) + MIB
    return Limits(
        cpu=(steps.wall + steps.grace) * (threads + 1) * 2,
        wall=steps.wall,
        memory=int(bounds.memory),
        output=int(bounds.output),
        processes=threads + bounds.processes,
        disk=1 << (needed - 1).bit_length(),  # so that few containers are outgrown
    )


def environment(request: SolveRequest, steps: Ladder, threads: int) -> dict[str, str]:
    """Return the variables that the program finds."""
    found = {
        **request.profile.environment,
        "EXECUTOR_TIMEOUT_SECONDS": f"{steps.wall:g}",
        "SOLVER_MAX_SECONDS": f"{steps.inner:g}",
        "SOLVER_WORKERS": str(threads),
        "SOLVER_RANDOM_SEED": str(request.seed),
        "SOLVER_MAX_MEMORY_MB": str(int(request.profile.limits.memory) // MIB),
        "SOLVER_PROGRESS_FD": "3",
        "PYTHONUNBUFFERED": "1",
    }
    if request.deterministic:
        found |= {"SOLVER_DETERMINISTIC": "1", "TT_DETERMINISTIC": "1"}
    return found


def _number(variable: str) -> float | None:
    """Return a number that the environment holds. Raises InputError."""
    text = os.environ.get(variable)
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise InputError(f"is no number above 0: {text!r}", field=variable)
    return value
