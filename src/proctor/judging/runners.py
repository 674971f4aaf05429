"""A problem's own programs, and submissions to it, compiled and ready to run tests."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from proctor.errors import CompileFailed, InputError
from proctor.execution import Isolation
from proctor.grading import Convention
from proctor.judgement import TestResult
from proctor.judging import batch, interaction, two_steps
from proctor.judging.environment import JudgingEnvironment
from proctor.judging.grader import OutputGrader, prepare
from proctor.languages import registry
from proctor.languages.compiler import Built
from proctor.limits import Limits
from proctor.problem import (
    Batch,
    Communication,
    Interactive,
    Problem,
    Running,
    Stub,
    Test,
    TwoSteps,
)
from proctor.program import Program

RunTest = Callable[[Test], tuple[TestResult, Isolation | None]]


@dataclass(frozen=True, slots=True)
class Graders:
    """A problem's own programs, compiled."""

    output: OutputGrader
    partner: Built | None
    """The interactor or manager."""


def compile_graders(
    problem: Problem, environment: JudgingEnvironment, tolerance: float | None = None
) -> Graders:
    """Compile the problem's own programs, those that have not been compiled before.

    Raises InputError if one does not compile, NoLanguage, InfraFault.
    """
    running = problem.running
    partner, who = None, "checker"
    try:
        output = prepare(environment, problem.grading, tolerance)
        if problem.group_grading is not None and problem.group_grading.program is not None:
            who = "grader"
            environment.compile_grader(problem.group_grading.program)
        if isinstance(running, Interactive):
            who = "interactor"
            partner = environment.compile_grader(running.interactor)
        elif isinstance(running, Communication):
            who = "manager"
            partner = environment.compile_grader(running.manager)
    except CompileFailed as error:
        why = str(error).replace("the program", f"the {who} of problem {problem.id}")
        raise InputError(f"{why}\n{error.output}") from error
    return Graders(output, partner)


def compile_submission(
    problem: Problem, program: Program, environment: JudgingEnvironment
) -> Built:
    """Compile a submission with the grader or stub for its language, if there are any.

    Raises CompileFailed, InputError, NoLanguage, InfraFault.
    """
    language = registry.get(program.language)
    stub = problem.stubs.get(language.family)
    if stub is None and any(each.files for each in problem.stubs.values()):
        families = ", ".join(sorted(problem.stubs))
        raise CompileFailed(f"this problem has no grader for {language.name} (only {families})")
    stub = stub or Stub({})
    # Processes that are different programs keep the names by which a stub knows them.
    several = isinstance(problem.running, Communication) and any(
        map(registry.by_extension, program.files)
    )
    name = stub.name if stub.name and not several else program.name
    parts = (stub.before, program.source, stub.after)
    program = replace(program, source="\n".join(filter(None, parts)), name=name)
    if not stub.starts:
        program = replace(program, files={**program.files, **stub.files})
        return environment.compile_submission(program, {}, stub.flags)
    return environment.compile_submission(program, stub.files, stub.flags)


def runner_of(
    running: Running,
    program: Program,
    built: Built,
    limits: Limits,
    graders: Graders,
    environment: JudgingEnvironment,
    wrote: Callable[[bytes], object] | None = None,
) -> RunTest:
    """Return a function that runs a submission, `built` from `program`, on one test.

    Not for submissions that are only outputs. For a batch problem, `wrote` is called with the
    output that is graded.
    """
    if isinstance(running, Batch):
        runner = batch.runner_for(running, program, built, limits, graders.output)
        return lambda test: runner.run(environment, test, wrote)
    if isinstance(running, TwoSteps):
        steps = two_steps.TwoStepsRunner(built, limits, graders.output)
        return lambda test: steps.run(environment, test)
    assert isinstance(running, Interactive | Communication)
    assert graders.partner is not None
    if isinstance(running, Communication):
        second = running.graded
    else:
        testlib = running.convention is Convention.TESTLIB
        second = testlib and graders.output.checker is not None
    output = graders.output if second else None
    contact = interaction.Contact(running, graders.partner, built, limits, output)
    return lambda test: interaction.run(contact, environment, test)
