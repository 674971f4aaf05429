"""Standard mode for programs that are not Python: compile once, run each test anew."""

from proctor.errors import CompileFailed
from proctor.execution import Execution
from proctor.judgement import Judgement, TestResult
from proctor.judging.answers import Answers
from proctor.judging.assignment import Assignment
from proctor.judging.comparison import compare_tokens
from proctor.judging.outcome import failure
from proctor.languages.compiler import Built, Compiler
from proctor.problem import Test
from proctor.sandbox.executor import in_cell, unless_killed
from proctor.verdict import Verdict


def judge_compiled(assignment: Assignment) -> Judgement:
    """Judge one stdin/stdout program in one cell. Raises CellDied, NoLanguage."""
    isolation = assignment.cell.isolation
    try:
        built = Compiler(in_cell(assignment.cell)).build(assignment.program)
    except CompileFailed as error:
        overran = error.execution is not None and error.execution.limit is not None
        message = str(error) if overran else error.output.strip() or str(error)
        return Judgement(Verdict.CE, 0.0, (), message, isolation, compiled=False)
    tests = assignment.problem.tests

    def compare(answer: tuple[Execution, Test]) -> TestResult:
        return _compared(assignment, built, *answer)

    answers = Answers(assignment.settings.stop, compare)
    while len(answers) < len(tests) and not answers.stopped:
        test = tests[len(answers)]
        execution = _run(assignment, built, test)
        size = len(execution.stdout) + len(execution.stderr)
        crashed = failure(built, execution, assignment.settings.limits) is not None
        answers.take((execution, test), size, crashed=crashed)
    answers.compare()
    return Judgement.of_tests(answers.results, len(tests), isolation)


def _run(assignment: Assignment, built: Built, test: Test) -> Execution:
    limits = assignment.settings.limits
    command = built.command(memory=limits.memory, judged=True)
    own = built.limits(limits, command)
    return unless_killed(in_cell(assignment.cell))(command, test.input_bytes(), own).execution


def _compared(assignment: Assignment, built: Built, execution: Execution, test: Test) -> TestResult:
    facts = (execution.cpu, execution.wall, execution.memory)
    why = failure(built, execution, assignment.settings.limits)
    if why is not None:
        return TestResult(why.verdict, *facts, why.message, test.name)
    tolerance = assignment.settings.tolerance
    difference = compare_tokens(execution.stdout, test.output_bytes(), tolerance)
    verdict = Verdict.AC if difference is None else Verdict.WA
    return TestResult(verdict, *facts, difference or "", test.name)
