"""Conversion between the native API's structs and the engine's own types."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from proctor import execution as facts
from proctor import grading
from proctor import limits as bounds
from proctor import problem as problems
from proctor import program as programs
from proctor.errors import InputError
from proctor.formats import codeforces_rows, livecodebench
from proctor.judgement import TestResult
from proctor.judging.settings import JudgeSettings, default_limits
from proctor.languages import registry
from proctor.languages import run as runs
from proctor.limits import MIB
from proctor.service.admission import RequestContext
from proctor.service.encoding import as_text, packed, unpacked
from proctor.service.engine import Engine, QueuedJudgement
from proctor.service.http.native import schema
from proctor.service.run_verdicts import verdict_of
from proctor.verdict import Verdict

_RUN_LIMITS = bounds.Limits(disk=16 * MIB)
_ALL = "all"

Progress = Callable[[schema.TestResultJson], None]


def run_request(request: schema.RunRequestJson) -> runs.RunRequest:
    """Return the engine's request. Raises InputError, naming the field."""
    return runs.RunRequest(
        program(request.program),
        unpacked(request.stdin_base64, "stdin_base64") or request.stdin.encode(),
        request.args,
        request.environment,
        limits(request.limits, _RUN_LIMITS),
        collect=request.collect,
        packages=request.packages,
    )


def program(request: schema.ProgramJson) -> programs.Program:
    """Return a domain program. Raises InputError, naming the field."""
    files = {name: unpacked(text, f"files.{name}") for name, text in request.files.items()}
    plain = request.language == runs.PYTHON  # by far the most common, and a look-up is not free
    language = runs.PYTHON if plain else registry.get(request.language).id
    return programs.Program(request.source, language, request.name, files)


def limits(request: schema.LimitsJson, default: bounds.Limits) -> bounds.Limits:
    """Return the default limits with those that were given. Raises InputError."""
    named = {name: getattr(request, name) for name in request.__struct_fields__}
    given = {name: value for name, value in named.items() if value is not None}
    return replace(default, **given) if given else default


def run_result(ran: runs.Ran) -> schema.RunResult:
    """Return the outcome of a run."""
    compilation, execution = ran.compilation, ran.execution
    return schema.RunResult(
        "verdict",
        verdict_of(ran),
        None
        if compilation is None
        else schema.CompilationJson(compilation.ok, compilation.output, compilation.wall),
        None if execution is None else _execution(execution),
        {name: packed(data) for name, data in ran.files.items()},
        ran.queue,
        None if execution is None else execution.isolation.level,
    )


def _execution(execution: facts.Execution) -> schema.ExecutionJson:
    return schema.ExecutionJson(
        execution.exit_code,
        execution.signal,
        output(execution.stdout),
        output(execution.stderr),
        execution.cpu,
        execution.wall,
        execution.memory,
        None if execution.limit is None else execution.limit.value,
    )


def output(data: bytes) -> schema.Output:
    """Return bytes as text, and as base64 too if they are not UTF-8."""
    return schema.Output(*as_text(data))


async def judge(
    engine: Engine,
    request: schema.JudgeRequest,
    context: RequestContext,
    progress: Progress | None = None,
) -> schema.JudgeResult:
    """Judge one program. Raises InputError, naming the field, and the engine's errors."""
    submission, plain = program(request.program), _is_plain(request)
    problem, settings = problem_of(request)
    names = [each.name or str(at) for at, each in enumerate(request.problem.tests)]
    names = names or [str(at) for at in range(len(problem.tests))]  # the tests come from a row
    unnamed = iter(names)

    def report(result: TestResult) -> None:
        if progress is not None:
            progress(_test_result(result, result.name or next(unnamed)))

    made = await engine.judge(
        problem,
        submission,
        settings,
        context,
        packages=request.packages,
        progress=None if progress is None else report,
    )
    return (_plain_result if plain else _graded_result)(made, names)


def problem_of(request: schema.JudgeRequest) -> tuple[problems.Problem, JudgeSettings]:
    """Return the problem and the settings of a request. Raises InputError, naming the field."""
    return _plain_problem(request) if _is_plain(request) else _graded_problem(request)


def _is_plain(request: schema.JudgeRequest) -> bool:
    """Return True for tests with the default comparison, which warm interpreters can judge."""
    problem = request.problem
    if problem.format == "codeforces":
        return False
    compared = problem.comparison is None or problem.comparison == schema.ComparisonJson(
        absolute=problem.comparison.absolute, relative=problem.comparison.absolute
    )
    special = problem.checker or problem.interactor or problem.subtasks
    return compared and not special and not request.program.files


