"""Problems and tests: the vocabulary of every format, judge and benchmark."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from proctor.errors import InputError, must_be
from proctor.grading import (
    STANDARD_COMPARISON,
    Checker,
    Comparison,
    Convention,
    Grading,
    GroupGrading,
)
from proctor.limits import LIMITS_HINT, TEST_LIMITS, Limits
from proctor.prediction import AssertionTask, CallTask
from proctor.program import Program, check_relative
from proctor.shown import counted, quoted, score_text, shown

T = TypeVar("T")
Content = str | bytes | Path
"""Text or bytes at hand, or a file that is read when its content is needed."""


def content_bytes(content: Content) -> bytes:
    """Return the content, lone surrogates of JSON kept. Raises InputError if a file is gone."""
    if isinstance(content, str):
        return content.encode("utf-8", "surrogatepass")
    if isinstance(content, bytes):
        return content
    try:
        return content.read_bytes()
    except OSError as error:
        raise InputError(str(error.strerror), file=str(content)) from error


def _content_shown(content: Content) -> str:
    return f"of {quoted(str(content))}" if isinstance(content, Path) else quoted(content, 30)


def _make_tuple(owner: object, name: str, kind: type, hint: str = "") -> None:
    """Make a field a tuple if it is a list. Raises InputError for anything else, or items in it."""
    value = getattr(owner, name)
    if isinstance(value, list):
        value = tuple(value)
        object.__setattr__(owner, name, value)
    where = f"{given}.{name}" if (given := getattr(owner, "name", "")) else name
    if not isinstance(value, tuple):
        wanted = f"a list or tuple of {kind.__name__}"
        raise InputError(f"must be {wanted}, not {type(value).__name__}{hint}", field=where)
    for number, each in enumerate(value):
        if not isinstance(each, kind):
            must_be(kind, each, f"{where}[{number}]", hint)


def _content_text(content: Content) -> str:
    try:
        return content if isinstance(content, str) else content_bytes(content).decode()
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8: {error}") from error


@dataclass(frozen=True, slots=True, repr=False)
class Test:
    """One test. For stdio problems `input` is stdin and `output` the expected stdout.

    For function-call problems `input` holds one JSON value per line, the arguments in order, and
    `output` one JSON value, the expected result; in standard mode it may hold several, one a line,
    any of which is right. Raises InputError for parts of other types.
    """

    __test__ = False  # not a pytest class

    input: Content
    """Text, bytes, or the path of a file that is read when it is needed."""
    output: Content | None = None
    """The answer to compare with, or to hand to the checker; None where grading needs none."""
    public: bool = False
    """True if the statement shows this test: a sample."""
    name: str = ""
    """Unique within a problem; empty: the test's position, from 0."""
    weight: float = 1.0
    """Share in a subtask that adds its tests up."""
    full: float = 1.0
    """Number that means full marks: in KATTIS's score.txt, or as TESTLIB's points."""
    flags: Sequence[str] = ()
    """Further arguments of the checker, or flags of the default validator, for this test."""
    args: Sequence[str] = ()
    """Command line arguments of the submission."""
    files: Mapping[str, Content] | None = None
    """Files in the submission's working directory, by relative path; they win over its own."""

    def __post_init__(self) -> None:
        # Tests are made by the million, so this only looks at a few types.
        if (
            type(self.input) is type(self.output) is type(self.name) is str
            and self.files is None
            and type(self.flags) is type(self.args) is tuple
        ):
            return
        must_be((str, bytes, Path), self.input, "input")
        if self.output is not None:
            must_be((str, bytes, Path), self.output, "output")
        must_be(str, self.name, "name")
        for name, content in (self.files or {}).items():
            must_be((str, bytes, Path), content, f"files.{name}")
        for field_name in ("flags", "args"):
            _make_tuple(self, field_name, str)

    def __repr__(self) -> str:
        return shown(
            self,
            quoted(self.name, 20) if self.name else "",
            f"input {_content_shown(self.input)}",
            "no output" if self.output is None else f"output {_content_shown(self.output)}",
            "public" if self.public else "",
        )

    def input_bytes(self) -> bytes:
        """Return the input. Raises InputError if its file cannot be read."""
        return content_bytes(self.input)

    def output_bytes(self) -> bytes:
        """Return the output, empty if there is none. Raises InputError as input_bytes."""
        return b"" if self.output is None else content_bytes(self.output)

    def input_text(self) -> str:
        """Return the input as text. Raises InputError if it is not text or cannot be read."""
        return _content_text(self.input)

    def output_text(self) -> str:
        """Return the output as text, empty if there is none. Raises InputError as input_text."""
        return "" if self.output is None else _content_text(self.output)


