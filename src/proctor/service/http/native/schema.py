"""The native API's requests and answers: JSON objects, the same at every native door.

Seconds and bytes throughout. A request with a field that is not named here is refused.
"""

from typing import Annotated, Any, ClassVar, Literal

import msgspec

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]
Seconds = Annotated[float, msgspec.Meta(gt=0, le=86400)]
Bytes = Annotated[int, msgspec.Meta(gt=0, le=1 << 40)]
SetName = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
Count = Annotated[int, msgspec.Meta(gt=0, le=1 << 20)]


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Bounds on one execution; what is left out has the default of the kind of request."""

    cpu: Seconds | None = None
    wall: Seconds | None = None
    memory: Bytes | None = None
    output: Bytes | None = None
    processes: Count | None = None
    disk: Annotated[int, msgspec.Meta(ge=0, le=1 << 40)] | None = None
    stack: Bytes | None = None


class Program(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A program's source."""

    source: str
    language: Annotated[str, msgspec.Meta(max_length=32)] = "python"
    name: Annotated[str, msgspec.Meta(max_length=1000)] = ""
    """File name of `source`; empty for the language's usual one."""
    files: dict[str, str] = {}
    """Further files, base64 by relative path."""


class RunRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One program, once. POST /v1/run."""

    program: Program
    stdin: str = ""
    stdin_base64: str = ""
    """Instead of `stdin`, for what is no text."""
    args: tuple[str, ...] = ()
    environment: dict[str, str] = {}
    limits: Limits = Limits()
    collect: tuple[Name, ...] = ()
    """Files to bring back, by relative path."""
    packages: SetName | None = None
    """Set of packages that it may import: one of the capabilities' `package_sets`."""


class Output(msgspec.Struct, frozen=True):
    """Bytes that a program wrote: as text, and where they are no UTF-8 as base64 too."""

    text: str
    base64: str | None = None


Outcome = Literal["verdict", "task_fault", "infra_fault"]
"""Whether the answer says something of the program, or of the task, or of us; only the first may
be scored."""


class Execution(msgspec.Struct, frozen=True):
    """The facts of one run."""

    exit_code: int | None
    signal: int | None
    stdout: Output
    stderr: Output
    cpu: float
    wall: float
    memory: int
    limit: str | None
    """The limit that was hit: cpu, wall, idle, memory, output, processes, disk."""


class Compilation(msgspec.Struct, frozen=True):
    """What came of compiling."""

    ok: bool
    output: str
    wall: float


class RunResult(msgspec.Struct, frozen=True):
    """What came of a run."""

    outcome: Outcome
    verdict: str
    """OK, CE, RE, TLE, ILE, MLE or OLE."""
    compilation: Compilation | None
    execution: Execution | None
    files: dict[str, str]
    """Base64 by relative path."""
    queue: float
    isolation: str | None
    id: str = ""
    """The job's."""


class Test(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One test."""

    __test__: ClassVar[bool] = False  # not a pytest class

    input: str = ""
    output: str = ""
    name: str = ""


class Checker(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Grading by a program in a cell of its own."""

    program: Program
    convention: Literal["testlib", "score", "testlib-score", "exit-code", "kattis", "printed"] = (
        "testlib"
    )
    flags: tuple[str, ...] = ()


class Comparison(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Grading without a program."""

    match: Literal[
        "exact", "lines", "tokens", "unordered-lines", "raw-lines", "token-lines",
        "unordered-tokens", "characters", "yes-no",
    ] = "tokens"  # fmt: skip
    case_sensitive: bool = True
    space_sensitive: bool = False
    absolute: float | None = None
    relative: float | None = None


class Subtask(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Tests that are worth points together."""

    name: Name
    points: float
    tests: tuple[str, ...]
    aggregate: Literal["min", "sum", "threshold", "product"] = "min"


class Problem(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a program is judged against: tests here, or a row of a data set."""

    id: str = "problem"
    tests: Annotated[tuple[Test, ...], msgspec.Meta(max_length=100_000)] = ()
    function: str | None = None
    """Python function to call: inputs are then JSON values, one a line, outputs one JSON value."""
    comparison: Comparison | None = None
    checker: Checker | None = None
    interactor: Checker | None = None
    """A program that the submission talks with, and that decides."""
    subtasks: tuple[Subtask, ...] = ()
    format: Literal["tests", "livecodebench", "codeforces"] = "tests"
    row: dict[str, Any] | None = None
    """Of a data set in this format, instead of all the above but `id`."""


class JudgeRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One program against one problem. POST /v1/judge."""

    program: Program
    problem: Problem
    limits: Limits = Limits()
    """Per test."""
    mode: Literal["standard", "official"] = "standard"
    """`official`: lcb_runner's verdicts; Python and rows of livecodebench or plain tests only."""
    stop: Literal["first", "crash", "never"] = "crash"
    """Which tests that can no longer change the score are left out: those after the `first` that
    is not passed, those after a `crash` or a limit that was overrun, none. Only with `first` does a
    test tell the program that its answers before were right."""
    fast: bool = False
    packages: SetName | None = None
    """Set of packages that it may import."""


class TestResult(msgspec.Struct, frozen=True):
    """One test that was run."""

    __test__: ClassVar[bool] = False  # not a pytest class

    name: str
    verdict: str
    score: float
    cpu: float
    wall: float
    memory: int
    message: str = ""


class SubtaskResult(msgspec.Struct, frozen=True):
    """One subtask."""

    name: str
    verdict: str
    score: float | None
    points: float | None
    of: float


class JudgeResult(msgspec.Struct, frozen=True):
    """What came of a judgement."""

    outcome: Outcome
    verdict: str
    """AC, WA, PE, TLE, ILE, MLE, OLE, RE, CE, NC, TASK_FAULT or INFRA_FAULT."""
    passed: bool
    score: float | None
    """0 to 1; None for a fault, which must not be scored."""
    points: float | None
    of: float | None
    tests: tuple[TestResult, ...]
    subtasks: tuple[SubtaskResult, ...]
    message: str
    compiler_output: str
    queue: float
    isolation: str | None
    id: str = ""
    """The job's."""


class Language(msgspec.Struct, frozen=True):
    """A language that can be used here."""

    id: str
    name: str
    aliases: tuple[str, ...]
    version: str


class Guarantee(msgspec.Struct, frozen=True):
    """One thing that programs are held back from."""

    strength: str
    how: str
    gap: str


class Capabilities(msgspec.Struct, frozen=True):
    """What this server is and holds."""

    version: str
    isolation: str
    guarantees: dict[str, Guarantee]
    places: int
    """Jobs at once."""
    waiting: int
    running: int
    package_sets: tuple[str, ...] = ()
    """Names for `packages` of a request."""
