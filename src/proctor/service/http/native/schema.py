"""Requests and answers of the native API as JSON, the same over HTTP, in the daemon and in clients.

A class that ends in Json is the JSON form of the class without that ending. Times are in seconds,
sizes in bytes. A request with a field that is not named here is refused.
"""

from typing import Annotated, Any, ClassVar, Literal

import msgspec

from proctor.execution import Strength
from proctor.service.http.problem_details import ProblemDetails

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]
Seconds = Annotated[float, msgspec.Meta(gt=0, le=86400)]
Bytes = Annotated[int, msgspec.Meta(gt=0, le=1 << 40)]
SetName = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
Count = Annotated[int, msgspec.Meta(gt=0, le=1 << 20)]
Amount = Annotated[int, msgspec.Meta(ge=0, le=1 << 50)]
"""A number that clients reckon with: beyond the bound it is no answer."""


class LimitsJson(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Bounds on one execution; a missing bound has the default for the kind of request."""

    cpu: Seconds | None = None
    """CPU seconds, of all processes together."""
    wall: Seconds | None = None
    """Wall seconds."""
    memory: Bytes | None = None
    """Bytes of memory, of all processes together."""
    output: Bytes | None = None
    """Bytes of stdout and of stderr, each."""
    processes: Count | None = None
    """Processes and threads at once."""
    disk: Annotated[int, msgspec.Meta(ge=0, le=1 << 40)] | None = None
    """Bytes of files in the working directory; 0: none can be written."""
    stack: Bytes | None = None
    """Bytes of stack."""
    elapsed: Seconds | None = None
    """Seconds of computing and rest together, without waits that a busy machine causes."""
    loopback: bool | None = None
    """True for a loopback interface and a /dev/shm of its own."""
    locks: bool | None = None
    """True for locks on files, as databases need them; a session has them unless this is false."""


class ProgramJson(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A program: its source, its language and further files."""

    source: str
    """Text of the program."""
    language: Annotated[str, msgspec.Meta(max_length=32)] = "python"
    """Id or alias of a language, as GET /v1/languages lists them."""
    name: Annotated[str, msgspec.Meta(max_length=1000)] = ""
    """File name of `source`; empty for the language's usual one."""
    files: dict[str, str] = {}
    """Further files, base64 by relative path; none may lead out of the working directory."""


class RunRequestJson(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One run of a program. POST /v1/run."""

    program: ProgramJson
    """The program."""
    stdin: str = ""
    """Standard input, as text."""
    stdin_base64: str = ""
    """Instead of `stdin`, for bytes that are not UTF-8."""
    args: tuple[str, ...] = ()
    """Arguments of the command line."""
    environment: dict[str, str] = {}
    """Further environment variables; those of the server are never there."""
    limits: LimitsJson = LimitsJson()
    """Bounds on the run."""
    collect: tuple[Name, ...] = ()
    """Files to return, by relative path."""
    packages: SetName | None = None
    """Package set that the program may import, one of the capabilities' `package_sets`."""


class Output(msgspec.Struct, frozen=True):
    """Bytes that a program wrote: as text, and as base64 too where they are not UTF-8."""

    text: str
    """Text, with replacement characters where it is not UTF-8."""
    base64: str | None = None
    """The bytes, where they are not UTF-8."""


Outcome = Literal["verdict", "task_fault", "infra_fault"]
"""Subject of the answer: the program (`verdict`), the task, or the infrastructure. Only a verdict
may be scored."""


class ExecutionJson(msgspec.Struct, frozen=True):
    """Facts of one run."""

    exit_code: int | None
    """Exit code; null if a signal ended it."""
    signal: int | None
    """Number of the signal that ended it."""
    stdout: Output
    """Standard output."""
    stderr: Output
    """Standard error."""
    cpu: float
    """CPU seconds."""
    wall: float
    """Wall seconds."""
    memory: int
    """Bytes of memory, at most."""
    limit: str | None
    """Limit that was hit: cpu, wall, idle, memory, output, processes or disk."""


class CompilationJson(msgspec.Struct, frozen=True):
    """Outcome of compiling."""

    ok: bool
    """True if it compiled."""
    output: str
    """Messages of the compiler."""
    wall: float
    """Wall seconds."""


class RunResult(msgspec.Struct, frozen=True):
    """Outcome of a run."""

    outcome: Outcome
    """Subject of the answer: the program (`verdict`), the task, or the server. Only a verdict
    may be scored."""
    verdict: str
    """OK, CE, RE, TLE, ILE, MLE or OLE."""
    compilation: CompilationJson | None
    """Outcome of compiling, if the language compiles."""
    execution: ExecutionJson | None
    """The run; null if it did not compile."""
    files: dict[str, str]
    """Collected files, base64 by relative path."""
    queue: float
    """Seconds waited for a place."""
    isolation: str | None
    """Isolation level that held it."""
    id: str = ""
    """Id of the job, also in the header X-Job-Id."""


class TestJson(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One test."""

    __test__: ClassVar[bool] = False  # not a pytest class

    input: str = ""
    """Standard input; of a function, arguments as JSON values, one a line."""
    output: str = ""
    """Expected output; of a function, a JSON value."""
    name: str = ""
    """Name in results; empty for its number."""


class CheckerJson(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Grading by a program, which runs in a cell of its own."""

    program: ProgramJson
    """The checker or interactor."""
    convention: Literal[
        "testlib", "score", "testlib-score", "exit-code", "kattis", "hustoj", "qduoj", "printed"
    ] = "testlib"
    """Convention by which it is called and reports its decision."""
    flags: tuple[str, ...] = ()
    """Further arguments."""


class ComparisonJson(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Grading by comparing output with the expected output."""

    match: Literal[
        "exact", "lines", "tokens", "unordered-lines", "raw-lines", "token-lines",
        "unordered-tokens", "characters", "yes-no", "last-line", "trimmed",
    ] = "tokens"  # fmt: skip
    """Parts of the output that must agree."""
    case_sensitive: bool = True
    """False to ignore case."""
    space_sensitive: bool = False
    """True to count white space between words."""
    absolute: float | None = None
    """Absolute error allowed in numbers."""
    relative: float | None = None
    """Relative error allowed in numbers."""


class SubtaskJson(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A group of tests that is worth points."""

    name: Name
    """Name in results."""
    points: float
    """Points for all of it."""
    tests: tuple[str, ...]
    """Names of its tests."""
    aggregate: Literal["min", "sum", "threshold", "product"] = "min"
    """How its score follows from those of its tests: the lowest (`min`), their product, their sum,
    or all or nothing (`threshold`)."""


class ProblemJson(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A problem to judge a program against: tests, or a row of a data set."""

    id: str = "problem"
    """Name of the problem."""
    tests: Annotated[tuple[TestJson, ...], msgspec.Meta(max_length=100_000)] = ()
    """Tests, in the order in which they are run."""
    function: str | None = None
    """Python function to call: inputs are then JSON values, one a line, outputs one JSON value, or
    several, one a line, any of which is right."""
    comparison: ComparisonJson | None = None
    """How outputs are compared; null: word by word."""
    checker: CheckerJson | None = None
    """Program that decides whether an output is right."""
    interactor: CheckerJson | None = None
    """Program that talks with the submission and decides."""
    subtasks: tuple[SubtaskJson, ...] = ()
    """Groups of tests that are worth points."""
    format: Literal["tests", "livecodebench", "codeforces"] = "tests"
    """`tests`: the fields above; else the data set that `row` is from."""
    row: dict[str, Any] | None = None
    """Row of a data set, instead of all the fields above but `id`."""


class JudgeRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Judgement of one program against one problem. POST /v1/judge."""

    program: ProgramJson
    """The submission."""
    problem: ProblemJson
    """The problem."""
    limits: LimitsJson = LimitsJson()
    """Bounds on each test."""
    mode: Literal["standard", "official"] = "standard"
    """`official`: lcb_runner's verdicts; only for Python, rows of livecodebench and plain tests."""
    stop: Literal["first", "crash", "never"] = "crash"
    """End judging at the `first` test that is not passed, at a `crash` or an overrun limit, or
    `never`. Only tests that can no longer change the score are left out. Only with `first` can a
    program conclude from a further test that its earlier answers were right."""
    fast: bool = False
    """True to run all tests of a Python program in one process, which costs less."""
    packages: SetName | None = None
    """Package set that the program may import."""


class TestResultJson(msgspec.Struct, frozen=True):
    """Outcome of one test that was run."""

    __test__: ClassVar[bool] = False  # not a pytest class

    name: str
    """Name of the test."""
    verdict: str
    """Verdict of the test."""
    score: float
    """0 to 1."""
    cpu: float
    """CPU seconds."""
    wall: float
    """Wall seconds."""
    memory: int
    """Bytes of memory, at most."""
    message: str = ""
    """Explanation of the verdict in words."""


class SubtaskResultJson(msgspec.Struct, frozen=True):
    """Outcome of one subtask."""

    name: str
    """Name of the subtask."""
    verdict: str
    """Verdict of the subtask."""
    score: float | None
    """0 to 1; null for a fault."""
    points: float | None
    """Points; null for a fault."""
    of: float
    """Highest possible points."""


class JudgeResult(msgspec.Struct, frozen=True):
    """Outcome of a judgement."""

    outcome: Outcome
    """Subject of the answer: the program (`verdict`), the task, or the infrastructure. Only a
    verdict may be scored."""
    verdict: str
    """AC, WA, PE, TLE, ILE, MLE, OLE, RE, CE, NC, TASK_FAULT or INFRA_FAULT."""
    passed: bool
    """True if the verdict is AC."""
    score: float | None
    """0 to 1; null for a fault, which must not be scored."""
    points: float | None
    """Points, if the problem has subtasks."""
    of: float | None
    """Highest possible points."""
    tests: tuple[TestResultJson, ...]
    """Tests that were run."""
    subtasks: tuple[SubtaskResultJson, ...]
    """Subtasks."""
    message: str
    """Explanation of the verdict in words."""
    compiler_output: str
    """Messages of the compiler, if it does not compile."""
    queue: float
    """Seconds waited for a place."""
    isolation: str | None
    """Isolation level that held it."""
    id: str = ""
    """Id of the job."""


class JobState(msgspec.Struct, frozen=True):
    """State of a job."""

    id: str
    """Id of the job."""
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    """How far it is."""
    result: Any = None
    """Answer to the request if the job is done; of a cancelled solver, what it had found."""
    error: ProblemDetails | None = None
    """Why it failed."""


class JobRequest(msgspec.Struct, frozen=True):
    """Request of a job. GET /v1/jobs/{id}/request."""

    id: str
    """Id of the job."""
    method: Literal["run", "stream", "judge"]
    """`stream` is a run whose output came as events, and is not in its result."""
    request: Any
    """Request as it was sent to /v1/run or /v1/judge."""


class LanguageJson(msgspec.Struct, frozen=True):
    """A language whose tools are installed."""

    id: str
    """Name for `language` of a program."""
    name: str
    """Name in words."""
    aliases: tuple[str, ...]
    """Further names."""
    version: str
    """Version that its tools report."""


class GuaranteeJson(msgspec.Struct, frozen=True):
    """One thing that isolation keeps programs from."""

    strength: Strength
    """How much it holds."""
    how: str
    """Mechanism that enforces it."""
    gap: str
    """Gap that it leaves open."""


class Capabilities(msgspec.Struct, frozen=True):
    """Version, isolation and load of a server."""

    version: str
    """Version of proctor."""
    isolation: str
    """Isolation level in force."""
    guarantees: dict[str, GuaranteeJson]
    """Guarantees of that level, by name."""
    places: Count
    """Jobs that may run at once."""
    waiting: Amount
    """Jobs that wait."""
    running: Amount
    """Jobs that run."""
    package_sets: tuple[str, ...] = ()
    """Names for `packages` of a request."""


class CheckRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A question about a solver. POST /v1/check."""

    code: str
    """The program."""
    profile: Annotated[str, msgspec.Meta(max_length=200)] = "timetable"
    """Id of its profile."""
    parse_only: bool = False
    """True to parse only: `return` outside a function parses, but does not compile."""


class CheckJson(msgspec.Struct, frozen=True):
    """Outcome of a check."""

    ok: bool
    """True if it compiles."""
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
    """The program."""
    input: Any = None
    """Input: any JSON value but null."""
    input_text: str = ""
    """Instead of `input`: a JSON document, which the program gets byte for byte."""
    input_base64: str = ""
    """Instead of `input`: a JSON document as base64."""
    profile: Annotated[str, msgspec.Meta(max_length=200)] = "timetable"
    """Id of a profile: one of proctor's, or of the configuration's `serve.profiles`."""
    timeout: Seconds | None = None
    """Wall seconds; null: EXECUTOR_TIMEOUT_SECONDS of the server, else the profile's."""
    workers: Annotated[int, msgspec.Meta(ge=1, le=1 << 20)] | None = None
    """Threads that the program is told to use; never more than there are CPUs."""
    seed: Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)] = 42
    """Random seed that is passed to the program."""
    deterministic: bool = False
    """True to use one thread, and tell the program to be repeatable."""
    roundtrip: bool = False
    """True if the profile's own model must confirm the solution."""
    reference: Any = None
    """Data that only the validator sees, for profiles whose validator takes it."""
