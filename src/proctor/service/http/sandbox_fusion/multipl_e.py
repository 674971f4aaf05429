"""Rows of SandboxFusion's HumanEvalDataset and MultiPLEDataset, which are in MultiPL-E's format.

The reply completes a program, or is a whole one with `extra.is_freeform`. Python's tests run apart
from it where they can (strict.py). Others, like upstream's, are judged by the exit code of both in
one process, which must come to a last line in languages where one can follow the tests.
"""

import asyncio
import re
import secrets

import msgspec

from proctor.errors import InputError
from proctor.evals.benchmark_file.functions import before
from proctor.judging.unit_tests.judge import UnitTests
from proctor.service.admission import RequestContext
from proctor.service.engine import Engine
from proctor.service.http.sandbox_fusion import convert, replies, strict
from proctor.service.http.sandbox_fusion.schema import (
    EvalResult,
    EvalTestCase,
    Language,
    MultipleRow,
    RunCodeRequest,
    SubmitRequest,
    TestConfig,
)

_SECONDS = 20
"""Seconds that compiling and running may each take, where the client names no limit."""
_BY_TABLE = {
    "python": "python", "cpp": "cpp", "typescript": "typescript", "ts": "typescript",
    "bash": "bash", "sh": "bash", "csharp": "csharp", "cs": "csharp", "go": "go", "go_test": "go",
    "java": "java", "lua": "lua", "javascript": "js", "js": "js", "php": "php", "perl": "perl",
    "pl": "perl", "racket": "racket", "rkt": "racket", "r": "r", "rust": "rust", "rs": "rust",
    "scala": "scala", "swift": "swift", "ruby": "ruby", "rb": "ruby", "d": "d", "julia": "julia",
    "jl": "julia",
}  # fmt: skip
"""Languages of this format by the endings of tables' names, and by their names in rows."""
_RUNS_AS = {"go": "go_test", "js": "nodejs", "r": "R", "d": "D_ut"}
"""Names of languages in `/run_code`, where they differ."""
_WHOLE = frozenset(
    {"python", "typescript", "go", "perl", "racket", "lua", "julia", "d", "js", "php", "r", "ruby"}
)
"""Languages whose program is a whole block; in others it ends at a stop token."""
_ENDS = {
    **dict.fromkeys(("julia", "lua", "ruby"), "\nend"),
    **dict.fromkeys(("cpp", "csharp", "typescript", "perl", "r", "d", "go", "js", "php"), "\n}"),
}
"""Ends of a completed function: what follows is cut off."""
_MAINS = {"d": "void main", "csharp": "public static void Main"}
_CHECKED = frozenset({"humaneval_python", "shadow_humaneval_python", "evoeval"})
"""Tables whose tests define `check`, to be called with the program's function."""
_LAST = {
    "bash": "echo {}", "js": 'console.log("{}")', "perl": 'print "{}\\n";', "php": 'echo "{}";',
}  # fmt: skip
"""Lines that come last in a source, where a program that has left early does not come to."""
_OUTSIDE = re.compile(r"\n(?=\S)")
"""Ends a function that is completed in Python: a line that is not indented."""
_HEADS = {
    "python": tuple(strict.HEAD.splitlines()),
    "cpp": (
        "#include <bits/stdc++.h>",
        "#if __has_include(<boost/any.hpp>)\n#include <boost/any.hpp>\n#endif",
        "using namespace std;",
    ),
    "java": tuple(
        f"import {name}.*;"
        for name in (
            "java.io", "java.lang.reflect", "java.math", "java.security", "java.util",
            "java.util.stream", "org.javatuples",
        )
    ),
    "csharp": tuple(
        f"using System{name};"
        for name in (
            "", ".Collections.Generic", ".Diagnostics", ".Linq", ".Numerics",
            ".Security.Cryptography", ".Text",
        )
    ),
    "go": ('import ("fmt")',),
    "d": ("import std.algorithm, std.array;",),
}  # fmt: skip
"""Lines that are put before a program, so that it can do without the usual imports."""


def prompt(dataset: str, row: MultipleRow, config: TestConfig) -> str:
    """Return a row's prompt; with `is_freeform`, a request for the whole program."""
    if not config.extra.get("is_freeform"):
        return row.prompt
    asked = (
        "请按照docstring的要求补全如上代码，写出完整的代码，代码要用markdown语法包裹。代码不要包含`Main`函数"
        if config.locale == "zh"
        else "Please complete the above code according to the requirements in the docstring. Write"
        " the complete code and wrap it in markdown syntax. The code should not contain `Main`"
        " function."
    )
    return f"```{_language(dataset, row)}\n{row.prompt}\n```\n\n{asked}"


def _language(dataset: str, row: MultipleRow) -> str:
    """Return the language by the table's name, else by the row's own."""
    for name in (dataset.rpartition("_")[2], row.language.split(".")[0]):
        if name in _BY_TABLE:
            return _BY_TABLE[name]
    return "python"