@dataclass(frozen=True, slots=True)
class Stub:
    """Files compiled together with the submission, for one family of languages."""

    files: Mapping[str, bytes]
    """Grader or stub, headers; those of the language's own kind are compiled."""
    name: str = ""
    """File name that the submission is given; empty: the language's usual one."""
    flags: tuple[str, ...] = ()
    """Further compiler arguments, such as -DEVAL."""
    before: str = ""
    """Source put before the submission's, on lines of its own."""
    after: str = ""
    """Source put after it."""
    starts: bool = True
    """True if the program starts in a source among the files, where there is one; False if the
    submission starts, and the files are only put beside it."""


@dataclass(frozen=True, slots=True)
class Batch:
    """One run of the submission per test, from input to output.

    Raises InputError for files that are not in its working directory.
    """

    input_file: str | None = None
    """Name under which the submission finds the input; None: on stdin."""
    output_file: str | None = None
    """Name of the file that it writes; None: stdout."""
    output_variable: str | None = None
    """Environment variable with the path of a file to write to. Of a submission whose source names
    it and which writes that file, the file is graded; of any other, stdout."""
    outputs: tuple[str, ...] = ()
    """Tests whose output may be submitted, as for OutputOnly, beside or instead of a program."""
    outputs_only: tuple[str, ...] = ()
    """Tests among `outputs` for which the program is never run."""

    def __post_init__(self) -> None:
        for field_name in ("input_file", "output_file"):
            if (name := getattr(self, field_name)) is not None:
                try:
                    check_relative(name)
                except InputError as error:
                    raise InputError(error.message, field=field_name) from error


@dataclass(frozen=True, slots=True)
class Interactive:
    """The submission talks with an interactor, which decides.

    It decides as an output validator (KATTIS), by its exit code (TESTLIB), or by what it prints
    on stderr (SCORE): a score, then a message.
    """

    interactor: Program
    convention: Convention = Convention.KATTIS
    flags: tuple[str, ...] = ()
    """Further arguments of the interactor.

    If the problem's grading is a checker of TESTLIB, the checker grades what the interactor
    accepts: the file that the interactor has written, which is its second argument.
    """
    passes: int = 1
    """KATTIS: with more than one, they talk again, in new processes, with each input that the
    validator leaves for itself (nextpass.in), up to so many times."""
    cpu: float = 20.0
    """CPU seconds that the interactor may use."""

    def __post_init__(self) -> None:
        must_be(Program, self.interactor, "interactor")
        must_be(Convention, self.convention, "convention")


@dataclass(frozen=True, slots=True)
class Communication:
    """IOI: one or more processes of the submission talk with a manager, which prints the score.

    If `graded`, it prints an output instead, which the problem's grading then grades.
    """

    manager: Program
    processes: int = 1
    fifo_io: bool = False
    """True if processes get the names of two pipes as arguments, instead of stdin and stdout."""
    manager_args: tuple[str, ...] = ()
    graded: bool = False

    def __post_init__(self) -> None:
        must_be(Program, self.manager, "manager")


@dataclass(frozen=True, slots=True)
class OutputOnly:
    """The submission is not a program but a file of output per test.

    They are the program's `files`, by the test's name or `NAME.out`; of a problem with one test,
    `source` will do.
    """


@dataclass(frozen=True, slots=True)
class TwoSteps:
    """CMS: two runs of the submission, which the task's manager, a stub, is compiled with.

    The second run gets what the first one wrote, and nothing else; see two_steps.py.
    """


Running = Batch | Interactive | Communication | OutputOnly | TwoSteps | CallTask | AssertionTask


MOST_PROCESSES = 16
"""Processes of a submission that talk with one manager: each has a cell, in addition
to the pool's number of them."""
MOST_DEPENDENT = 500
"""Subtasks of a problem in which some depend on others: each may bring the tests of all."""
MOST_DECIMALS = 15
"""Decimals that points are rounded to."""
MOST_POINTS = 1e12
"""Points of a subtask: sums of these can be counted exactly enough."""


