"""What is answered: one typed envelope, whatever came of it."""

from typing import Any, Literal

import msgspec

from proctor.solver.validation.report import Report

Phase = Literal["prepare", "compile", "sandbox", "run", "parse"]
Ending = Literal["optimal", "feasible", "infeasible", "unknown", "timeout", "cancelled", "crashed"]
SCHEMA_VERSION = 1


class _Part(msgspec.Struct, frozen=True, rename="camel"):
    """Frozen, and in JSON named as the first clients expect it."""


class Incumbent(_Part, frozen=True):
    """A solution that was there before the end."""

    t: float
    """Seconds after the start at which we had it."""
    objective: float | None
    """As the program claims."""
    bound: float | None
    file: str | None
    """The file that holds it, as the program named it; None if it was only told of."""


class Partial(_Part, frozen=True):
    """The best from before the end, where the result is none, does not hold, or is worse."""

    available: bool
    valid: bool = False
    """Whether it passed the validator."""
    objective: float | None = None
    """As recomputed, else as claimed."""
    bound: float | None = None
    age_ms: int | None = None
    """How old it was when the run ended."""
    file: str | None = None
    data: Any = None
    validation: Report | None = None


NOTHING = Partial(available=False)


class Usage(_Part, frozen=True):
    """What the run used."""

    wall_ms: int = 0
    cpu_ms: int = 0
    peak_memory_mb: float = 0.0
    queue_ms: int = 0
    """Waiting for its turn."""


class Artifact(_Part, frozen=True):
    """A further file that the program left."""

    name: str
    size: int
    sha256: str


class Truncated(_Part, frozen=True):
    """How much of the streams is not shown."""

    stdout_bytes: int = 0
    stderr_bytes: int = 0


class Fault(_Part, frozen=True):
    """Why there is no answer, where the program is not to blame."""

    code: str
    message: str


class Envelope(_Part, frozen=True):
    """What came of one program."""

    job_id: str
    profile: str
    phase: Phase
    """Where it ended."""
    status: Ending
    ok: bool
    """There is a solution: proved, found, or a valid one from before its time was over."""
    accepted: bool = False
    """Besides, that solution breaks no hard constraint, and every hard constraint was checked."""
    status_detail: str = ""
    """A word that says why: `syntax`, `oom`, `exit_code`, `marker_count`, `result_missing`, ..."""
    claimed_status: str | None = None
    """What the program said of its result, in its own word."""
    error_digest: str = ""
    """For people and for a repair prompt; empty if all is well."""
    result_data: Any = None
    """What the result file held, if it could be read and the program ended by itself."""
    result_summary: dict[str, Any] = {}
    result_path: str | None = None
    """Where it is kept; the name is the host's."""
    partial: Partial = NOTHING
    incumbents: tuple[Incumbent, ...] = ()
    validation: Report | None = None
    roundtrip: bool | None = None
    """Whether the profile's own model agrees that it is a solution; None: it was not asked."""
    warnings: tuple[str, ...] = ()
    stdout: str = ""
    stderr: str = ""
    truncated: Truncated = Truncated()
    marker_count: int = 0
    exit_code: int | None = None
    signal: int | None = None
    oom: bool = False
    usage: Usage = Usage()
    duration_ms: int = 0
    """All of it: waiting, running, checking."""
    solver_workers: int = 0
    limits: dict[str, float] = {}
    """In force: seconds and bytes."""
    isolation: str | None = None
    """Level that held the program."""
    guarantees: dict[str, str] = {}
    """What it guaranteed, and what that leaves open."""
    artifacts: tuple[Artifact, ...] = ()
    fault: Fault | None = None
    """Ours or the machine's: the program is not to blame."""
    schema_version: int = SCHEMA_VERSION

    @property
    def solution(self) -> Any:
        """The best there is, in the form of a result: a valid one from before the end, if any."""
        if self.partial.valid or self.result_data is None:
            return self.partial.data
        return self.result_data
