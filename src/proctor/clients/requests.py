"""Requests of the native API, made from the arguments of a client's methods."""

from base64 import b64encode
from dataclasses import asdict
from typing import Any

from proctor.errors import InputError
from proctor.limits import Limits
from proctor.problem import (
    STANDARD_COMPARISON,
    Batch,
    Checker,
    Comparison,
    Interactive,
    Problem,
)
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
    """Return a problem as JSON. Raises InputError for one that the native API has no form for."""
    if isinstance(problem, ProblemJson):
        return problem
    grading, running = problem.grading, problem.running
    if problem.stubs or problem.languages:
        raise InputError("stubs and languages cannot be sent", field="problem")
    if any(each.depends or each.threshold != 1.0 for each in problem.subtasks):
        raise InputError("dependencies and thresholds cannot be sent", field="problem.subtasks")
    if any(each.args or each.files or each.flags for each in problem.tests):
        raise InputError("args, files and flags of a test cannot be sent", field="problem.tests")
    made_json: ProblemJson = made(
        ProblemJson,
        id=problem.id,
        tests=tuple(
            TestJson(each.input_text(), each.output_text(), each.name) for each in problem.tests
        ),
        function=problem.function,
        comparison=_comparison_json(grading) if isinstance(grading, Comparison) else None,
        checker=_checker_json(grading, grading.program) if isinstance(grading, Checker) else None,
        interactor=None if running == Batch() else _interactor_json(running),
        subtasks=tuple(
            SubtaskJson(each.name, each.points, each.tests, each.aggregate.value)
            for each in problem.subtasks
        ),
    )
    return made_json


def _comparison_json(grading: Comparison) -> ComparisonJson | None:
    if grading == STANDARD_COMPARISON:
        return None
    return ComparisonJson(
        grading.match.value, grading.case_sensitive, grading.space_sensitive, grading.absolute,
        grading.relative,
    )  # fmt: skip


def _checker_json(checker: Checker | Interactive, program: Program) -> CheckerJson:
    if checker.passes != 1:
        raise InputError("several passes cannot be sent", field="problem")
    return CheckerJson(program_json(program, {}), checker.convention.value, checker.flags)


def _interactor_json(running: object) -> CheckerJson:
    if not isinstance(running, Interactive):
        kind = type(running).__name__
        raise InputError(f"a problem that is run as {kind} cannot be sent", field="problem")
    return _checker_json(running, running.interactor)


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
