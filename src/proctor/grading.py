"""How outputs are graded: by comparison, or by a program of the problem's own."""

from dataclasses import dataclass
from enum import StrEnum

from proctor.errors import InputError, must_be
from proctor.program import Program


class Match(StrEnum):
    """How outputs are compared where no program does it."""

    EXACT = "exact"
    """Byte for byte."""
    LINES = "lines"
    """Line for line; the amount of blank space within a line, and at its end, does not matter."""
    TOKENS = "tokens"
    """Word for word, wherever the line ends are."""
    UNORDERED_LINES = "unordered-lines"
    """The lines of LINES, in any order."""
    RAW_LINES = "raw-lines"
    """Line for line, blank space included; a missing end of the last line, and empty lines after
    it, do not matter."""
    TOKEN_LINES = "token-lines"  # noqa: S105 - no password
    """Line for line, each as TOKENS; empty lines are left out."""
    TRIMMED = "trimmed"
    """Byte for byte, except for blank space at the end of the whole and the kind of line ends."""
    UNORDERED_TOKENS = "unordered-tokens"
    """The words of TOKENS, in any order; tolerances do not count."""
    CHARACTERS = "characters"
    """The same characters, each as often, in any order; no blank space (DMOJ's easy checker)."""
    YES_NO = "yes-no"
    """Word for word like TOKENS, but yes and no may be in any case; nothing else may."""
    LAST_LINE = "last-line"
    """The last line that is not blank, compared as LINES; text before it does not matter."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Grading without a program. Numbers are compared as such only if a tolerance is set.

    Raises InputError for a tolerance that is not a number.
    """

    match: Match = Match.TOKENS
    case_sensitive: bool = True
    space_sensitive: bool = False
    """TOKENS: the blank space between tokens must be the same too."""
    absolute: float | None = None
    """Tolerance for numbers; with `relative` too, either suffices."""
    relative: float | None = None
    decimals: bool = False
    """TOKENS: numbers are equal as exact decimals even without a tolerance: 1.50 is 15e-1. A
    tolerance is then both absolute and relative, and errors are computed exactly too. From an
    integer a number differs by less than a half: no other integer is right."""

    def __post_init__(self) -> None:
        must_be(Match, self.match, "match")
        for name in ("absolute", "relative"):
            if getattr(self, name) is not None:
                must_be((float, int), getattr(self, name), name)
        if self.decimals and self.absolute != self.relative:
            raise InputError("absolute and relative must be the same", field="decimals")


class Convention(StrEnum):
    """How a checker or interactor is called and how it answers; see checkers.py."""

    TESTLIB = "testlib"
    """Arguments input, output, answer; the exit code says what it found."""
    SCORE = "score"
    """CMS: arguments input, answer, output; a score from 0 to 1 on stdout, a message on stderr."""
    TESTLIB_SCORE = "testlib-score"
    """Arguments as TESTLIB; score and message as SCORE."""
    EXIT_CODE = "exit-code"
    """DMOJ: as TESTLIB, by exit codes 0 and 1 alone; an interactor's arguments are input and
    answer."""
    KATTIS = "kattis"
    """Output validator: arguments input, answer, feedback directory; output on stdin; exit code 42
    or 43."""
    HUSTOJ = "hustoj"
    """Arguments input, answer, output; exit code 0 is right, 2 a presentation error, any other
    wrong."""
    QDUOJ = "qduoj"
    """Arguments input and output, the input on stdin as well; exit codes 0 and 1 alone."""
    PRINTED = "printed"
    """Open-r1: arguments input, answer, output; prints 1 or 100 for right, else a score or 0."""


@dataclass(frozen=True, slots=True)
class Checker:
    """Grading by a program, which runs in a cell that no submission is ever in.

    Raises InputError for parts of other types.
    """

    program: Program
    convention: Convention = Convention.TESTLIB
    flags: tuple[str, ...] = ()
    passes: int = 1
    """KATTIS: with more than one, the submission runs again with each input that the validator
    leaves for it (nextpass.in), up to so many times."""

    def __post_init__(self) -> None:
        must_be(Program, self.program, "program")
        must_be(Convention, self.convention, "convention")


Grading = Comparison | Checker


STANDARD_COMPARISON = Comparison(decimals=True)
"""How outputs are compared if a problem says nothing of it: words in order, numbers as decimals,
with JudgeSettings.tolerance if there is one."""


@dataclass(frozen=True, slots=True)
class GradedGroup:
    """A group of tests or of groups; a grader makes its verdict and score from its members'."""

    name: str
    members: tuple[str, ...]
    """Names of its groups or of its tests, in order."""
    flags: tuple[str, ...] = ()
    """Arguments of the grader."""
    custom: bool = False
    """True if the problem's own grader grades it; False for the rules of Kattis's default one."""
    breaks: bool = True
    """True if all members after the first that is not accepted are left out."""
    accept_score: float = 1.0
    """Score of a test that is accepted, where the validator gives none."""
    reject_score: float = 0.0


@dataclass(frozen=True, slots=True)
class GroupGrading:
    """Legacy Kattis: every group has a verdict and a score, made of those of its members.

    Subtasks are then the groups with tests in them; see judging/group_grader.py. Raises InputError
    for parts of other types.
    """

    program: Program | None
    """The problem's own grader, for groups that are `custom`."""
    groups: tuple[GradedGroup, ...]
    """Every group, the outermost first."""
    points: float
    """Points of a perfect submission, which those of the groups need not add up to."""
    by_validator: bool = False
    """True if tests' scores come from the output validator."""

    def __post_init__(self) -> None:
        must_be((Program, type(None)), self.program, "program")
        if not self.groups:
            raise InputError("there must be at least one group", field="groups")
