"""Rows of SandboxFusion's AutoEvalDataset: a program and the code that tests it, run as one.

Python's tests run apart from the program where they can (strict.py). Others, like upstream's, are
judged by the exit code of one process, so a program that ends early with code 0 has passed; not a
Python program, which must come to a last line.
"""

import asyncio
from string import Template
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.judging.unit_tests.judge import UnitTests
from proctor.service.admission import RequestContext
from proctor.service.encoding import packed, unpacked, unpacked_files
from proctor.service.engine import Engine
from proctor.service.http.sandbox_fusion import convert, replies, strict
from proctor.service.http.sandbox_fusion.schema import (
    AutoEvalRow,
    EvalResult,
    EvalTestCase,
    Language,
    RunCodeRequest,
    SubmitRequest,
    TestConfig,
)

_COMPILE, _RUN = 40, 20
"""Seconds that compiling and running may take, where the client names no limit."""
_PLACE = "#<INSERT>"
_MAIN = "if __name__ =="
_RULE = "-" * 16
_REPORT = "jest-report.json"


def prompt(row: AutoEvalRow, config: TestConfig) -> str:
    """Return a row's prompt: its question, in its template or after context and examples.

    Raises InputError if examples are asked for that the row lacks.
    """
    told = {**row.labels, **config.extra}
    context, fewshot = told.get("context"), told.get("fewshot") if config.is_fewshot else None
    if config.is_fewshot and fewshot is None:
        raise InputError(f"row {row.id!r} has no examples (labels.fewshot)")
    if template := told.get("prompt_template"):
        return Template(template).safe_substitute(
            question=row.content, fewshot=fewshot or "", context=context or "", locale=config.locale
        )
    if not context and not fewshot:
        return row.content
    question, answer = ("问题：", "答案：") if config.locale == "zh" else ("Question:", "Answer:")
    before = f"\n\n{_RULE}\n\n".join(part for part in (context, fewshot) if part)
    return f"{before}\n\n{question}{row.content}\n\n{answer}\n"


async def submit(
    engine: Engine, data: SubmitRequest, row: AutoEvalRow, context: RequestContext
) -> EvalResult:
    """Judge a reply to a row. Raises InputError for a request that is not served."""
    config, language = data.config, row.labels.get("programming_language")
    if not isinstance(language, str) or row.test is None:
        raise InputError(f"row {row.id!r} has no labels.programming_language, or no test")
    if language == "java":
        raise InputError("AutoEvalDataset: programming_language 'java' is not served")
    runs_as = row.labels.get("execution_language", language)
    # In a thread: a long reply takes long, and other clients wait for this loop.
    code, whole, files = await asyncio.to_thread(_parts, data, row, language, runs_as)
    flag, apart = "", strict.wanted(config, engine)
    if apart and runs_as == "python" and (tests := await asyncio.to_thread(_apart, row)).names:
        given = unpacked_files(files, "test.asset")
        case = await strict.graded(engine, config, row.id, tests, code, context, given)
        return EvalResult(data.id, case.passed, code, [case], full_code=whole)
    if runs_as == "python" and (apart or config.extra.get("append_flag")):
        whole, flag = strict.in_one_process(*_halves(data, row, code))
    wanted = RunCodeRequest(
        whole,
        _language(runs_as),
        config.compile_timeout or _COMPILE,
        config.run_timeout or _RUN,
        files=files,
        fetch_files=[_REPORT] if runs_as == "jest" else [],
    )
    ran = await engine.run(convert.run_request(wanted, loopback=await engine.loopback()), context)
    found = convert.run_response(ran, wanted)
    printed = b"" if ran.execution is None else ran.execution.stdout
    accepted = found.status == "Success" and flag.encode() in printed
    cases = _jest_cases(ran.files[_REPORT]) if _REPORT in ran.files else []
    return EvalResult(
        data.id, accepted, code, [EvalTestCase(accepted, found)], full_code=whole,
        extra={**strict.IN_PROCESS, **({"jest_cases": cases} if cases else {})},
    )  # fmt: skip


def _apart(row: AutoEvalRow) -> UnitTests:
    """Return tests that call a program from elsewhere; no names if they cannot."""
    assert row.test is not None
    before, place, after = row.test.code.partition(_PLACE)
    text = after if place else before
    # A program may use what stands before it.
    names = strict.called(text) if not place or not before.strip() else ()
    return UnitTests(names, strict.HEAD + text)


def _language(name: object) -> Language:
    try:
        language: Language = msgspec.convert(name, Language)
    except msgspec.ValidationError as error:
        raise InputError(f"labels.execution_language: {error}") from error
    return language


def _parts(
    data: SubmitRequest, row: AutoEvalRow, language: str, runs_as: str
) -> tuple[str, str, dict[str, str | None]]:
    """Return the program, the program with its test, and the files that both can read."""
    assert row.test is not None
    code = replies.without_entry_point(replies.program_of(data.completion, language), language)
    files: dict[str, str | None] = {
        name: text
        for name, text in row.test.files.items()
        if text is not None and "IGNORE_THIS_FILE" not in name
    }
    for name, text in files.items():
        unpacked(text or "", f"test.asset.{name}")
    if language == "html" and _PLACE not in row.test.code:
        files["index.html"] = packed(code.encode())
        return code, row.test.code, files
    whole = ("" if _PLACE in row.test.code else "\n").join(_halves(data, row, code))
    return code, replies.one_go_file(whole) if runs_as in {"go", "go_test"} else whole, files


def _halves(data: SubmitRequest, row: AutoEvalRow, code: str) -> tuple[str, str]:
    """Return what stands up to the program's end, and the rest of the test."""
    assert row.test is not None
    quoted, test = bool(data.config.extra.get("repr_code")), row.test.code
    if _PLACE in test:
        before, after = test.split(_PLACE)[:2]
        return before + (repr(code) if quoted else code), after
    code = code.partition(_MAIN)[0]
    return repr(code) if quoted else code, test


class _JestTest(msgspec.Struct, rename="camel"):
    status: str
    full_name: str
    title: str
    ancestor_titles: list[str]
    failure_messages: list[str]


class _JestFile(msgspec.Struct, rename="camel"):
    test_file_path: str
    test_results: list[_JestTest]


class _JestReport(msgspec.Struct, rename="camel"):
    test_results: list[_JestFile]


def _jest_cases(report: bytes) -> list[dict[str, Any]]:
    """Return the tests of Jest's report; none if it is malformed: the program can write to it."""
    try:
        read = msgspec.json.decode(report, type=_JestReport)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return []
    return [
        {
            "passed": test.status == "passed",
            "full_name": test.full_name,
            "file": file.test_file_path,
            "suite": " > ".join(test.ancestor_titles),
            "test": test.title,
            "failure_messages": test.failure_messages,
        }
        for file in read.test_results
        for test in file.test_results
    ]
