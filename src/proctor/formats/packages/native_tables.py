"""Tables of problem.toml, proctor's own format; see docs/reference/packages.md."""

from typing import Literal

import msgspec

from proctor.formats.packages.model import Bound
from proctor.grading import Convention, Match
from proctor.problem import Aggregate

NativeVerdict = Literal["AC", "PA", "WA", "PE", "TLE", "ILE", "MLE", "OLE", "RE", "CE"]
NativeVerdicts = NativeVerdict | list[NativeVerdict]
_Points = float | tuple[float, float] | None


class _NativeTable(msgspec.Struct, forbid_unknown_fields=True):
    """A table of the file; unknown keys are mistakes."""


class NativeProgram(_NativeTable, forbid_unknown_fields=True):
    """A program of the package whose main file or language its path does not tell."""

    path: str
    main: str = ""
    """Main file of a directory; all others are put beside it."""
    language: str | None = None


ProgramPath = str | NativeProgram


class NativeLimits(_NativeTable, forbid_unknown_fields=True):
    """`[limits]`, of the problem or of a submission of its own."""

    cpu: str | float = 10.0
    wall: str | float | None = None
    elapsed: str | float | None = None
    memory: str | int = "1G"
    output: str | int = "64M"
    processes: int = 64
    disk: str | int = 0
    stack: str | int = "64M"


class NativeTiming(_NativeTable, forbid_unknown_fields=True):
    """`[timing]`: see model.Timing."""

    given: bool = True
    multiplier: float = 1.0
    margin: float = 1.0
    resolution: float = 1.0


class NativeRunning(_NativeTable, forbid_unknown_fields=True):
    """`[running]`; native.py checks which keys go with which type."""

    type: Literal["batch", "interactive", "communication", "output-only", "two-steps"] = "batch"
    input_file: str | None = None
    output_file: str | None = None
    output_variable: str | None = None
    outputs: list[str] = []
    outputs_only: list[str] = []
    interactor: ProgramPath | None = None
    convention: Convention = Convention.KATTIS
    flags: list[str] = []
    passes: int = 1
    manager: ProgramPath | None = None
    processes: int = 1
    fifo_io: bool = False
    manager_args: list[str] = []
    graded: bool = False


class NativeGrading(_NativeTable, forbid_unknown_fields=True):
    """`[grading]`: a comparison or a checker."""

    match: Match = Match.TOKENS
    case_sensitive: bool = True
    space_sensitive: bool = False
    absolute: float | None = None
    relative: float | None = None
    decimals: bool = False
    checker: ProgramPath | None = None
    convention: Convention = Convention.TESTLIB
    flags: list[str] = []
    passes: int = 1


class NativeTests(_NativeTable, forbid_unknown_fields=True):
    """`[tests]`: all of them by a pattern."""

    inputs: str
    answers: str | None = None
    samples: list[str] = []


class NativeTest(_NativeTable, forbid_unknown_fields=True):
    """`[[test]]`: one of them."""

    name: str
    input: str
    answer: str | None = None
    sample: bool = False
    weight: float = 1.0
    full: float = 1.0
    flags: list[str] = []
    args: list[str] = []
    files: dict[str, str] = {}


class NativeSubtask(_NativeTable, forbid_unknown_fields=True):
    """`[[subtask]]`."""

    name: str
    points: float
    tests: list[str]
    aggregate: Aggregate = Aggregate.MIN
    threshold: float = 1.0
    depends: list[str] = []


class NativeStub(_NativeTable, forbid_unknown_fields=True):
    """`[stubs.FAMILY]`."""

    files: list[str] | dict[str, str]
    name: str = ""
    flags: list[str] = []
    before: str | None = None
    after: str | None = None
    starts: bool = True


class NativeClaim(_NativeTable, forbid_unknown_fields=True):
    """Keys that say what is expected of a submission, or of a part of it."""

    verdict: NativeVerdicts | None = None
    permitted: NativeVerdicts | None = None
    required: NativeVerdicts | None = None
    points: _Points = None


class NativePart(NativeClaim, forbid_unknown_fields=True, kw_only=True):
    """A part of a submission's label: about a subtask, or about `tests`."""

    name: str
    tests: list[str] | None = None


class NativeSubmission(NativeClaim, forbid_unknown_fields=True, kw_only=True):
    """`[[submission]]`."""

    path: str
    main: str = ""
    language: str | None = None
    subtasks: dict[str, NativeVerdicts] = {}
    """Short for parts that have a verdict and no more."""
    part: list[NativePart] = []
    complete: bool = False
    time: Bound | None = None
    limits: NativeLimits | None = None


class NativeProblem(_NativeTable, forbid_unknown_fields=True):
    """The whole file."""

    id: str
    title: str = ""
    statement: str = ""
    precision: int = 2
    languages: list[str] = []
    integrity: str = ""
    limits: NativeLimits = msgspec.field(default_factory=NativeLimits)
    timing: NativeTiming = msgspec.field(default_factory=NativeTiming)
    running: NativeRunning = msgspec.field(default_factory=NativeRunning)
    grading: NativeGrading = msgspec.field(default_factory=NativeGrading)
    tests: NativeTests | None = None
    test: list[NativeTest] = []
    subtask: list[NativeSubtask] = []
    stubs: dict[str, NativeStub] = {}
    submission: list[NativeSubmission] = []
    validator: str | None = None
    """Read by input_validators.py."""