def _plain_problem(request: schema.JudgeRequest) -> tuple[problems.Problem, JudgeSettings]:
    problem, comparison = request.problem, request.problem.comparison
    settings = JudgeSettings(
        mode=request.mode,
        limits=limits(request.limits, default_limits(request.mode)),
        stop=request.stop,
        fast=request.fast,
        tolerance=None if comparison is None else comparison.absolute,
    )
    if problem.format == "livecodebench":
        return livecodebench.problem_of(_row(problem)), settings
    tests = tuple(problems.Test(each.input, each.output) for each in _tests(problem))
    return problems.Problem(problem.id, tests, problem.function), settings


def _graded_problem(request: schema.JudgeRequest) -> tuple[problems.Problem, JudgeSettings]:
    if request.mode != "standard" or request.fast:
        raise InputError("this problem is judged in standard mode only", field="mode")
    problem, settings = request.problem, JudgeSettings(stop=request.stop)
    if problem.format == "codeforces":
        found = codeforces_rows.problem_of_row(_row(problem))
        if found is None:
            raise InputError("the row has no test", field="problem.row.official_tests")
        return replace(found, limits=limits(request.limits, found.test_limits)), settings
    if problem.format == "livecodebench" or problem.function is not None:
        raise InputError(
            "calls of functions, and rows of livecodebench, have their own comparison, no checker,"
            " interactor or subtasks, and programs without further files",
            field="problem",
        )
    tests = {}
    for at, each in enumerate(_tests(problem)):
        name = each.name or str(at)
        if name in tests:
            raise InputError(f"two tests are called {name!r}", field="problem.tests")
        tests[name] = problems.Test(each.input, each.output, name=name)
    subtasks = tuple(
        problems.Subtask(each.name, each.points, each.tests, problems.Aggregate(each.aggregate))
        for each in problem.subtasks
    )
    graded = problems.Problem(
        problem.id,
        tuple(tests.values()),
        subtasks=subtasks or (problems.Subtask(_ALL, 1.0, tuple(tests)),),
        limits=limits(request.limits, default_limits("standard")),
        grading=_grading(problem),
        running=_running(problem),
    )
    return graded, settings


def _grading(problem: schema.ProblemJson) -> grading.Grading:
    if problem.checker is not None:
        if problem.comparison is not None:
            raise InputError("a problem has a checker or a comparison", field="problem.checker")
        checker = problem.checker
        convention = grading.Convention(checker.convention)
        return grading.Checker(program(checker.program), convention, checker.flags)
    comparison = problem.comparison or schema.ComparisonJson()
    return grading.Comparison(
        grading.Match(comparison.match),
        comparison.case_sensitive,
        comparison.space_sensitive,
        comparison.absolute,
        comparison.relative,
    )


def _running(problem: schema.ProblemJson) -> problems.Running:
    if problem.interactor is None:
        return problems.Batch()
    interactor = problem.interactor
    convention = grading.Convention(interactor.convention)
    return problems.Interactive(program(interactor.program), convention, interactor.flags)


def _tests(problem: schema.ProblemJson) -> tuple[schema.TestJson, ...]:
    if problem.row is not None:
        raise InputError("a row needs its `format`", field="problem.format")
    return problem.tests


def _row(problem: schema.ProblemJson) -> Mapping[str, object]:
    if problem.row is None:
        raise InputError(f"format {problem.format} needs a `row`", field="problem.row")
    return problem.row


def _test_result(result: TestResult, name: str) -> schema.TestResultJson:
    return schema.TestResultJson(
        name, result.verdict, result.score, result.cpu, result.wall, result.memory, result.message
    )


def _plain_result(made: QueuedJudgement, names: list[str]) -> schema.JudgeResult:
    found = made.judgement
    compiled = found.verdict is not Verdict.CE
    return schema.JudgeResult(
        outcome(found.verdict),
        found.verdict,
        found.passed,
        found.score if found.score_known else None,
        None,
        None,
        tuple(_test_result(each, name) for name, each in zip(names, found.tests, strict=False)),
        (),
        found.message if compiled else "the program does not compile",
        "" if compiled else found.message,
        made.queue,
        None if found.isolation is None else found.isolation.level,
    )


def _graded_result(made: QueuedJudgement, _names: list[str]) -> schema.JudgeResult:
    found = made.judgement
    subtasks = tuple(
        schema.SubtaskResultJson(each.name, each.verdict, each.score, each.points, each.of)
        for each in found.subtasks
    )
    return schema.JudgeResult(
        outcome(found.verdict),
        found.verdict,
        found.passed,
        None if found.points is None else (found.points / found.of if found.of else 0.0),
        found.points,
        found.of,
        tuple(_test_result(each, each.name) for each in found.tests),
        subtasks,
        found.message,
        found.compiler_output,
        made.queue,
        None if found.isolation is None else found.isolation.level,
    )


def outcome(verdict: Verdict) -> schema.Outcome:
    """Return the subject of a judgement: only one about the program may be scored."""
    if verdict is Verdict.INFRA_FAULT:
        return "infra_fault"
    return "task_fault" if verdict is Verdict.TASK_FAULT else "verdict"
