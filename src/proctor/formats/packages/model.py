"""Contents of a package: a problem, and submissions with what is expected of them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from proctor.errors import InputError
from proctor.limits import Limits
from proctor.problem import Problem
from proctor.program import Program
from proctor.shown import counted, shown
from proctor.verdict import Verdict

Verdicts = frozenset[Verdict]

ACCEPTED: Verdicts = frozenset({Verdict.AC})
WRONG: Verdicts = frozenset({Verdict.WA, Verdict.PE})
SLOW: Verdicts = frozenset({Verdict.TLE, Verdict.ILE})
CRASHED: Verdicts = frozenset({Verdict.RE, Verdict.MLE, Verdict.OLE})
"""Most formats have no word of their own for memory and output limits."""
PARTIAL: Verdicts = frozenset({Verdict.PA})
REJECTED: Verdicts = PARTIAL | WRONG | SLOW | CRASHED | {Verdict.CE}
"""Anything but full marks."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Conditions on a submission, or on a part of it. None: no claim."""

    verdicts: Verdicts | None = None
    """The one verdict, of the submission or of the part, is among these."""
    permitted: Verdicts | None = None
    """Every test's verdict is among these."""
    required: Verdicts | None = None
    """At least one test's verdict is among these."""
    points: tuple[float, float] | None = None
    """Least and most points, both included."""


@dataclass(frozen=True, slots=True)
class Part:
    """A claim about some of the tests."""

    name: str
    """A subtask's name; or, if `tests` are given, the pattern that the package selects them by."""
    claim: Claim
    tests: tuple[str, ...] | None = None
    """Names of tests; None: the subtask's, and the claim is about its verdict and points."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """Meaning of a submission's label."""

    whole: Claim
    parts: tuple[Part, ...] = ()

    @property
    def verdicts(self) -> Verdicts | None:
        """Verdicts that the whole submission may get; None: any."""
        return self.whole.verdicts


class Bound(StrEnum):
    """Bound that a submission's time sets to the time limit."""

    LOWER = "lower"
    """It must be fast enough: the limit is to be well above its time."""
    UPPER = "upper"
    """It must be too slow: the limit is to be well below its time."""
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Labelled:
    """A submission of the package."""

    name: str
    """Path within the package."""
    program: Program
    expected: Expectation
    bound: Bound = Bound.NONE
    limits: Limits | None = None
    """Its own limits, instead of the problem's, where the format gives such."""
    complete: bool = False
    """True if it holds the code of the problem's stubs already, or needs none of it."""


@dataclass(frozen=True, slots=True)
class Timing:
    """How the time limit stands to the submissions' times.

    It should be at least `multiplier` times the slowest of those with Bound.LOWER, and at most
    the fastest of those with Bound.UPPER divided by `margin`.
    """

    given: bool = True
    """True if the package states its limit. If not, `Limits.cpu` is only a default, and verifying
    works it out: the least multiple of `resolution` that is right."""
    multiplier: float = 1.0
    margin: float = 1.0
    resolution: float = 1.0
    """Seconds."""


@dataclass(frozen=True, slots=True, repr=False)
class Package:
    """A problem with its submissions; the first that is right becomes the problem's `accepted`."""

    problem: Problem
    submissions: tuple[Labelled, ...]
    format: str
    """`icpc`, `tps`, `italian`, `native`, `polygon`, `dmoj`, `fps`, `qduoj`, `plain`, or `rows`."""
    path: Path
    timing: Timing = field(default_factory=Timing)
    notes: tuple[str, ...] = ()
    """Parts of the package that were left out, and why: for those who check it."""

    def __post_init__(self) -> None:
        right = (each for each in self.submissions if each.expected.whole.verdicts == ACCEPTED)
        known = next((each.program for each in right if not each.complete), None)
        if known is not None and self.problem.accepted is None:
            object.__setattr__(self, "problem", replace(self.problem, accepted=known))

    def __repr__(self) -> str:
        submissions = counted(len(self.submissions), "submission")
        return shown(self, self.format, repr(self.problem)[1:-1], submissions)


class Several(Protocol):
    """Several problems in one place, of which one is chosen."""

    @property
    def titles(self) -> Mapping[str, str]:
        """Titles by id; empty where finding them would take too long."""

    def load(self, problem_id: str) -> Package:
        """Load the one of this id. Raises InputError."""


def bound(claim: Claim) -> Bound:
    """Return the bound that a claim sets: TLE forbidden, TLE demanded, or neither.

    The time of a submission that has to crash, or does not compile, sets no bound.
    """
    demanded = claim.required or claim.verdicts
    if demanded is not None and demanded <= SLOW:
        return Bound.UPPER
    if demanded and demanded <= CRASHED | {Verdict.CE}:
        return Bound.NONE
    allowed = [some for some in (claim.verdicts, claim.permitted) if some is not None]
    if any(not some & SLOW for some in allowed):
        return Bound.LOWER
    return Bound.NONE


def whole(number: float, field: str) -> int:
    """Return a number of bytes. Raises InputError for what is no number, or no finite one."""
    if not math.isfinite(number):
        raise InputError(f"must be a number, not {number}", field=field)
    return int(number)


def judgeable(problem: Problem) -> Problem:
    """Return the problem. Raises InputError if it has no tests, or no subtasks."""
    if not problem.tests:
        raise InputError("a problem without tests cannot be judged", field="tests")
    if not problem.subtasks:
        raise InputError("there must be at least one subtask", field="subtasks")
    return problem


def points_of(problem: Problem) -> Mapping[str, float]:
    """Points of each subtask."""
    return {subtask.name: subtask.points for subtask in problem.subtasks}
