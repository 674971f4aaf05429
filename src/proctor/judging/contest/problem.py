"""What a contest problem is, whichever package format it came in."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from proctor.errors import InputError, must_be
from proctor.limits import Limits
from proctor.program import Program


@dataclass(frozen=True, slots=True)
class Blob:
    """Bytes of a problem: at hand, or in a file that is read when they are needed.

    Raises InputError for content that is no bytes, or a path that is none.
    """

    content: bytes | None = None
    path: Path | None = None

    def __post_init__(self) -> None:
        if self.content is not None:
            must_be(bytes, self.content, "content")
        if self.path is not None:
            must_be(Path, self.path, "path")

    def read(self) -> bytes:
        """Return them. Raises InputError if the file cannot be read."""
        if self.content is not None:
            return self.content
        if self.path is None:
            raise InputError("there is neither content nor a file")
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise InputError(str(error.strerror), file=str(self.path)) from error


@dataclass(frozen=True, slots=True)
class ContestTest:
    """One test. Names are unique within a problem. Raises InputError for parts of other types."""

    name: str
    input: Blob
    answer: Blob | None = None
    """What the grading compares with, or hands to the checker; None where it needs none."""
    sample: bool = False
    weight: float = 1.0
    """Share in a subtask that adds its tests up."""
    full: float = 1.0
    """The number that is full marks: in KATTIS's score.txt, as points of TESTLIB's."""
    flags: tuple[str, ...] = ()
    """Further arguments of the checker, or flags of the default validator, for this test."""
    args: tuple[str, ...] = ()
    """Command line arguments of the submission."""
    files: Mapping[str, Blob] = field(default_factory=dict)
    """What the submission finds in its working directory, by relative path; goes above a file of
    its own of that name."""

    def __post_init__(self) -> None:
        must_be(str, self.name, "name")
        must_be(Blob, self.input, "input")
        if self.answer is not None:
            must_be(Blob, self.answer, "answer")
        for name, blob in self.files.items():
            must_be(Blob, blob, f"files.{name}")


class Match(StrEnum):
    """How outputs are compared where no program does it."""

    EXACT = "exact"
    """Byte for byte."""
    LINES = "lines"
    """Line for line; the amount of blank space within a line, and at its end, is no matter."""
    TOKENS = "tokens"
    """Word for word, wherever the line ends are."""
    UNORDERED_LINES = "unordered-lines"
    """As LINES, in any order."""
    RAW_LINES = "raw-lines"
    """Line for line, blank space included; whether the last one is ended, and empty lines after it,
    are no matter."""
    TOKEN_LINES = "token-lines"  # noqa: S105 - no password
    """Line for line, each as TOKENS; empty lines are left out."""
    UNORDERED_TOKENS = "unordered-tokens"
    """As TOKENS, in any order; tolerances are nothing for it."""
    CHARACTERS = "characters"
    """The same characters as often, blank space left out, in any order (DMOJ's easy checker)."""
    YES_NO = "yes-no"
    """As TOKENS, and the words yes and no may be in any case; nothing else may."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Grading without a program. Numbers are compared as such only if a tolerance is set.

    Raises InputError for a tolerance that is no number.
    """

    match: Match = Match.TOKENS
    case_sensitive: bool = True
    space_sensitive: bool = False
    """TOKENS: the blank space between tokens must be the same too."""
    absolute: float | None = None
    """Tolerance for numbers; with `relative` too, either suffices."""
    relative: float | None = None

    def __post_init__(self) -> None:
        must_be(Match, self.match, "match")
        for name in ("absolute", "relative"):
            if getattr(self, name) is not None:
                must_be((float, int), getattr(self, name), name)


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


@dataclass(frozen=True, slots=True)
class Stub:
    """What is compiled together with the submission, for one family of languages."""

    files: Mapping[str, bytes]
    """Grader or stub, headers; those of the language's own kind are compiled."""
    name: str = ""
    """File name that the submission is given; empty: the language's usual one."""
    flags: tuple[str, ...] = ()
    """Further compiler arguments, such as -DEVAL."""


@dataclass(frozen=True, slots=True)
class Batch:
    """One run of the submission per test, from input to output."""

    input_file: str | None = None
    """Name under which the submission finds the input; None: on stdin."""
    output_file: str | None = None
    """Name of the file that it writes; None: stdout."""


@dataclass(frozen=True, slots=True)
class Interactive:
    """The submission talks with an interactor, which decides.

    By KATTIS as an output validator, by TESTLIB with its exit code, by SCORE with what it prints
    on stderr: a score, then a message.
    """

    interactor: Program
    convention: Convention = Convention.KATTIS
    flags: tuple[str, ...] = ()
    """Further arguments of the interactor.

    If the problem's grading is a checker of TESTLIB, then what the interactor accepts is for the
    checker to grade: the file that the interactor has written, which is its second argument.
    """
    passes: int = 1
    """KATTIS: with more than one, they talk again, in new processes, with each input that the
    validator leaves for itself (nextpass.in), up to so many times."""

    def __post_init__(self) -> None:
        must_be(Program, self.interactor, "interactor")
        must_be(Convention, self.convention, "convention")


@dataclass(frozen=True, slots=True)
class Communication:
    """IOI: one or more processes of the submission talk with a manager, which prints the score."""

    manager: Program
    processes: int = 1
    fifo_io: bool = False
    """Whether processes get the names of two pipes as arguments, instead of stdin and stdout."""
    manager_args: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        must_be(Program, self.manager, "manager")


@dataclass(frozen=True, slots=True)
class OutputOnly:
    """The submission is no program but a file of output per test.

    They are the program's `files`, by the test's name or `NAME.out`; of a problem with one test,
    `source` will do.
    """


@dataclass(frozen=True, slots=True)
class TwoSteps:
    """CMS: two runs of the submission, which the task's manager, a stub, is compiled with.

    The second run is told what the first one wrote, and nothing else; see two_steps.py.
    """


Running = Batch | Interactive | Communication | OutputOnly | TwoSteps


class Aggregate(StrEnum):
    """What a subtask makes of its tests' scores, each from 0 to 1."""

    MIN = "min"
    SUM = "sum"
    """Their mean, weighted."""
    THRESHOLD = "threshold"
    """All or nothing: 1 if none is below the subtask's threshold."""
    PRODUCT = "product"


@dataclass(frozen=True, slots=True)
class Subtask:
    """Tests that are worth points together. Raises InputError for parts of other types."""

    name: str
    points: float
    tests: tuple[str, ...]
    aggregate: Aggregate = Aggregate.MIN
    threshold: float = 1.0
    depends: tuple[str, ...] = ()
    """Subtasks whose worst score this one's cannot exceed."""

    def __post_init__(self) -> None:
        must_be(str, self.name, "name")
        must_be((float, int), self.points, f"{self.name}.points")
        for field_name in ("tests", "depends"):
            must_be(tuple, getattr(self, field_name), f"{self.name}.{field_name}")


@dataclass(frozen=True, slots=True)
class ContestProblem:
    """A problem. Raises InputError if its parts are of other types, or do not fit together."""

    id: str
    tests: Mapping[str, ContestTest]
    subtasks: tuple[Subtask, ...]
    limits: Limits
    grading: Grading = field(default_factory=Comparison)
    running: Running = field(default_factory=Batch)
    stubs: Mapping[str, Stub] = field(default_factory=dict)
    """By family of languages (`cpp`, `python`, ...; see Language.family)."""
    title: str = ""
    statement: str = ""
    precision: int = 2
    """Decimals that points are rounded to."""
    languages: tuple[str, ...] = ()
    """Ids that submissions may be in; empty: any."""
    integrity: str = ""
    """Whose the grading is, if not proctor's."""

    def __post_init__(self) -> None:
        self._check_types()
        if not self.tests:
            raise InputError("a problem without tests cannot be judged", field="tests")
        names = {subtask.name for subtask in self.subtasks}
        if not names:
            raise InputError("there must be at least one subtask", field="subtasks")
        if len(names) != len(self.subtasks):
            raise InputError("two subtasks have the same name", field="subtasks")
        for subtask in self.subtasks:
            where = f"subtasks.{subtask.name}"
            for test in subtask.tests:
                if test not in self.tests:
                    raise InputError(f"there is no test {test!r}", field=where)
            for other in subtask.depends:
                if other not in names:
                    raise InputError(f"there is no subtask {other!r}", field=where)
        self._check_cycles()

    def _check_types(self) -> None:
        must_be(str, self.id, "id")
        must_be(Mapping, self.tests, "tests")
        for name, test in self.tests.items():
            must_be(ContestTest, test, f"tests.{name}")
        must_be(tuple, self.subtasks, "subtasks")
        for number, subtask in enumerate(self.subtasks):
            must_be(Subtask, subtask, f"subtasks[{number}]")
        must_be(Limits, self.limits, "limits")
        must_be((Comparison, Checker), self.grading, "grading")
        must_be((Batch, Interactive, Communication, OutputOnly, TwoSteps), self.running, "running")

    def _check_cycles(self) -> None:
        known = {subtask.name: subtask for subtask in self.subtasks}
        for subtask in self.subtasks:
            seen, todo = set[str](), list(subtask.depends)
            while todo:
                name = todo.pop()
                if name == subtask.name:
                    raise InputError("it depends on itself", field=f"subtasks.{name}")
                if name not in seen:
                    seen.add(name)
                    todo += known[name].depends

    @property
    def points(self) -> float:
        """What a perfect submission gets."""
        return sum(subtask.points for subtask in self.subtasks)
