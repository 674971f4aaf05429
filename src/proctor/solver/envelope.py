"""The answer to a solve: one typed envelope, however the run ended."""

from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from proctor.shown import counted, quoted, seconds, shown
from proctor.solver.report import ValidationReport

Phase = Literal["prepare", "compile", "sandbox", "run", "parse"]
Ending = Literal["optimal", "feasible", "infeasible", "unknown", "timeout", "cancelled", "crashed"]
SCHEMA_VERSION = 1


class _EnvelopePart(msgspec.Struct, frozen=True, rename="camel"):
    """Base of the envelope's parts: frozen, and camel case in JSON, as the first clients expect."""


class Incumbent(_EnvelopePart, frozen=True):
    """A solution that a program left before its end, with what it claims of it."""

    t: float
    """Seconds from the start until the host had it."""
    objective: float | None
    """Objective as the program claims it."""
    bound: float | None
    """Bound as the program claims it."""
    file: str | None
    """Its file, as the program named it; None if it was only announced."""

    def __repr__(self) -> str:
        bound = "" if self.bound is None else f"bound {self.bound:g}"
        objective = "no objective" if self.objective is None else f"objective {self.objective:g}"
        return shown(self, objective, bound, f"after {seconds(self.t)}")


class Partial(_EnvelopePart, frozen=True):
    """The best solution from before the end, where the result is missing, invalid or worse."""

    available: bool
    valid: bool = False
    """True if it passed the validator."""
    objective: float | None = None
    """Objective as recomputed, else as claimed."""
    bound: float | None = None
    age_ms: int | None = None
    """Age when the run ended, in milliseconds."""
    file: str | None = None
    data: Any = None
    validation: ValidationReport | None = None

    def __repr__(self) -> str:
        state = "valid" if self.valid else "not valid" if self.available else "none"
        return shown(self, state, "" if self.objective is None else f"objective {self.objective:g}")


NOTHING = Partial(available=False)


class SolveAnswer(_EnvelopePart, frozen=True):
    """The solution that a solve comes to: the only one to act on."""

    data: Any
    """The solution, in the form of a result."""
    source: Literal["result", "incumbent"]
    """`result` if the program ended well with it, `incumbent` if it is from before the end."""
    objective: float | None = None
    """Objective as the validator computes it; None if it computes none."""
    validated: bool = False
    """True if the validator accepts it, and the profile's own model too, where that was asked.

    Where the profile names no validator it is False, and nobody has looked at the solution.
    """

    def __repr__(self) -> str:
        state = "validated" if self.validated else "not validated"
        objective = "" if self.objective is None else f"objective {self.objective:g}"
        return shown(self, self.source, state, objective)


class Usage(_EnvelopePart, frozen=True):
    """Resources that the run used."""

    wall_ms: int = 0
    cpu_ms: int = 0
    peak_memory_mb: float = 0.0
    queue_ms: int = 0
    """Time that it waited for its turn, in milliseconds."""


class Artifact(_EnvelopePart, frozen=True):
    """A further file that the program left."""

    name: str
    size: int
    sha256: str


class Truncated(_EnvelopePart, frozen=True):
    """Bytes of the streams that are not shown."""

    stdout_bytes: int = 0
    stderr_bytes: int = 0


class Fault(_EnvelopePart, frozen=True):
    """The reason why there is no answer, where the program is not to blame."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Conclusion:
    """How a run ended and what its result comes to; fields as in the envelope."""

    phase: Phase
    status: Ending
    detail: str = ""
    digest: str = ""
    ok: bool = False
    accepted: bool = False
    partial: Partial = NOTHING
    validation: ValidationReport | None = None
    roundtrip: bool | None = None
    fault: Fault | None = None
    doubts: tuple[str, ...] = ()
    """Reasons why less is believed than the program claims, for the envelope's `warnings`."""


class SolveRefused(Exception):
    """A request whose program is not run, or whose program does not compile."""

    def __init__(self, phase: Phase, detail: str, digest: str) -> None:
        self.conclusion = Conclusion(phase, "crashed", detail, digest)
        super().__init__(digest)


