"""The package codeforces: files of a request as a problem with one test.

main.cpp (main.python, ...) is the submission; checker.py the checker, if there is one; input.txt
and correct_output.txt the test. `grader_config` has lines TIME_LIMIT=seconds, MEMORY_LIMIT=MB,
INPUT_MODE=stdio or file. The package runs that file with a shell; here it is only read.
"""

import re
from collections.abc import Mapping

from proctor.errors import InputError
from proctor.formats.codeforces_rows import problem_of_row
from proctor.limits import MIB
from proctor.problem import Problem
from proctor.program import Program
from proctor.service.http.piston.request import PistonJob
from proctor.service.http.piston.settings import UNLIMITED_TIME

_INPUT, _ANSWER, _CHECKER, _CONFIG = (
    "input.txt", "correct_output.txt", "checker.py", "grader_config",
)  # fmt: skip
_TEST_FILES = frozenset({_INPUT, _ANSWER, _CHECKER, _CONFIG})
_SETTING = re.compile(r"(?:export\s+)?(\w+)=(['\"]?)([\w.+-]*)\2\s*(?:#.*)?")
_EXTRA = 10.0
"""Seconds that open-r1's pipeline adds to the time limit in a request."""


def task(job: PistonJob) -> tuple[Problem, Program]:
    """Return problem and submission. Raises InputError."""
    files = {job.name: job.source, **{name: _text(name, data) for name, data in job.files.items()}}
    settings = _settings(files.get(_CONFIG, ""))
    seconds = _number(settings, "TIME_LIMIT", _asked_seconds(job))
    row = {
        "id": "request",
        "time_limit": min(seconds, UNLIMITED_TIME / 1000),
        "memory_limit": min(_number(settings, "MEMORY_LIMIT", job.memory / MIB), job.memory / MIB),
        "input_mode": settings.get("INPUT_MODE") or None,
        "generated_checker": files.get(_CHECKER),
        "official_tests": [{"input": files.get(_INPUT, ""), "output": files.get(_ANSWER, "")}],
    }
    problem = problem_of_row(row)
    assert problem is not None
    submission = next((name for name in files if name not in _TEST_FILES), None)
    return problem, Program(files[submission] if submission else "", job.runtime.language_id)


def _settings(text: str) -> Mapping[str, str]:
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        setting = _SETTING.fullmatch(line.strip())
        if setting is None:
            raise InputError("a line is NAME=VALUE", file=_CONFIG, line=number)
        # The pipeline writes a null of a row as Python's None.
        if setting[3] != "None":
            found[setting[1]] = setting[3]
    return found


def _number(settings: Mapping[str, str], name: str, otherwise: float) -> float:
    text = settings.get(name)
    if not text:
        return otherwise
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{name} is a number, not {text!r}", file=_CONFIG) from None


def _asked_seconds(job: PistonJob) -> float:
    asked = job.asked.get("run_timeout", 0) / 1000 - _EXTRA
    return asked if asked > 0 else job.seconds


def _text(name: str, data: bytes) -> str:
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise InputError(f"is not text: {error}", file=name) from error
