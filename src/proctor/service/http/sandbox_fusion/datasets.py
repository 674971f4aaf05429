"""/submit, /get_prompts and their like, over rows that the client sends along (`provided_data`).

Upstream's rows lie in a database that it does not publish. Served is its stdin-and-stdout kind,
CommonOJDataset; its comparison is kept to the letter, in the host, by `same_output`.
"""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from litestar import Request, Response, get, post
from litestar.handlers import HTTPRouteHandler

from proctor.errors import InputError, ProctorError
from proctor.evals.extraction import extract
from proctor.service.engine import Asker, Engine
from proctor.service.http.answer import Answer, Reply
from proctor.service.http.asking import patient
from proctor.service.http.sandbox_fusion import run_code
from proctor.service.http.sandbox_fusion.schema import Language, RunCodeRequest, RunCodeResponse

KIND = "CommonOJDataset"
_COMPILED = frozenset({"cpp", "go", "java", "csharp", "rust", "typescript"})
_RELATIVE = 1e-5
_SHOWN = 200  # characters of a test's texts, unless the client wants them whole

Id = int | str


class TestConfig(msgspec.Struct, frozen=True):
    """How rows are to be judged; fields that are not named here are ignored."""

    dataset_type: str | None = None
    language: Language | None = None
    compile_timeout: float | None = None
    run_timeout: float | None = None
    custom_extract_logic: str | None = None
    provided_data: list[dict[str, Any]] | dict[str, Any] | None = None
    extra: dict[str, Any] = {}


class GetPromptsRequest(msgspec.Struct, frozen=True):
    """Which rows."""

    dataset: str
    config: TestConfig
    offset: Annotated[int, msgspec.Meta(ge=0)] = 0
    limit: Annotated[int, msgspec.Meta(ge=0)] = 1_000_000


class GetPromptByIdRequest(msgspec.Struct, frozen=True):
    """Which row."""

    dataset: str
    config: TestConfig
    id: Id


class SubmitRequest(msgspec.Struct, frozen=True):
    """A model's reply to a row."""

    dataset: str
    id: Id
    completion: str
    config: TestConfig


class Prompt(msgspec.Struct, frozen=True):
    """What to ask a model."""

    id: Id
    prompt: str
    labels: dict[str, Any] = {}


class EvalTestCase(msgspec.Struct, frozen=True):
    """One test."""

    passed: bool
    exec_info: RunCodeResponse
    test_info: dict[str, Any] | None = None


class EvalResult(msgspec.Struct, frozen=True):
    """What came of a reply."""

    id: Id
    accepted: bool
    extracted_code: str
    tests: list[EvalTestCase]
    full_code: str | None = None
    test_code: str | None = None
    extracted_type: Literal["fenced", "heuristic", "empty"] | None = None
    extra: dict[str, Any] | None = None


class _Case(msgspec.Struct):
    input: dict[str, str]
    output: dict[str, str]


class _Row(msgspec.Struct):
    id: Id
    content: str = ""
    labels: dict[str, Any] = {}
    test: list[_Case] = []


def routes(engine: Engine) -> list[HTTPRouteHandler]:
    """Return the routes."""

    @get("/list_datasets")
    async def list_datasets() -> list[str]:
        """Data sets with rows of their own: there are none."""
        return []

    @post("/list_ids", status_code=200)
    async def list_ids(data: GetPromptsRequest) -> list[Id]:
        """Ids of the rows that are sent along."""
        return [row.id for row in _page(data)]

    @post("/get_prompts", status_code=200)
    async def get_prompts(data: GetPromptsRequest) -> list[Prompt]:
        """Prompts of the rows that are sent along."""
        return [Prompt(row.id, row.content, row.labels) for row in _page(data)]

    @post("/get_prompt_by_id", status_code=200)
    async def get_prompt_by_id(data: GetPromptByIdRequest) -> Prompt:
        """Prompt of one of them."""
        row = _row(data.dataset, data.config, data.id)
        return Prompt(row.id, row.content, row.labels)

    @post("/submit", status_code=200)
    async def submit(data: SubmitRequest, request: Request[Any, Any, Any]) -> Answer:
        """Judge a reply. A fault of ours is status 503, which clients ask again after."""
        row = _row(data.dataset, data.config, data.id)
        asker = patient(request)
        return Answer(_submitted(engine, data, row, asker), failed=failed)

    return [list_datasets, list_ids, get_prompts, get_prompt_by_id, submit]


def refused(_request: Request[Any, Any, Any], error: ProctorError) -> Response[dict[str, str]]:
    """In upstream's form: {"detail": ...}."""
    return Response({"detail": str(error)}, status_code=400)


