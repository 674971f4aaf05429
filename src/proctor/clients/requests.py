"""Requests of the native API, made from the arguments of a client's methods."""

from base64 import b64encode
from dataclasses import asdict, replace
from typing import Any

import msgspec

from proctor.errors import InputError, must_be
from proctor.grading import STANDARD_COMPARISON, Checker, Comparison, Grading
from proctor.judging.settings import JudgeSettings
from proctor.limits import Limits
from proctor.problem import Batch, Interactive, Problem, Subtask, Test
from proctor.program import Program
from proctor.service.http.native.schema import (
    CheckerJson,
    ComparisonJson,
    JudgeRequest,
    LimitsJson,
    ProblemJson,
    ProgramJson,
    RunRequestJson,
    SolveRequestJson,
    SubtaskJson,
    TestJson,
)

AnyProgram = str | Program | ProgramJson
"""A program: Python source, a domain object, or the native API's struct."""
AnyProblem = Problem | ProblemJson


def run_request(
    program: AnyProgram | RunRequestJson, stdin: str | bytes, fields: dict[str, Any]
) -> RunRequestJson:
    """Return the request for `run(program, stdin, **fields)`. Raises InputError."""
    if isinstance(program, RunRequestJson):
        if stdin or fields:
            raise InputError("a RunRequest is complete: pass nothing beside it")
        return program
    source = program_json(program, fields)
    request: RunRequestJson = made(RunRequestJson, program=source, **stdin_json(stdin), **fields)
    return request


def judge_request(
    problem: AnyProblem | JudgeRequest, program: AnyProgram | None, fields: dict[str, Any]
) -> JudgeRequest:
    """Return the request for `judge(problem, program, **fields)`. Raises InputError."""
    if isinstance(problem, JudgeRequest):
        if program is not None or fields:
            raise InputError("a JudgeRequest is complete: pass nothing beside it")
        return problem
    if not isinstance(problem, Problem | ProblemJson):
        kind = type(problem).__name__
        raise InputError(f"judge(problem, program) takes a Problem, not {kind}", field="problem")
    if program is None:
        raise InputError("a problem is judged with a program", field="program")
    source = program_json(program, fields)
    if isinstance(problem, Problem) and problem.limits is not None:
        fields.setdefault("limits", problem.limits)
    problem = problem_json(problem)
    if (settings := fields.pop("settings", None)) is not None:
        must_be(JudgeSettings, settings, "settings")
        problem = _with_settings(problem, settings, fields)
    request: JudgeRequest = made(JudgeRequest, program=source, problem=problem, **fields)
    return request


def _with_settings(
    problem: ProblemJson, settings: JudgeSettings, fields: dict[str, Any]
) -> ProblemJson:
    """Add a request's fields for settings, and return the problem with their tolerance."""
    for name in ("mode", "limits", "stop", "fast"):
        fields.setdefault(name, getattr(settings, name))
    if settings.codes != "upstream":
        raise InputError("the native API reports no error codes", field="settings.codes")
    tolerance = settings.tolerance
    if tolerance is None or problem.comparison is not None or problem.checker is not None:
        return problem
    comparison = ComparisonJson(absolute=tolerance, relative=tolerance)
    return msgspec.structs.replace(problem, comparison=comparison)


def solve_request(program: str, given: Any, fields: dict[str, Any]) -> SolveRequestJson:
    """Return the request for `solve(program, given, **fields)`. Raises InputError."""
    data = {"input": given}
    if isinstance(given, bytes):
        data = {"input_base64": b64encode(given).decode()}
    request: SolveRequestJson = made(SolveRequestJson, code=program, **data, **fields)
    return request


def program_json(program: AnyProgram, fields: dict[str, Any]) -> ProgramJson:
    """Return a program as JSON; `language` is taken out of `fields` for a source."""
    if isinstance(program, Program):
        files = {name: b64encode(data).decode() for name, data in program.files.items()}
        return ProgramJson(program.source, program.language, program.name, files)
    if isinstance(program, str):
        return ProgramJson(program, fields.pop("language", "python"))
    return program


def problem_json(problem: AnyProblem) -> ProblemJson:
    """Return a problem as JSON. Raises InputError for parts that requests have no fields for."""
    if isinstance(problem, ProblemJson):
        return problem
    _check(not problem.stubs, "stubs")
    _check(not problem.languages, "languages")
    graded = problem.grading
    _check(problem.precision == 2 or not problem.subtasks, "precision")
    if isinstance(graded, Comparison):
        _check(all(test.output is not None for test in problem.tests), "tests")
        _check(graded.decimals == _compared_as_decimals(problem, graded), "grading")
    return ProblemJson(
        problem.id,
        tuple(map(_test_json, problem.tests)),
        problem.function,
        comparison=_comparison_json(graded),
        checker=_checker_json(graded) if isinstance(graded, Checker) else None,
        interactor=_interactor_json(problem),
        subtasks=tuple(map(_subtask_json, problem.subtasks)),
    )


def _compared_as_decimals(problem: Problem, graded: Comparison) -> bool:
    """Return whether the server compares as decimals: it does where plain tests are enough."""
    plain = Comparison(absolute=graded.absolute, relative=graded.absolute)
    usual = replace(graded, decimals=False) == plain
    return usual and problem.running == Batch() and not problem.subtasks


def _test_json(test: Test) -> TestJson:
    known = Test(test.input, test.output, test.public, test.name)
    _check(known == test, "tests")
    return TestJson(test.input_text(), test.output_text(), test.name)


def _comparison_json(graded: Grading) -> ComparisonJson | None:
    if isinstance(graded, Checker) or graded == STANDARD_COMPARISON:
        return None
    _check(not graded.decimals, "grading")
    return ComparisonJson(
        graded.match.value, graded.case_sensitive, graded.space_sensitive,
        graded.absolute, graded.relative,
    )  # fmt: skip


def _checker_json(checker: Checker) -> CheckerJson:
    _check(checker.passes == 1, "grading")
    return CheckerJson(program_json(checker.program, {}), checker.convention.value, checker.flags)


def _interactor_json(problem: Problem) -> CheckerJson | None:
    running = problem.running
    if not isinstance(running, Interactive):
        _check(running == Batch(), "running")
        return None
    _check(running.passes == 1, "running")
    program = program_json(running.interactor, {})
    return CheckerJson(program, running.convention.value, running.flags)


def _subtask_json(subtask: Subtask) -> SubtaskJson:
    known = Subtask(subtask.name, subtask.points, subtask.tests, subtask.aggregate)
    _check(known == subtask, "subtasks")
    return SubtaskJson(subtask.name, subtask.points, tuple(subtask.tests), subtask.aggregate.value)


def _check(expressible: bool, field: str) -> None:
    if not expressible:
        raise InputError("requests of the native API cannot say this", field=f"problem.{field}")


def stdin_json(stdin: str | bytes) -> dict[str, str]:
    """Return the fields of a request for its stdin."""
    if isinstance(stdin, bytes):
        return {"stdin_base64": b64encode(stdin).decode()}
    return {"stdin": stdin}


def made(kind: type[Any], **fields: Any) -> Any:
    """Return a request with these fields. Raises InputError for a field that it does not have."""
    limits = fields.get("limits")
    try:
        if isinstance(limits, Limits):
            given = {name: value for name, value in asdict(limits).items() if value is not None}
            fields["limits"] = LimitsJson(**given)
        return kind(**fields)
    except TypeError as error:  # no such field
        raise InputError(str(error)) from error
