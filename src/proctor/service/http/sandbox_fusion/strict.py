"""Python tests of rows, in a cell of their own: they call the program's functions in another.

Upstream runs program and tests in one process, and asks for its exit code. There a program passes
by leaving early, or by a result that calls itself equal to anything. Tests that only call functions
need no such trust.
"""

import collections
import re
import secrets
import typing
from collections.abc import Mapping

from proctor.errors import InfraFault, InputError
from proctor.judging.settings import JudgeSettings
from proctor.judging.unit_tests.judge import UnitTests, beside, judgement_of, problem_of
from proctor.languages.python_text import called_from_outside
from proctor.limits import Limits
from proctor.service.admission import RequestContext
from proctor.service.engine import Engine, QueuedJudgement
from proctor.service.http.sandbox_fusion.convert import MEMORY, POD
from proctor.service.http.sandbox_fusion.schema import (
    CommandRunResult,
    EvalTestCase,
    RowId,
    RunCodeResponse,
    TestConfig,
)
from proctor.verdict import Verdict

IN_PROCESS = {"integrity": "tests in the program's own process, which can pretend to pass them"}
"""Facts in a result that was not made in two cells."""
_SECONDS = 20
"""CPU seconds for all tests of a program, where the client names no limit."""
_MODULES = """\
import collections, copy, datetime, functools, hashlib, heapq, itertools, math, re
import statistics, string, sys
"""
HEAD = f"""{_MODULES}\
try:
    import numpy
    import numpy as np
except ImportError:
    pass
from typing import *
from collections import *
"""
"""Imports that are put before Python programs of rows and their tests."""
_USUAL = f"""{_MODULES}\
import numpy, numpy as np
from typing import {", ".join(typing.__all__)}
from collections import {", ".join(collections.__all__)}
"""
"""The same imports, by all names."""
_LEAVES = re.compile(r"\b(?:exit|quit|main)\s*\(|\bSystemExit\b")
_LEFT = """\
try:
    exec(compile({!r}, "tests.py", "exec"), globals())
except SystemExit as left:
    if left.code:
        raise
"""
"""Tests that leave by themselves, so that something can follow."""
_LATE = frozenset({Verdict.TLE, Verdict.ILE})


def wanted(config: TestConfig, engine: Engine) -> bool:
    """Return whether tests are to run apart from the program. Raises InputError.

    They do, unless the client asks for `extra.mode` official, upstream's way, or cells run single
    Python programs only.
    """
    mode = config.extra.get("mode", "standard")
    if mode not in {"standard", "official"}:
        raise InputError(f"config.extra.mode is standard or official, not {mode!r}")
    return mode == "standard" and not engine.pool.only_python


def in_one_process(program: str, tests: str) -> tuple[str, str]:
    """Return Python source of a program with its tests, and a random word that it prints last."""
    word = secrets.token_hex(10)
    if _LEAVES.search(tests):
        tests = _LEFT.format(tests)
    return f'{program}\n{tests}\n\nprint("{word}")', word


def called(tests: str) -> tuple[str, ...]:
    """Return the names of the functions that tests call; none if these cannot be elsewhere."""
    return tuple(sorted(called_from_outside(_USUAL + tests)))


async def graded(
    engine: Engine,
    config: TestConfig,
    row: RowId,
    tests: UnitTests,
    source: str,
    context: RequestContext,
    files: Mapping[str, bytes] | None = None,
) -> EvalTestCase:
    """Judge a module by a row's tests; `files` lie beside both.

    Raises InputError for tests that fail by themselves, and the engine's errors.
    """
    if not source.strip():
        return EvalTestCase(False, RunCodeResponse("Failed", "there is no program", verdict="NC"))
    limits = Limits(cpu=config.run_timeout or _SECONDS, memory=MEMORY)
    made = await engine.judge(
        problem_of(tests, limits, files), beside(source, files), JudgeSettings(), context
    )
    judgement = judgement_of(made.judgement)
    if judgement.verdict is Verdict.TASK_FAULT:
        raise InputError(
            f"row {row!r}: its tests fail by themselves where they run apart from the program;"
            f" config.extra.mode official runs both in one process: {judgement.message[-500:]}"
        )
    if judgement.verdict.is_fault:
        raise InfraFault(judgement.message)
    return EvalTestCase(judgement.passed, _response(made))


def _response(made: QueuedJudgement) -> RunCodeResponse:
    judgement = judgement_of(made.judgement)
    verdict, passed = judgement.verdict, judgement.passed
    late = verdict in _LATE
    found = next(iter(judgement.tests), None)
    result = CommandRunResult(
        "TimeLimitExceeded" if late else "Finished",
        None if found is None else round(found.wall, 6),
        None if late else int(not passed),
        "",
        judgement.message,
        None if found is None else round(found.cpu, 6),
        None if found is None else found.memory,
    )
    level = None if judgement.isolation is None else judgement.isolation.level
    return RunCodeResponse(
        "Success" if passed else "Failed", "", None, result, POD, {},
        "OK" if passed else str(verdict), level, round(made.queue, 6),
    )  # fmt: skip
