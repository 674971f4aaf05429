"""Rows of data sets that the client sends along (`provided_data`), and replies judged by them.

Upstream's rows lie in a database that it does not publish. The kinds served here are
CommonOJDataset (stdin and stdout), compared exactly as upstream does, in the host, by
`same_output`; AutoEvalDataset, see autoeval.py; and HumanEvalDataset and MultiPLEDataset, see
multipl_e.py.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec

from proctor.errors import InputError, NoLanguage, ProctorError
from proctor.service.admission import RequestContext
from proctor.service.engine import Engine
from proctor.service.http.responses import JsonReply
from proctor.service.http.sandbox_fusion import autoeval, convert, multipl_e
from proctor.service.http.sandbox_fusion.extraction import program_of
from proctor.service.http.sandbox_fusion.schema import (
    AutoEvalRow,
    DatasetRow,
    DatasetTest,
    EvalResult,
    EvalTestCase,
    GetPromptsRequest,
    MultipleRow,
    PromptJson,
    RowId,
    RunCodeRequest,
    SubmitRequest,
    TestConfig,
)

Row = DatasetRow | AutoEvalRow | MultipleRow
RowKind = type[DatasetRow] | type[AutoEvalRow] | type[MultipleRow]
KINDS: dict[str, RowKind] = {
    "CommonOJDataset": DatasetRow,
    "AutoEvalDataset": AutoEvalRow,
    "AutoEvalV4Dataset": AutoEvalRow,
    "AutoEvalV5Dataset": AutoEvalRow,
    "AutoEvalV6Dataset": AutoEvalRow,
    "HumanEvalDataset": MultipleRow,
    "MultiPLEDataset": MultipleRow,
}
"""Kinds of rows that are served, by upstream's names."""
_COMPILED = frozenset({"cpp", "go", "java", "csharp", "rust", "typescript"})
_RELATIVE_ERROR = 1e-5
_SHOWN = 200
"""Characters of a test's texts in an answer, unless the client wants them whole."""


def failed(error: ProctorError) -> JsonReply:
    """Answer in upstream's form: {"detail": ...}."""
    status = 400 if isinstance(error, InputError | NoLanguage) else 503
    return JsonReply({"detail": str(error)}, status)


def page(data: GetPromptsRequest) -> list[Row]:
    """Return the rows that a request asks for. Raises InputError."""
    return _rows(data.dataset, data.config)[data.offset : data.offset + data.limit]


def prompt(dataset: str, row: Row, config: TestConfig) -> PromptJson:
    """Return a row's prompt. Raises InputError."""
    if isinstance(row, AutoEvalRow):
        text = autoeval.prompt(row, config)
    elif isinstance(row, MultipleRow):
        text = multipl_e.prompt(dataset, row, config)
    else:
        text = row.content
    return PromptJson(row.id, text, row.labels)


def check_kind(dataset: str, config: TestConfig) -> RowKind:
    """Return the kind of the rows that a request is about. Raises InputError for others."""
    kind = KINDS.get(config.dataset_type or "")
    if kind is None:
        what = f"no eval class found for dataset {dataset}"
        raise InputError(f"{what}: config.dataset_type is one of {', '.join(KINDS)}")
    return kind


def _rows(dataset: str, config: TestConfig) -> list[Row]:
    """Return the rows that a request sends along. Raises InputError."""
    kind = check_kind(dataset, config)
    given = config.provided_data
    if given is None:
        raise InputError(f"dataset {dataset} has no rows here: send config.provided_data")
    try:
        plain = _named if kind is MultipleRow else _plain
        rows = [plain(row) for row in (given if isinstance(given, list) else [given])]
        return [msgspec.convert(row, kind) for row in rows]
    except msgspec.DecodeError as error:
        raise InputError(f"config.provided_data: {error}") from error


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row whose labels and tests are values: in upstream's tables they are JSON texts."""
    texts = {key: row[key] for key in ("labels", "test", "asset") if isinstance(row.get(key), str)}
    row = {**row, **{key: msgspec.json.decode(text) for key, text in texts.items()}}
    return {**row, "test": _plain(row["test"])} if isinstance(row.get("test"), dict) else row


