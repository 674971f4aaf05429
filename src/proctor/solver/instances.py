"""Instances of a problem, and the score of a program over them."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec

from proctor.errors import InputError
from proctor.limits import MIB
from proctor.shown import quoted, score_text, shown
from proctor.solver.envelope import Envelope

_LONGEST_ROW = 128 * MIB


@dataclass(frozen=True, slots=True, repr=False)
class SolverInstance:
    """One input of a problem. Raises InputError for a best value that is not a finite number."""

    id: str
    given: bytes
    """The input, as JSON."""
    reference: bytes | None = None
    """Data that only the validator sees, as JSON."""
    best: float | None = None
    """Best known objective, for the score; if None, any accepted solution scores 1."""
    stage: int = 1
    """Instances of a later stage may depend on the scores of earlier ones."""

    def __post_init__(self) -> None:
        if self.best is not None and not math.isfinite(self.best):
            raise InputError(f"is not a finite number: {self.best}", field="best")

    def __repr__(self) -> str:
        best = "" if self.best is None else f"best {self.best:g}"
        return shown(self, quoted(self.id), f"stage {self.stage}", best, quoted(self.given, 30))


class InstanceResult(msgspec.Struct, frozen=True, rename="camel"):
    """The outcome of a program on one instance."""

    id: str
    stage: int
    score: float | None
    """Score from 0 to 1; None where proctor, or the instance's author, is to blame."""
    objective: float | None = None
    """Objective of the accepted solution, as the validator computes it."""
    best: float | None = None
    why: str = ""
    """Reason for a score of 0 or None, in a sentence."""
    envelope: Envelope | None = None
    """None where the program was not run, since earlier stages scored too little."""

    def __repr__(self) -> str:
        score = "no score" if self.score is None else f"score {score_text(self.score)}"
        objective = "" if self.objective is None else f"objective {self.objective:g}"
        return shown(self, score, quoted(self.id), objective, quoted(self.why) if self.why else "")


class ProgramScore(msgspec.Struct, frozen=True, rename="camel"):
    """The outcome of a program on all instances, in their order."""

    score: float | None
    """Mean over all instances, 0 for those that were not run; None if one has no score."""
    accepted: int
    """Number of instances with an accepted solution."""
    stopped_after: int | None
    """Stage that scored too little for the next to be run; None if none did."""
    instances: tuple[InstanceResult, ...]

    def __repr__(self) -> str:
        score = "no score" if self.score is None else f"score {score_text(self.score)}"
        stopped = "" if self.stopped_after is None else f"stopped after stage {self.stopped_after}"
        return shown(self, score, f"{self.accepted} of {len(self.instances)} accepted", stopped)

    def _repr_html_(self) -> str:
        from proctor import html_tables as html

        rows = (
            (
                html.safe(each.id),
                "none" if each.score is None else score_text(each.score),
                "" if each.objective is None else f"{each.objective:g}",
                "" if each.best is None else f"{each.best:g}",
                html.safe(each.why),
            )
            for each in self.instances
        )
        headings = ("instance", "score", "objective", "best known", "reason")
        shown_rows = html.table(headings, rows, len(self.instances), "instances")
        return html.paragraph(html.safe(repr(self)[1:-1])) + shown_rows


def closeness(objective: float, best: float, sense: str) -> float:
    """Return one minus the primal gap (Berthold 2013): 1 for the best known value or a better one.

    Otherwise it is less by |objective - best| / max(|objective|, |best|), or 0 if the signs differ.
    """
    if objective == best or (objective < best) == (sense == "min"):
        return 1.0
    if (objective < 0) != (best < 0):
        return 0.0
    smaller, larger = sorted((abs(objective), abs(best)))
    return smaller / larger


def _always() -> bool:
    return True


def scored(
    instance: SolverInstance,
    envelope: Envelope,
    sense: str,
    has_objective: Callable[[], bool] = _always,
) -> InstanceResult:
    """Return the result of a run on an instance; `sense` says which objective is the better.

    A result without an objective scores 0, and has no score only if `has_objective` proves that no
    result has one: a program could choose one that the validator computes none of.
    """
    result = InstanceResult(instance.id, instance.stage, 0.0, None, instance.best, "", envelope)
    if envelope.fault is not None or envelope.phase == "prepare":
        return msgspec.structs.replace(result, score=None, why=envelope.error_digest)
    if not envelope.accepted:
        ended = " ".join(filter(None, (envelope.status, envelope.status_detail)))
        return msgspec.structs.replace(result, why=f"{ended}: {envelope.error_digest}")
    objective = envelope.objective
    if instance.best is None:
        return msgspec.structs.replace(result, score=1.0, objective=objective)
    if objective is None:
        why = "the validator computes no objective to compare with the best known"
        return msgspec.structs.replace(result, score=0.0 if has_objective() else None, why=why)
    score = closeness(objective, instance.best, sense)
    return msgspec.structs.replace(result, score=score, objective=objective)


def total(results: Sequence[InstanceResult], stopped_after: int | None) -> ProgramScore:
    """Return the score over results, at least one."""
    scores = [each.score for each in results]
    known = [score for score in scores if score is not None]
    mean = math.fsum(known) / len(known) if len(known) == len(scores) else None
    accepted = sum(each.envelope is not None and each.envelope.accepted for each in results)
    return ProgramScore(mean, accepted, stopped_after, tuple(results))


class _InstanceRow(msgspec.Struct):
    id: str | int
    input: msgspec.Raw
    reference: msgspec.Raw = msgspec.Raw()
    best: float | None = None
    stage: Annotated[int, msgspec.Meta(ge=1)] = 1


def read_instances(path: Path) -> list[SolverInstance]:
    """Read instances, a JSON object a line: `id`, `input`, and `reference`, `best`, `stage`.

    Other fields are ignored. Raises InputError for a line that is not an instance or repeats an
    id, naming the line, and for a file without instances.
    """
    found: dict[str, SolverInstance] = {}
    for number, line in _lines(path):
        if line.isspace():
            continue
        try:
            row = msgspec.json.decode(line, type=_InstanceRow)
            reference = bytes(row.reference)
            each = SolverInstance(
                str(row.id), bytes(row.input), None if reference in {b"", b"null"} else reference,
                row.best, row.stage,
            )  # fmt: skip
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(f"is not an instance: {error}", file=str(path), line=number) from error
        except InputError as error:
            raise InputError(
                error.message, file=str(path), line=number, field=error.field
            ) from error
        if each.id in found:
            raise InputError(f"{each.id!r} is there twice", file=str(path), line=number, field="id")
        found[each.id] = each
    if not found:
        raise InputError("there are no instances in it", file=str(path))
    return list(found.values())


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(_LONGEST_ROW + 1):
                number += 1
                if len(line) > _LONGEST_ROW:
                    why = f"is longer than {_LONGEST_ROW} bytes"
                    raise InputError(why, file=str(path), line=number)
                yield number, line
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