class Envelope(_EnvelopePart, frozen=True):
    """Outcome of one solve, however it ended: facts of the run, the result, and its validation.

    In JSON the names are camel case.
    """

    job_id: str
    """Name of the run, chosen by the host."""
    profile: str
    """Id of the profile whose contract applied."""
    phase: Phase
    """Phase in which it ended."""
    status: Ending
    """Ending, as the host judges it: never better than the validator allows."""
    ok: bool
    """True if there is a solution: proved, found, or a valid one from before the time-out."""
    accepted: bool = False
    """True if that solution breaks no hard constraint, and every hard constraint was checked."""
    answer: SolveAnswer | None = None
    """The solution to act on; None if there is none, or a validator rejects all that there are."""
    status_detail: str = ""
    """The reason in a word: `syntax`, `oom`, `exit_code`, `marker_count`, `result_missing`, ..."""
    claimed_status: str | None = None
    """Status of the result in the program's own word."""
    error_digest: str = ""
    """Description of what went wrong, for people and for a repair prompt; empty if nothing did."""
    result_data: Any = None
    """Content of the result file, if it could be read and the program ended by itself."""
    result_summary: dict[str, Any] = {}
    """Facts that the profile wants shown of the answer, else of the result."""
    result_path: str | None = None
    """Path under which it is kept; the host chooses the name."""
    partial: Partial = NOTHING
    """Best solution from before the end, if the result is missing, invalid or worse."""
    incumbents: tuple[Incumbent, ...] = ()
    """Solutions on the way, in the order in which they came."""
    validation: ValidationReport | None = None
    """Report of the validator on the result; None if there was nothing to validate."""
    roundtrip: bool | None = None
    """True if the profile's own model agrees that it is a solution; None if it was not asked."""
    warnings: tuple[str, ...] = ()
    """Reasons why less is believed than the program claims, and other remarks."""
    stdout: str = ""
    """First 100 lines of stdout; of more than 128 KiB the beginning and the end."""
    stderr: str = ""
    """First 100 lines of stderr; of more than 128 KiB the beginning and the end."""
    truncated: Truncated = Truncated()
    """Bytes that `stdout` and `stderr` leave out."""
    marker_count: int = 0
    """Times that the profile's marker was printed."""
    exit_code: int | None = None
    """Exit code; None if a signal ended the program."""
    signal: int | None = None
    """Number of the signal that ended it, or None."""
    oom: bool = False
    """True if it was ended for its memory."""
    usage: Usage = Usage()
    """Resources that the run used."""
    duration_ms: int = 0
    """Time from request to answer in milliseconds: waiting, running, checking."""
    solver_workers: int = 0
    """Threads that the program was told to use."""
    limits: dict[str, float] = {}
    """Limits in force, in seconds and bytes."""
    isolation: str | None = None
    """Isolation level that the program ran at."""
    guarantees: dict[str, str] = {}
    """Guarantees of that level, by name."""
    artifacts: tuple[Artifact, ...] = ()
    """Further files that the program left, with their digests."""
    fault: Fault | None = None
    """Fault of proctor or of the machine; None if the program was run and judged."""
    schema_version: int = SCHEMA_VERSION
    """Version of the envelope's format."""

    def __post_init__(self) -> None:
        if self.answer is None:
            msgspec.structs.force_setattr(self, "answer", _answer(self))

    @property
    def solution(self) -> Any:
        """The answer's data, in the form of a result; None without an answer."""
        return None if self.answer is None else self.answer.data

    @property
    def objective(self) -> float | None:
        """The answer's objective; None without an answer, or if the validator computes none."""
        return None if self.answer is None else self.answer.objective

    @property
    def report(self) -> ValidationReport | None:
        """The validator's report on the answer; without one, on what is nearest to an answer."""
        if self.answer is None:
            return self.validation or self.partial.validation
        return self.partial.validation if self.partial.valid else self.validation

    def _facts(self) -> tuple[str, ...]:
        return (
            "accepted" if self.accepted else "not accepted",
            f"{self.status} {self.status_detail}".strip(),
            "" if self.objective is None else f"objective {self.objective:g}",
            counted(len(self.incumbents), "incumbent") if self.incumbents else "",
            seconds(self.duration_ms / 1000),
            f"fault {self.fault.code}" if self.fault is not None else "",
        )

    def __repr__(self) -> str:
        said = quoted(self.error_digest) if self.error_digest else ""
        return shown(self, *self._facts(), said, name="SolveEnvelope")

    def _repr_html_(self) -> str:
        from proctor import html_tables as html

        verdict, *others = self._facts()
        facts = html.paragraph(
            html.good_or_bad(verdict, good=self.accepted),
            *map(html.safe, filter(None, others)),
            f"isolation {html.safe(self.isolation)}" if self.isolation else "",
        )
        said = html.output("what went wrong", self.error_digest)
        broken = self.report.violations if self.report is not None else ()
        rows = (
            (html.safe(each.constraint_id), html.safe(each.severity), html.safe(each.message))
            for each in broken
        )
        headings = ("constraint", "severity", "violation")
        return facts + said + (html.table(headings, rows, len(broken)) if broken else "")


def _answer(envelope: Envelope) -> SolveAnswer | None:
    """Return what an envelope's fields come to; a solution that a validator rejects is no answer.

    A valid `partial` is there only where it is better than the result, or the result does not hold.
    """
    partial, report = envelope.partial, envelope.validation
    if partial.valid:
        return _as_answer(partial.data, "incumbent", partial.validation, envelope)
    if envelope.ok and (report is None or report.ok):
        return _as_answer(envelope.result_data, "result", report, envelope)
    return None


def _as_answer(
    data: Any,
    source: Literal["result", "incumbent"],
    report: ValidationReport | None,
    envelope: Envelope,
) -> SolveAnswer:
    objective = None if report is None else report.objective
    return SolveAnswer(
        data, source, objective, report is not None and envelope.roundtrip is not False
    )