def failed(error: ProctorError) -> Reply:
    """The same for an answer in the making."""
    status = 400 if isinstance(error, InputError) else 503
    return Reply({"detail": str(error)}, status)


def _page(data: GetPromptsRequest) -> list[_Row]:
    return _rows(data.dataset, data.config)[data.offset : data.offset + data.limit]


def _rows(dataset: str, config: TestConfig) -> list[_Row]:
    """Raises InputError."""
    if config.dataset_type != KIND:
        what = f"no eval class found for dataset {dataset}"
        raise InputError(f"{what}: only config.dataset_type {KIND!r} is served")
    given = config.provided_data
    if given is None:
        raise InputError(f"dataset {dataset} has no rows here: send config.provided_data")
    try:
        return msgspec.convert(given if isinstance(given, list) else [given], list[_Row])
    except msgspec.ValidationError as error:
        raise InputError(f"config.provided_data: {error}") from error


def _row(dataset: str, config: TestConfig, identity: Id) -> _Row:
    for row in _rows(dataset, config):
        if str(row.id) == str(identity):
            return row
    raise InputError(f"dataset {dataset} has no row {identity!r}")


async def _submitted(engine: Engine, data: SubmitRequest, row: _Row, asker: Asker) -> EvalResult:
    config = data.config
    if config.language is None:
        raise InputError("config.language is required")
    if config.custom_extract_logic:
        raise InputError("config.custom_extract_logic is not served")
    if not row.test:
        raise InputError(f"row {row.id!r} has no test")
    # A parser of Markdown in Python: seconds for megabytes, in which others wait for this loop.
    code = await asyncio.to_thread(extract, data.completion, language=config.language)
    kind: Literal["fenced", "heuristic", "empty"] = "fenced" if "```" in data.completion else (
        "heuristic")  # fmt: skip
    if not code.strip():
        return EvalResult(row.id, False, "", [], extracted_type="empty")
    whole = bool(config.extra.get("return_full_case"))
    every = bool(config.extra.get("run_all_cases"))
    tests: list[EvalTestCase] = []
    for case in row.test:
        tests.append(await _tested(engine, config, code, case, asker, whole=whole))
        # Not after a wrong answer: that a test is run is to say nothing of those before.
        if tests[-1].exec_info.status != "Success" and not every:
            break
    if not every:
        failed = next((at for at, each in enumerate(tests) if not each.passed), len(tests))
        tests = tests[: failed + 1]
    accepted = len(tests) == len(row.test) and all(each.passed for each in tests)
    return EvalResult(row.id, accepted, code, tests, full_code=code, extracted_type=kind)


async def _tested(
    engine: Engine, config: TestConfig, code: str, case: _Case, asker: Asker, *, whole: bool
) -> EvalTestCase:
    assert config.language is not None
    default = 10 if config.language in _COMPILED else 20
    asked = RunCodeRequest(
        code,
        config.language,
        config.compile_timeout or 10,
        config.run_timeout or default,
        stdin=case.input.get("stdin"),
    )
    ran = await engine.run(run_code.asked(asked), asker)
    found = run_code.response(ran)
    right = ran.execution is not None and ran.execution.ok
    if right and ran.execution is not None:
        printed = ran.execution.stdout.decode("utf-8", "replace")
        # Up to 64 MiB of it, and other clients wait for this loop.
        right = await asyncio.to_thread(same_output, printed, case.output.get("stdout", ""))
    return EvalTestCase(right, found, _shown(case, whole=whole))


def _shown(case: _Case, *, whole: bool) -> dict[str, Mapping[str, str]]:
    both = {"input": case.input, "output": case.output}
    if whole:
        return dict(both)
    return {
        name: {key: text[:_SHOWN] for key, text in texts.items()} for name, texts in both.items()
    }


def same_output(printed: str, expected: str) -> bool:
    """Upstream's comparison: as many lines, each equal but for case and blanks, or as numbers.

    Numbers are equal within a relative error of 1e-5.
    """
    printed, expected = printed.strip(), expected.strip()
    if printed.count("\n") != expected.count("\n"):  # found without a list of a million lines
        return False
    return all(map(_same_line, printed.split("\n"), expected.split("\n")))


def _same_line(line: str, wanted: str) -> bool:
    if line.strip().lower() == wanted.strip().lower():
        return True
    try:
        found, right = float(line), float(wanted)
    except ValueError:
        return False
    return abs(found - right) < _RELATIVE * abs(right)