class Aggregate(StrEnum):
    """How a subtask combines its tests' scores, each from 0 to 1."""

    MIN = "min"
    SUM = "sum"
    """Weighted mean of the scores."""
    THRESHOLD = "threshold"
    """All or nothing: 1 if none is below the subtask's threshold."""
    PRODUCT = "product"


@dataclass(frozen=True, slots=True, repr=False)
class Subtask:
    """Tests that are worth points together. Raises InputError for parts of other types."""

    name: str
    points: float
    tests: Sequence[str]
    aggregate: Aggregate = Aggregate.MIN
    threshold: float = 1.0
    depends: Sequence[str] = ()
    """Subtasks whose worst score this one's cannot exceed."""

    def __post_init__(self) -> None:
        must_be(str, self.name, "name")
        must_be((float, int), self.points, f"{self.name}.points")
        if not 0 <= self.points <= MOST_POINTS:  # not a number, too
            what = f"must be a number from 0 to {MOST_POINTS:g}"
            raise InputError(what, field=f"{self.name}.points")
        for field_name in ("tests", "depends"):
            _make_tuple(self, field_name, str)

    def __repr__(self) -> str:
        return shown(
            self,
            quoted(self.name, 20),
            f"{score_text(self.points)} points",
            counted(len(self.tests), "test"),
            self.aggregate.value,
        )


def inherited(subtask: Subtask, known: Mapping[str, Subtask]) -> tuple[str, ...]:
    """Tests of what a subtask depends on, deepest first; some may be its own too."""
    order: dict[str, None] = {}
    waiting = [(each, False) for each in reversed(subtask.depends)]
    while waiting:  # no recursion, and each once: a problem may come from a stranger
        name, ready = waiting.pop()
        if ready:
            order[name] = None
        elif name not in order:
            waiting.append((name, True))
            waiting += [(each, False) for each in reversed(known[name].depends)]
    return tuple(dict.fromkeys(test for name in order for test in known[name].tests))


