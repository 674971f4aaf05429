"""Requests and answers as SandboxFusion's OpenAPI document names them, and what proctor adds."""

from typing import Annotated, Any, Literal

import msgspec

Language = Literal[
    "python", "python2", "cpp", "nodejs", "go", "go_test", "java", "php", "csharp", "bash",
    "typescript", "sql", "rust", "cuda", "lua", "R", "perl", "D_ut", "ruby", "scala", "julia",
    "pytest", "junit", "kotlin_script", "jest", "verilog", "python_gpu", "lean", "swift", "racket",
    "gtest", "react",
]  # fmt: skip
Status = Literal["Success", "Failed", "SandboxError"]
CommandStatus = Literal["Finished", "Error", "TimeLimitExceeded"]


class RunCodeRequest(msgspec.Struct, frozen=True):
    """A program to run; fields that are not named here are ignored, as upstream does."""

    code: str
    language: Language
    compile_timeout: float = 10
    """CPU seconds. Upstream counts wall time, which grows with the load of its machine."""
    run_timeout: float = 10
    """CPU seconds; a program that sleeps is ended a little later."""
    memory_limit_MB: int = -1  # noqa: N815 - upstream's name
    stdin: str | None = None
    stdin_base64: str | None = None
    """Proctor's own field: used instead of `stdin`, for data that is not text."""
    files: dict[str, str | None] = {}
    """Base64 by relative path."""
    fetch_files: list[str] = []
    locks: bool = False
    """Proctor's own field: true for locks on files, as databases need them."""


class CommandRunResult(msgspec.Struct, frozen=True):
    """Outcome of one command. The fields from `cpu_time` on are proctor's."""

    status: CommandStatus
    execution_time: float | None = None
    """Wall seconds."""
    return_code: int | None = None
    """Negative: the signal that ended it. None after a time-out."""
    stdout: str | None = None
    stderr: str | None = None
    cpu_time: float | None = None
    """CPU seconds of all processes."""
    memory: int | None = None
    """Peak bytes."""
    limit: str | None = None
    """The limit that was hit: cpu, idle, memory, output, ..."""
    stdout_base64: str | None = None
    """The bytes themselves, where they are not UTF-8."""
    stderr_base64: str | None = None


class RunCodeResponse(msgspec.Struct, frozen=True):
    """Outcome of a run. The fields from `verdict` on are proctor's."""

    status: Status
    message: str
    compile_result: CommandRunResult | None = None
    run_result: CommandRunResult | None = None
    executor_pod_name: str | None = None
    files: dict[str, str] = {}
    verdict: str = ""
    """OK, CE, RE, TLE, ILE, MLE, OLE, or INFRA_FAULT."""
    isolation: str | None = None
    """Level that held the program."""
    queue_time: float = 0.0
    """Seconds waited for a place."""


class RunJupyterRequest(msgspec.Struct, frozen=True):
    """Cells for one interpreter, in the order in which to run them."""

    cells: list[str]
    cell_timeout: float = 0
    """CPU seconds of each cell; 0 for no limit but `total_timeout`."""
    total_timeout: float = 45
    """CPU seconds of all cells."""
    memory_limit_MB: int = -1  # noqa: N815 - upstream's name
    kernel: Literal["python3"] = "python3"
    files: dict[str, str | None] = {}
    """Base64 by relative path."""
    fetch_files: list[str] = []
    locks: bool = False
    """Proctor's own field: true for locks on files, as databases need them."""


class CellRunResult(msgspec.Struct, frozen=True):
    """Outcome of one cell. The fields from `limit` on are proctor's."""

    stdout: str
    stderr: str
    display: list[dict[str, Any]]
    """Displays of the cell, then the last line's value, each by MIME type."""
    error: list[dict[str, Any]]
    """At most one: ename, evalue, traceback (lines)."""
    limit: str | None = None
    cpu_time: float | None = None


class RunJupyterResponse(msgspec.Struct, frozen=True):
    """Outcome of the cells. The fields from `isolation` on are proctor's."""

    status: Status
    message: str
    driver: CommandRunResult | None = None
    cells: list[CellRunResult] = []
    """Outcomes of the cells that were begun."""
    executor_pod_name: str | None = None
    files: dict[str, str] = {}
    isolation: str | None = None


RowId = int | str


class TestConfig(msgspec.Struct, frozen=True):
    """Settings for judging rows; fields that are not named here are ignored."""

    dataset_type: str | None = None
    language: Language | None = None
    locale: str | None = None
    is_fewshot: bool | None = None
    compile_timeout: float | None = None
    run_timeout: float | None = None
    custom_extract_logic: str | None = None
    provided_data: list[dict[str, Any]] | dict[str, Any] | None = None
    extra: dict[str, Any] = {}


class GetPromptsRequest(msgspec.Struct, frozen=True):
    """Rows to list, by their place."""

    dataset: str
    config: TestConfig
    offset: Annotated[int, msgspec.Meta(ge=0)] = 0
    limit: Annotated[int, msgspec.Meta(ge=0)] = 1_000_000


class GetPromptByIdRequest(msgspec.Struct, frozen=True):
    """A row, by its id."""

    dataset: str
    config: TestConfig
    id: RowId


class SubmitRequest(msgspec.Struct, frozen=True):
    """A model's reply to a row."""

    dataset: str
    id: RowId
    completion: str
    config: TestConfig


class MetricsRequest(msgspec.Struct, frozen=True):
    """A data set whose metrics are asked for; the results that are sent along are ignored."""

    dataset: str
    config: TestConfig


class PromptJson(msgspec.Struct, frozen=True):
    """A prompt for a model."""

    id: RowId
    prompt: str
    labels: dict[str, Any] = {}


class EvalTestCase(msgspec.Struct, frozen=True):
    """Outcome of one test."""

    passed: bool
    exec_info: RunCodeResponse
    test_info: dict[str, Any] | None = None


class EvalResult(msgspec.Struct, frozen=True):
    """Judgement of a model's reply."""

    id: RowId
    accepted: bool
    extracted_code: str
    tests: list[EvalTestCase]
    full_code: str | None = None
    test_code: str | None = None
    extracted_type: Literal["fenced", "heuristic", "empty"] | None = None
    extra: dict[str, Any] | None = None


class DatasetTest(msgspec.Struct):
    """A test of a row."""

    input: dict[str, str]
    output: dict[str, str]


class DatasetRow(msgspec.Struct):
    """A row of a data set of the kind CommonOJDataset."""

    id: RowId
    content: str = ""
    labels: dict[str, Any] = {}
    test: list[DatasetTest] = []


class AutoEvalTest(msgspec.Struct):
    """Code that tests a program, with the files that it needs."""

    code: str
    files: dict[str, str | None] = msgspec.field(name="asset", default_factory=dict)
    """Base64 by path; without the None that a path may have."""


class AutoEvalRow(msgspec.Struct):
    """A row of a data set of the kind AutoEvalDataset."""

    id: RowId
    content: str = ""
    labels: dict[str, Any] = {}
    test: AutoEvalTest | None = None


class MultipleRow(msgspec.Struct):
    """A row in MultiPL-E's format, or in HumanEval's: with `test` and `entry_point`."""

    id: RowId
    prompt: str
    labels: dict[str, Any] = {}
    """All of the row but its prompt, as it came."""
    language: str = "python"
    tests: str = ""
    test: str = ""
    stop_tokens: list[str] | None = None
    entry_point: str = ""