def _named(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row in MultiPL-E's format with its id, and with all but its prompt as labels."""
    labels = {key: value for key, value in row.items() if key != "prompt"}
    return {**row, "id": row.get("task_id", row.get("name")), "labels": labels}


def find_row(dataset: str, config: TestConfig, identity: RowId) -> Row:
    """Return the row of this id, or the only one that was sent, whatever its id.

    Raises InputError if there is none.
    """
    for row in _rows(dataset, config):
        if str(row.id) == str(identity) or isinstance(config.provided_data, dict):
            return row
    raise InputError(f"dataset {dataset} has no row {identity!r}")


async def submit(
    engine: Engine, data: SubmitRequest, row: Row, context: RequestContext
) -> EvalResult:
    """Judge a reply to a row. Raises InputError for a request that is not served."""
    if isinstance(row, AutoEvalRow):
        return await autoeval.submit(engine, data, row, context)
    if isinstance(row, MultipleRow):
        return await multipl_e.submit(engine, data, row, context)
    config = data.config
    if config.language is None:
        raise InputError("config.language is required")
    if not row.test:
        raise InputError(f"row {row.id!r} has no test")
    for number, case in enumerate(row.test):
        if "stdin" not in case.input or "stdout" not in case.output:
            what = f"row {row.id!r}: test {number} has no input.stdin, or no output.stdout"
            raise InputError(what)
    code, kind = await program_of(engine, data, context)
    if kind == "empty":
        return EvalResult(row.id, False, "", [], extracted_type=kind)
    whole = bool(config.extra.get("return_full_case"))
    every = bool(config.extra.get("run_all_cases"))
    tests: list[EvalTestCase] = []
    for case in row.test:
        tests.append(await _tested(engine, config, code, case, context, whole=whole))
        # A wrong answer ends nothing: that a test runs must not reveal the results before it.
        if tests[-1].exec_info.status != "Success" and not every:
            break
    if not every:
        failed = next((at for at, each in enumerate(tests) if not each.passed), len(tests))
        tests = tests[: failed + 1]
    accepted = len(tests) == len(row.test) and all(each.passed for each in tests)
    return EvalResult(row.id, accepted, code, tests, full_code=code, extracted_type=kind)


async def _tested(
    engine: Engine,
    config: TestConfig,
    code: str,
    case: DatasetTest,
    context: RequestContext,
    *,
    whole: bool,
) -> EvalTestCase:
    assert config.language is not None
    default = 10 if config.language in _COMPILED else 20
    wanted = RunCodeRequest(
        code,
        config.language,
        config.compile_timeout or 10,
        config.run_timeout or default,
        stdin=case.input["stdin"],
    )
    # No loopback interface: by its ports one test could pass information to the next.
    ran = await engine.run(convert.run_request(wanted, loopback=False), context)
    found = convert.run_response(ran, wanted)
    right = ran.execution is not None and ran.execution.ok
    if right and ran.execution is not None:
        printed = ran.execution.stdout.decode("utf-8", "replace")
        # In a thread: the output may be 64 MiB, and other clients wait for this loop.
        right = await asyncio.to_thread(same_output, printed, case.output["stdout"])
    return EvalTestCase(right, found, _shown(case, whole=whole))


def _shown(case: DatasetTest, *, whole: bool) -> dict[str, Mapping[str, str]]:
    both = {"input": case.input, "output": case.output}
    if whole:
        return dict(both)
    return {
        name: {key: text[:_SHOWN] for key, text in texts.items()} for name, texts in both.items()
    }


def same_output(printed: str, expected: str) -> bool:
    """Compare as upstream does: line by line, ignoring case and outer blanks, or as numbers.

    Both must have as many lines. Numbers are equal within a relative error of 1e-5.
    """
    printed, expected = printed.strip(), expected.strip()
    if printed.count("\n") != expected.count("\n"):  # counted without making lists of lines
        return False
    return all(map(_same_line, printed.split("\n"), expected.split("\n")))


def _same_line(line: str, wanted: str) -> bool:
    if line.strip().lower() == wanted.strip().lower():
        return True
    try:
        found, right = float(line), float(wanted)
    except ValueError:
        return False
    return abs(found - right) < _RELATIVE_ERROR * abs(right)