@dataclass(frozen=True, slots=True, repr=False)
class Problem:
    """A task with its tests, whichever format it came in.

    How a submission is run, how its output is graded and how points add up are fields. A problem
    without tests cannot be passed: it is a TASK_FAULT. Raises InputError for parts of other types
    and for subtasks that do not fit the tests.
    """

    id: str
    """Name of the problem, unique among those judged together."""
    tests: Sequence[Test]
    """Tests in the order in which they are run."""
    function: str | None = None
    """Name of the Python function to call; None for a program."""
    title: str = ""
    """Title for people."""
    statement: str = ""
    """Statement, as it is given to a model."""
    platform: str = ""
    """Site it comes from, such as `codeforces`; for reports."""
    difficulty: str = ""
    """Difficulty, such as `easy`; for reports."""
    published: date | None = None
    """Date of publication, for reports on contamination."""
    starter_code: str = ""
    """Beginning of a program that a model is given."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the source row that proctor has no use for, kept as they were."""
    subtasks: Sequence[Subtask] = ()
    """Empty: there are no points; the score is the mean of the tests'."""
    limits: Limits | None = None
    """Of each test; None: those of the JudgeSettings."""
    grading: Grading = STANDARD_COMPARISON
    """Comparison of outputs, or a checker; words in order and numbers as decimals by default."""
    running: Running = Batch()
    """Way in which a submission is run: alone with each test by default, or with a partner."""
    stubs: Mapping[str, Stub] = field(default_factory=dict)
    """By family of languages (`cpp`, `python`, ...; see Language.family). If any of them has files,
    submissions in other families do not compile."""
    precision: int = 2
    """Decimals that points are rounded to."""
    languages: Sequence[str] = ()
    """Ids of the languages that submissions may be in; empty for any."""
    integrity: str = ""
    """The author of the grading, and how far to trust it; empty if it is proctor's own."""
    group_grading: GroupGrading | None = None
    """How points add up where a program decides it; None where the subtasks do."""
    accepted: Program | None = None
    """A submission known to be right. If a checker, interactor or manager fails on another one, it
    is tried with this: only if it fails again is the task to blame."""

    if not TYPE_CHECKING:  # for a more helpful message than that an argument is missing

        def __new__(cls, *args, **_named):
            if args and not isinstance(args[0], str) and (len(args) == 1 or _is_tests(args[0])):
                given = type(args[0]).__name__
                raise InputError(f'must be str, not {given}; write Problem("a name", tests)',
                                 field="id")  # fmt: skip
            return object.__new__(cls)

    def __post_init__(self) -> None:
        self._check_types()
        if self.subtasks and not self.tests:
            raise InputError("a problem without tests cannot be judged", field="tests")
        if self.subtasks or any(test.name for test in self.tests):
            self._check_names()

    def _check_types(self) -> None:
        must_be(str, self.id, "id")
        if self.function is not None:
            must_be(str, self.function, "function")
        hint = "; write [Test(input, output)]" if isinstance(self.tests, Test | str) else ""
        _make_tuple(self, "tests", Test, hint or "; write Test(input, output)")
        _make_tuple(self, "subtasks", Subtask)
        _make_tuple(self, "languages", str)
        if self.function is not None and (self.subtasks or self.grading != STANDARD_COMPARISON):
            raise InputError("calls have their own comparison, and no subtasks", field="function")
        if self.limits is not None:
            must_be(Limits, self.limits, "limits", LIMITS_HINT)
        must_be((Comparison, Checker), self.grading, "grading")
        must_be(get_args(Running), self.running, "running")
        must_be((Program, type(None)), self.accepted, "accepted")

    def __repr__(self) -> str:
        return shown(
            self,
            quoted(self.id),
            counted(len(self.tests), "test"),
            f"function {quoted(self.function, 30)}" if self.function is not None else "",
            f"{score_text(self.points)} points" if self.subtasks else "",
            "" if isinstance(self.running, Batch) else type(self.running).__name__,
            type(self.grading).__name__ if isinstance(self.grading, Checker) else "",
            "" if self.limits is None else f"limits {self.limits!r}",
        )

    def _check_names(self) -> None:
        tests = self.tests_by_name()
        if len(tests) != len(self.tests):
            raise InputError("two tests have the same name", field="tests")
        known = {subtask.name: subtask for subtask in self.subtasks}
        if len(known) != len(self.subtasks):
            raise InputError("two subtasks have the same name", field="subtasks")
        for subtask in self.subtasks:
            where = f"subtasks.{subtask.name}"
            for name in subtask.tests:
                if name not in tests:
                    raise InputError(f"there is no test {name!r}", field=where)
            for name in subtask.depends:
                if name not in known:
                    raise InputError(f"there is no subtask {name!r}", field=where)
        if any(subtask.depends for subtask in self.subtasks):
            self._check_order()

    def _check_order(self) -> None:
        from graphlib import CycleError, TopologicalSorter  # few problems need it

        if len(self.subtasks) > MOST_DEPENDENT:
            what = f"{len(self.subtasks)} of which some depend on others; {MOST_DEPENDENT} may"
            raise InputError(what, field="subtasks")
        try:
            TopologicalSorter({each.name: each.depends for each in self.subtasks}).prepare()
        except CycleError as error:
            where = f"subtasks.{error.args[1][0]}"
            raise InputError("it depends on itself", field=where) from error

    def tests_by_name(self) -> dict[str, Test]:
        """Return the tests by name, in order; one without a name has its position's, from 0."""
        return {test.name or str(number): test for number, test in enumerate(self.tests)}

    def takes(self, language: str) -> bool:
        """Return whether submissions may be in the language of this id."""
        return not self.languages or language in self.languages

    @property
    def test_limits(self) -> Limits:
        """Limits of each test, the usual ones if the problem states none."""
        return self.limits or TEST_LIMITS

    @property
    def points(self) -> float:
        """Points of a perfect submission."""
        if self.group_grading is not None:
            return self.group_grading.points
        return sum(subtask.points for subtask in self.subtasks)


def _is_tests(value: object) -> bool:
    return isinstance(value, Test | list | tuple)


def check_problem(problem: object, program: object = None) -> None:
    """Raise InputError for anything but a problem, with the line that would work, if known.

    `program` is the argument given as the program; it is the problem if the two are swapped.
    """
    if isinstance(problem, Problem):
        return
    if isinstance(program, Problem):
        hint = "; problem and program are swapped: the problem comes first"
    elif isinstance(problem, Test):
        hint = '; write Problem("a name", [test])'
    elif isinstance(problem, list | tuple):
        hint = '; write Problem("a name", tests)'
    elif isinstance(problem, str | Path):
        hint = "; read one with load_package(path).problem"
    else:
        hint = ""
    must_be(Problem, problem, "problem", hint)