async def submit(
    engine: Engine, data: SubmitRequest, row: MultipleRow, context: RequestContext
) -> EvalResult:
    """Judge a reply to a row. Raises InputError for a request that is not served."""
    if not (row.tests or row.test):
        raise InputError(f"row {row.id!r} has no test")
    config, language = data.config, _language(data.dataset, row)
    # In a thread: a long reply takes long, and other clients wait for this loop.
    code, whole = await asyncio.to_thread(_parts, data, row, language)
    flag = ""
    if language == "python" and strict.wanted(config, engine):
        tests, program = await asyncio.to_thread(_apart, data, row, code)
        if tests.names:
            case = await strict.graded(engine, config, row.id, tests, program, context)
            return EvalResult(data.id, case.passed, code, [case], full_code=whole)
        whole, flag = strict.in_one_process(program, _tests(data, row))
    elif language in _LAST and strict.wanted(config, engine):
        flag = secrets.token_hex(10)
        whole += f"\n{_LAST[language].format(flag)}\n"
    wanted = RunCodeRequest(
        whole,
        msgspec.convert(_RUNS_AS.get(language, language), Language),
        config.compile_timeout or _SECONDS,
        config.run_timeout or _SECONDS,
    )
    ran = await engine.run(convert.run_request(wanted, loopback=await engine.loopback()), context)
    found = convert.run_response(ran, wanted)
    printed = b"" if ran.execution is None else ran.execution.stdout
    accepted = found.status == "Success" and flag.encode() in printed
    return EvalResult(
        data.id, accepted, code, [EvalTestCase(accepted, found)], full_code=whole,
        extra=strict.IN_PROCESS,
    )  # fmt: skip


def _apart(data: SubmitRequest, row: MultipleRow, code: str) -> tuple[UnitTests, str]:
    """Return tests that call a program from elsewhere, no names if they cannot; and the program."""
    head = strict.HEAD
    freeform = data.config.extra.get("is_freeform")
    program = head + (code if freeform else f"{row.prompt}\n{code}\n")
    text = row.tests or row.test
    names = strict.called(text)
    uncalled = not names and "def check(" in text and f"check({row.entry_point})" not in text
    if row.entry_point and (data.dataset in _CHECKED or uncalled):
        # Tests may use what the prompt defines beside the function.
        text = before(row.prompt, row.entry_point) + text
        return UnitTests((row.entry_point, *names), head + text, row.entry_point), program
    return UnitTests(names, head + text), program


def _parts(data: SubmitRequest, row: MultipleRow, language: str) -> tuple[str, str]:
    """Return the reply's program, and all that is run."""
    if not data.config.extra.get("is_freeform"):
        code = _completion(data.completion, row, language)
        whole = f"{row.prompt}\n{code}\n{_tests(data, row)}"
    else:
        code = _program(data.completion, row, language)
        whole = f"{code}\n{_tests(data, row)}"
    whole = "\n".join([*_HEADS.get(language, ()), whole])
    if language == "java":
        whole = whole.replace("class Problem", "class Main")
    return code, replies.one_go_file(whole) if language == "go" else whole


def _tests(data: SubmitRequest, row: MultipleRow) -> str:
    """Return what is to be run behind a program."""
    check = f"\ncheck({row.entry_point})" if data.dataset in _CHECKED else ""
    return (row.tests or row.test) + check


def _completion(text: str, row: MultipleRow, language: str) -> str:
    """Return what completes the prompt: the reply up to the end of the function."""
    code = _stopped(text, row)
    end = _ENDS.get(language)
    return code if end is None or end not in code else code[: code.index(end)] + end


def _program(reply: str, row: MultipleRow, language: str) -> str:
    """Return the program in a reply, without its main part."""
    if language in _WHOLE:
        code = replies.program_of(reply, language)
    else:
        blocks = replies.blocks_of(reply, language)
        code = blocks[0].code.replace("\r", "") if blocks else ""
        if language == "java" and "public class Main {\n" in code:
            code = code.replace("public class Main {\n", "class Solution {\n")
            code = code.replace("public static void main(String[] args)", "")
        code = _stopped(replies.without_entry_point(code, language), row)
    return code.partition(_MAINS[language])[0] if language in _MAINS else code


def _stopped(code: str, row: MultipleRow) -> str:
    """Return code up to the first stop token. Raises InputError for a token that is a pattern."""
    if not row.tests:
        return _OUTSIDE.split(code, maxsplit=1)[0]
    for stop in row.stop_tokens or ():
        if stop.startswith("re:"):
            raise InputError(f"row {row.id!r}: a stop token that is a pattern ({stop!r})")
        if stop and stop != "\n\n":
            code = code.partition(stop)[0]
    return code
