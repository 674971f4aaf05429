"""Conversion between the native API's structs and the engine's own types."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from proctor import execution as facts
from proctor import limits as bounds
from proctor import problem as problems
from proctor import program as programs
from proctor.errors import InputError
from proctor.formats import codeforces_rows, livecodebench
from proctor.judgement import Judgement
from proctor.judgement import TestResult as PlainResult
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


def run_request(asked: schema.RunRequestJson) -> runs.RunRequest:
    """Return the engine's request. Raises InputError, naming the field."""
    return runs.RunRequest(
        program(asked.program),
        unpacked(asked.stdin_base64, "stdin_base64") or asked.stdin.encode(),
        asked.args,
        asked.environment,
        limits(asked.limits, _RUN_LIMITS),
        collect=asked.collect,
        packages=asked.packages,
    )


def program(asked: schema.ProgramJson) -> programs.Program:
    """Return a domain program. Raises InputError, naming the field."""
    files = {name: unpacked(text, f"files.{name}") for name, text in asked.files.items()}
    plain = asked.language == runs.PYTHON  # by far the most, and a look-up is not free
    language = runs.PYTHON if plain else registry.get(asked.language).id
    return programs.Program(asked.source, language, asked.name, files)


def limits(asked: schema.LimitsJson, default: bounds.Limits) -> bounds.Limits:
    """Return the default limits with those that were given. Raises InputError."""
    named = {name: getattr(asked, name) for name in asked.__struct_fields__}
    return replace(default, **{name: value for name, value in named.items() if value is not None})


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
    """Return bytes as text, and as base64 too if they are no UTF-8."""
    return schema.Output(*as_text(data))


async def judge(
    engine: Engine,
    asked: schema.JudgeRequest,
    context: RequestContext,
    progress: Progress | None = None,
) -> schema.JudgeResult:
    """Judge one program. Raises InputError, naming the field, and the engine's errors."""
    submission = program(asked.program)
    if _is_plain(asked):
        return await _judge_plain(engine, asked, submission, context, progress)
    if asked.mode != "standard" or asked.fast:
        raise InputError("this problem is judged in standard mode only", field="mode")
    problem = _contest_problem(asked)
    tell = None if progress is None else lambda each: progress(_contest_test(each))
    made = await engine.judge(
        problem,
        submission,
        JudgeSettings(stop=asked.stop),
        context,
        packages=asked.packages,
        progress=tell,
    )
    return _contest_result(made, made.judgement)


def _is_plain(asked: schema.JudgeRequest) -> bool:
    """Return True for tests with the default comparison, which warm interpreters can judge."""
    problem = asked.problem
    if problem.format == "codeforces":
        return False
    compared = problem.comparison is None or problem.comparison == schema.ComparisonJson(
        absolute=problem.comparison.absolute, relative=problem.comparison.absolute
    )
    special = problem.checker or problem.interactor or problem.subtasks
    return compared and not special and not asked.program.files


async def _judge_plain(
    engine: Engine,
    asked: schema.JudgeRequest,
    submission: programs.Program,
    context: RequestContext,
    progress: Progress | None,
) -> schema.JudgeResult:
    problem = _plain_problem(asked.problem)
    comparison = asked.problem.comparison
    settings = JudgeSettings(
        mode=asked.mode,
        limits=limits(asked.limits, default_limits(asked.mode)),
        stop=asked.stop,
        fast=asked.fast,
        tolerance=None if comparison is None else comparison.absolute,
    )
    names = [each.name or str(at) for at, each in enumerate(asked.problem.tests)]
    names = names or [str(at) for at in range(len(problem.tests))]
    seen = 0

    def tell(result: PlainResult) -> None:
        nonlocal seen
        if progress is not None:
            progress(_plain_test(names[seen], result))
        seen += 1

    made = await engine.judge(
        problem,
        submission,
        settings,
        context,
        packages=asked.packages,
        progress=None if progress is None else tell,
    )
    return _plain_result(made, made.judgement, names)


def _plain_problem(asked: schema.ProblemJson) -> problems.Problem:
    if asked.format == "livecodebench":
        return livecodebench.problem_of(_row(asked))
    tests = tuple(problems.Test(each.input, each.output) for each in _tests(asked))
    return problems.Problem(asked.id, tests, asked.function)


def _contest_problem(asked: schema.JudgeRequest) -> problems.Problem:
    problem = asked.problem
    if problem.format == "codeforces":
        found = codeforces_rows.problem_of_row(_row(problem))
        if found is None:
            raise InputError("the row has no test", field="problem.row.official_tests")
        return replace(found, limits=limits(asked.limits, found.test_limits))
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
    return problems.Problem(
        problem.id,
        tuple(tests.values()),
        subtasks=subtasks or (problems.Subtask(_ALL, 1.0, tuple(tests)),),
        limits=limits(asked.limits, default_limits("standard")),
        grading=_grading(problem),
        running=_running(problem),
    )


def _grading(problem: schema.ProblemJson) -> problems.Grading:
    if problem.checker is not None:
        if problem.comparison is not None:
            raise InputError("a problem has a checker or a comparison", field="problem.checker")
        asked = problem.checker
        convention = problems.Convention(asked.convention)
        return problems.Checker(program(asked.program), convention, asked.flags)
    asked_for = problem.comparison or schema.ComparisonJson()
    return problems.Comparison(
        problems.Match(asked_for.match),
        asked_for.case_sensitive,
        asked_for.space_sensitive,
        asked_for.absolute,
        asked_for.relative,
    )


def _running(problem: schema.ProblemJson) -> problems.Running:
    if problem.interactor is None:
        return problems.Batch()
    asked = problem.interactor
    convention = problems.Convention(asked.convention)
    return problems.Interactive(program(asked.program), convention, asked.flags)


def _tests(problem: schema.ProblemJson) -> tuple[schema.TestJson, ...]:
    if problem.row is not None:
        raise InputError("a row needs its `format`", field="problem.format")
    return problem.tests


def _row(problem: schema.ProblemJson) -> Mapping[str, object]:
    if problem.row is None:
        raise InputError(f"format {problem.format} needs a `row`", field="problem.row")
    return problem.row


def _plain_test(name: str, result: PlainResult) -> schema.TestResultJson:
    score = float(result.verdict.passed)
    return schema.TestResultJson(
        name, result.verdict, score, result.cpu, result.wall, result.memory, result.message
    )


def _contest_test(result: PlainResult) -> schema.TestResultJson:
    return schema.TestResultJson(
        result.name, result.verdict, result.score, result.cpu, result.wall, result.memory,
        result.message,
    )  # fmt: skip


def _plain_result(made: QueuedJudgement, found: Judgement, names: list[str]) -> schema.JudgeResult:
    compiled = found.verdict is not Verdict.CE
    return schema.JudgeResult(
        outcome(found.verdict),
        found.verdict,
        found.passed,
        None if found.verdict.is_fault else found.score,
        None,
        None,
        tuple(_plain_test(name, each) for name, each in zip(names, found.tests, strict=False)),
        (),
        found.message if compiled else "the program does not compile",
        "" if compiled else found.message,
        made.queue,
        None if found.isolation is None else found.isolation.level,
    )


def _contest_result(made: QueuedJudgement, found: Judgement) -> schema.JudgeResult:
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
        tuple(map(_contest_test, found.tests)),
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
