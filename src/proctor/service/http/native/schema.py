"""Requests and answers of the native API as JSON, the same over HTTP, in the daemon and in clients.

A class that ends in Json is the JSON form of the class without that ending. Times are in seconds,
sizes in bytes. A request with a field that is not named here is refused.
"""

from typing import Annotated, Any, ClassVar, Literal

import msgspec

from proctor.service.http.problem_details import ProblemDetails

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]
Seconds = Annotated[float, msgspec.Meta(gt=0, le=86400)]
Bytes = Annotated[int, msgspec.Meta(gt=0, le=1 << 40)]
SetName = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
Count = Annotated[int, msgspec.Meta(gt=0, le=1 << 20)]


class LimitsJson(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Bounds on one execution; one that is left out has the default of the kind of request."""

    cpu: Seconds | None = None
    wall: Seconds | None = None
    memory: Bytes | None = None
    output: Bytes | None = None
    processes: Count | None = None
    disk: Annotated[int, msgspec.Meta(ge=0, le=1 << 40)] | None = None
    stack: Bytes | None = None
    elapsed: Seconds | None = None
    loopback: bool | None = None


class ProgramJson(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A program: its source, its language and further files."""

    source: str
    language: Annotated[str, msgspec.Meta(max_length=32)] = "python"
    name: Annotated[str, msgspec.Meta(max_length=1000)] = ""
    """File name of `source`; empty for the language's usual one."""
    files: dict[str, str] = {}
    """Further files, base64 by relative path."""


class RunRequestJson(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One run of a program. POST /v1/run."""

    program: ProgramJson
    stdin: str = ""
    stdin_base64: str = ""
    """Instead of `stdin`, for bytes that are no UTF-8."""
    args: tuple[str, ...] = ()
    environment: dict[str, str] = {}
    limits: LimitsJson = LimitsJson()
    collect: tuple[Name, ...] = ()
    """Files to return, by relative path."""
    packages: SetName | None = None
    """Set of packages that the program may import: one of the capabilities' `package_sets`."""


class Output(msgspec.Struct, frozen=True):
    """Bytes that a program wrote: as text, and as base64 too where they are no UTF-8."""

    text: str
    base64: str | None = None


Outcome = Literal["verdict", "task_fault", "infra_fault"]
"""Subject of the answer: the program (`verdict`), the task, or the infrastructure. Only a verdict
may be scored."""


class ExecutionJson(msgspec.Struct, frozen=True):
    """Facts of one run."""

    exit_code: int | None
    signal: int | None
    stdout: Output
    stderr: Output
    cpu: float
    wall: float
    memory: int
    limit: str | None
    """The limit that was hit: cpu, wall, idle, memory, output, processes, disk."""


class CompilationJson(msgspec.Struct, frozen=True):
    """Outcome of compiling."""

    ok: bool
    output: str
    wall: float


class RunResult(msgspec.Struct, frozen=True):
    """Outcome of a run."""

    outcome: Outcome
    verdict: str
    """OK, CE, RE, TLE, ILE, MLE or OLE."""
    compilation: CompilationJson | None
    execution: ExecutionJson | None
    files: dict[str, str]
    """Base64 by relative path."""
    queue: float
    isolation: str | None
    id: str = ""
    """Id of the job."""


class TestJson(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One test."""

    __test__: ClassVar[bool] = False  # not a pytest class

    input: str = ""
    output: str = ""
    name: str = ""


class CheckerJson(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Grading by a program, which runs in a cell of its own."""

    program: ProgramJson
    convention: Literal[
        "testlib", "score", "testlib-score", "exit-code", "kattis", "hustoj", "qduoj", "printed"
    ] = "testlib"
    flags: tuple[str, ...] = ()


class ComparisonJson(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Grading by comparing output with the expected output."""

    match: Literal[
        "exact", "lines", "tokens", "unordered-lines", "raw-lines", "token-lines",
        "unordered-tokens", "characters", "yes-no", "last-line", "trimmed",
    ] = "tokens"  # fmt: skip
    case_sensitive: bool = True
    space_sensitive: bool = False
    absolute: float | None = None
    relative: float | None = None


class SubtaskJson(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A group of tests that is worth points."""

    name: Name
    points: float
    tests: tuple[str, ...]
    aggregate: Literal["min", "sum", "threshold", "product"] = "min"


class ProblemJson(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A problem to judge a program against: tests, or a row of a data set."""

    id: str = "problem"
    tests: Annotated[tuple[TestJson, ...], msgspec.Meta(max_length=100_000)] = ()
    function: str | None = None
    """Python function to call: inputs are then JSON values, one a line, outputs one JSON value."""
    comparison: ComparisonJson | None = None
    checker: CheckerJson | None = None
    interactor: CheckerJson | None = None
    """A program that talks with the submission and decides."""
    subtasks: tuple[SubtaskJson, ...] = ()
    format: Literal["tests", "livecodebench", "codeforces"] = "tests"
    row: dict[str, Any] | None = None
    """Row of a data set in this format, instead of all the fields above but `id`."""


class JudgeRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Judgement of one program against one problem. POST /v1/judge."""

    program: ProgramJson
    problem: ProblemJson
    limits: LimitsJson = LimitsJson()
    """Per test."""
    mode: Literal["standard", "official"] = "standard"
    """`official`: lcb_runner's verdicts; only for Python, rows of livecodebench and plain tests."""
    stop: Literal["first", "crash", "never"] = "crash"
    """End judging at the `first` test that is not passed, at a `crash` or an overrun limit, or
    `never`. Only tests that can no longer change the score are left out. Only with `first` does
    running a test tell the program that its answers before were right."""
    fast: bool = False
    packages: SetName | None = None
    """Set of packages that the program may import."""


class TestResultJson(msgspec.Struct, frozen=True):
    """Outcome of one test that was run."""

    __test__: ClassVar[bool] = False  # not a pytest class

    name: str
    verdict: str
    score: float
    cpu: float
    wall: float
    memory: int
    message: str = ""


class SubtaskResultJson(msgspec.Struct, frozen=True):
    """Outcome of one subtask."""

    name: str
    verdict: str
    score: float | None
    points: float | None
    of: float


class JudgeResult(msgspec.Struct, frozen=True):
    """Outcome of a judgement."""

    outcome: Outcome
    verdict: str
    """AC, WA, PE, TLE, ILE, MLE, OLE, RE, CE, NC, TASK_FAULT or INFRA_FAULT."""
    passed: bool
    score: float | None
    """0 to 1; None for a fault, which must not be scored."""
    points: float | None
    of: float | None
    tests: tuple[TestResultJson, ...]
    subtasks: tuple[SubtaskResultJson, ...]
    message: str
    compiler_output: str
    queue: float
    isolation: str | None
    id: str = ""
    """Id of the job."""


class JobState(msgspec.Struct, frozen=True):
    """State of a job."""

    id: str
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    result: Any = None
    """Answer to the request if the job is done; of a cancelled solver, what it had found."""
    error: ProblemDetails | None = None


class JobRequest(msgspec.Struct, frozen=True):
    """Request of a job. GET /v1/jobs/{id}/request."""

    id: str
    method: Literal["run", "stream", "judge"]
    """`stream` is a run whose output came as events, and is not in its result."""
    request: Any
    """Request as it was sent to /v1/run or /v1/judge."""


class LanguageJson(msgspec.Struct, frozen=True):
    """A language whose tools are installed."""

    id: str
    name: str
    aliases: tuple[str, ...]
    version: str


class GuaranteeJson(msgspec.Struct, frozen=True):
    """One thing that isolation keeps programs from."""

    strength: str
    how: str
    gap: str


class Capabilities(msgspec.Struct, frozen=True):
    """Version, isolation and load of a server."""

    version: str
    isolation: str
    guarantees: dict[str, GuaranteeJson]
    places: int
    """How many jobs may run at once."""
    waiting: int
    running: int
    package_sets: tuple[str, ...] = ()
    """Names for `packages` of a request."""


class CheckRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A question about a solver. POST /v1/check."""

    code: str
    profile: Annotated[str, msgspec.Meta(max_length=200)] = "timetable"
    parse_only: bool = False
    """True to ask the parser alone: `return` outside a function parses, and does not compile."""


class CheckJson(msgspec.Struct, frozen=True):
    """Outcome of a check."""

    ok: bool
    error: str | None
    """Why it does not compile."""


class Skeleton(msgspec.Struct, frozen=True):
    """Source that generated timetable solvers build on. GET /v1/skeleton."""

    program: str
    """The shortest program that uses it."""
    files: dict[str, str]
    """Its modules by their paths beside the program."""


class SolveRequestJson(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One run of a generated solver. POST /v1/solve."""

    code: str
    input: Any = None
    """Any JSON value but null."""
    input_text: str = ""
    """Instead of `input`: a JSON document, which the program gets byte for byte."""
    input_base64: str = ""
    """Instead of `input`: a JSON document as base64."""
    profile: Annotated[str, msgspec.Meta(max_length=200)] = "timetable"
    timeout: Seconds | None = None
    """Wall seconds; None: the value of the server's environment, else of the profile."""
    workers: Annotated[int, msgspec.Meta(ge=1, le=1 << 20)] | None = None
    seed: Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)] = 42
    deterministic: bool = False
    roundtrip: bool = False
    """True if the profile's own model must agree that a solution is one."""
    reference: Any = None
    """Data that only the validator sees, for profiles whose validator takes it."""
