"""Requests of the native API, made from the arguments of a client's methods."""

from base64 import b64encode
from dataclasses import asdict
from typing import Any

from proctor.errors import InputError
from proctor.judging.problem import Problem
from proctor.limits import Limits
from proctor.program import Program
from proctor.service.http.native.schema import (
    JudgeRequest,
    LimitsJson,
    ProblemJson,
    ProgramJson,
    RunRequestJson,
    SolveRequestJson,
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
    request: JudgeRequest = made(
        JudgeRequest, program=source, problem=problem_json(problem), **fields
    )
    return request


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
    """Return a problem as JSON."""
    if isinstance(problem, ProblemJson):
        return problem
    tests = tuple(TestJson(each.input, each.output) for each in problem.tests)
    return ProblemJson(problem.id, tests, problem.function)


def stdin_json(stdin: str | bytes) -> dict[str, str]:
    """Return the fields of a request for its stdin."""
    if isinstance(stdin, bytes):
        return {"stdin_base64": b64encode(stdin).decode()}
    return {"stdin": stdin}


def made(kind: type[Any], **fields: Any) -> Any:
    """Return a request with these fields. Raises InputError for one that it does not have."""
    limits = fields.get("limits")
    if isinstance(limits, Limits):
        fields["limits"] = LimitsJson(**asdict(limits))
    try:
        return kind(**fields)
    except TypeError as error:  # no such field
        raise InputError(str(error)) from error
