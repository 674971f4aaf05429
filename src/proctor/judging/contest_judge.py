"""Judging one submission to a contest problem: compile once, run what matters, add up."""

from collections import deque
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial

from proctor.errors import CompileFailed, InfraFault, InputError, PoolClosed
from proctor.execution import Isolation
from proctor.judgement import Judgement, SubtaskResult, TestResult, deciding
from proctor.judging import batch, output_only
from proctor.judging.blame import Blame
from proctor.judging.environment import JudgingEnvironment
from proctor.judging.group_grader import scored
from proctor.judging.points import Plan
from proctor.judging.runners import (
    Graders,
    RunTest,
    compile_graders,
    compile_submission,
    runner_of,
)
from proctor.judging.settings import JudgeSettings
from proctor.languages import registry
from proctor.problem import Batch, OutputOnly, Problem, Test
from proctor.program import Program
from proctor.verdict import Verdict

Progress = Callable[[TestResult], None]


def judge_in_environment(
    problem: Problem,
    program: Program,
    settings: JudgeSettings,
    environment: JudgingEnvironment,
    subtasks: Collection[str] | None = None,
    progress: Progress | None = None,
) -> Judgement:
    """Judge a submission on all subtasks, or on those named.

    Tests that can no longer change any score are not run, as settings.stop says. `progress` is
    called with each result, in the order of the tests. Faults of the task or of proctor are
    verdicts of their own. Raises InputError for a language that is not known or a problem whose own
    programs do not compile, PlatformError where nothing can be run.
    """
    with ThreadPoolExecutor(1) as thread:  # the submission is compiled meanwhile
        opening = thread.submit(compile_graders, problem, environment, settings.tolerance)
        contest = _Contest(
            problem, program, settings, environment, opening.result, subtasks, progress
        )
        judgement = contest.judge()
        with suppress(InfraFault):  # if the fault mattered, it is the verdict already
            opening.result()  # a broken problem is an error, whatever the submission is
    return judgement


def _submitted(
    threads: ThreadPoolExecutor, run: RunTest, test: Test
) -> Future[tuple[TestResult, Isolation | None]]:
    try:
        return threads.submit(_guarded, run, test)
    except RuntimeError as error:  # the interpreter is ending, as after Ctrl-C
        raise PoolClosed("the process is ending") from error


class _Contest:
    def __init__(
        self,
        problem: Problem,
        program: Program,
        settings: JudgeSettings,
        environment: JudgingEnvironment,
        opened: Callable[[], Graders],
        subtasks: Collection[str] | None,
        progress: Progress | None,
    ) -> None:
        """`opened` waits for the problem's own programs, and raises what compile_graders raises."""
        self._problem, self._opened = problem, opened
        self._program, self._environment = program, environment
        self._plan = Plan(problem, subtasks)
        self._tests = {
            name: test if test.name else replace(test, name=name)
            for name, test in problem.tests_by_name().items()
        }
        self._limits = problem.limits or settings.limits
        self._stop, self._progress = settings.stop, progress
        self._results: dict[str, TestResult] = {}
        self._isolation: Isolation | None = None

    def judge(self) -> Judgement:
        running = self._problem.running
        if not isinstance(running, OutputOnly):
            outputs = isinstance(running, Batch) and running.outputs and self._program.files
            if not self._program.source.strip() and not outputs:
                return self._without_running(Verdict.NC, "there is no code")
            if not outputs and not self._problem.takes(registry.get(self._program.language).id):
                names = ", ".join(self._problem.languages)
                return self._without_running(
                    Verdict.CE, f"this problem takes submissions in {names} only"
                )
        try:
            run = self._settled(self._runner())
        except CompileFailed as error:
            return self._without_running(Verdict.CE, str(error), error.output)
        except InfraFault as error:
            return self._without_running(Verdict.INFRA_FAULT, str(error))
        for result, isolation in self._run(run):
            self._isolation = isolation or self._isolation
            self._results[result.name] = result
            if self._progress is not None:
                self._progress(result)
        return self._judgement()

    def _runner(self) -> RunTest:
        """Return a runner of tests. Raises CompileFailed, InputError, NoLanguage, InfraFault."""
        environment, running = self._environment, self._problem.running
        if isinstance(running, OutputOnly):
            grader = self._opened().output
            of = partial(output_only.whole, self._program)
            return lambda test: (output_only.run(grader, environment, of(test.name), test), None)
        if isinstance(running, Batch) and running.outputs:
            return self._with_outputs(running)
        built = compile_submission(self._problem, self._program, environment)
        graders, limits = self._opened(), self._limits
        return runner_of(running, self._program, built, limits, graders, environment)

    def _settled(self, run: RunTest) -> RunTest:
        """Return a runner whose faults of the task are certainly the task's."""
        blame = Blame(self._problem, self._opened(), self._environment, self._limits)

        def settled(test: Test) -> tuple[TestResult, Isolation | None]:
            result, isolation = run(test)
            return blame.settle(test, result), isolation

        return settled

    def _with_outputs(self, running: Batch) -> RunTest:
        """Return a runner of tests, for which outputs or a program may be submitted."""
        environment, submission = self._environment, self._program
        built = None
        if submission.source.strip():
            program = output_only.without_outputs(running, submission)
            built = compile_submission(self._problem, program, environment)
        grader = self._opened().output

        def run(test: Test) -> tuple[TestResult, Isolation | None]:
            name = test.name
            output = output_only.beside(submission.files, name) if name in running.outputs else None
            if built is None or output is not None or name in running.outputs_only:
                return output_only.run(grader, environment, output, test), None
            return batch.BatchRunner(running, built, self._limits, grader).run(environment, test)

        return run

    def _run(self, run: RunTest) -> Iterator[tuple[TestResult, Isolation | None]]:
        """Run tests a few ahead of the one whose turn it is; yield what counts, in order.

        What is run ahead and then found not to matter is thrown away, so that results do not
        depend on how many tests run at once.
        """
        waiting = deque(self._plan.order)
        ahead: deque[tuple[str, Future[tuple[TestResult, Isolation | None]]]] = deque()
        with ThreadPoolExecutor(self._environment.cells) as threads:
            try:
                while waiting or ahead:
                    while waiting and len(ahead) < self._environment.cells:
                        name = waiting.popleft()
                        if self._needed(name):
                            test = self._tests[name]
                            ahead.append((name, _submitted(threads, run, test)))
                    if not ahead:
                        return
                    name, future = ahead.popleft()
                    if self._needed(name):
                        yield future.result()
                    else:
                        future.cancel()
            finally:
                for _, future in ahead:
                    future.cancel()

    def _needed(self, name: str) -> bool:
        return self._plan.needed(name, self._results, self._stop)

    def _judgement(self) -> Judgement:
        names = [each.name for each in self._plan.subtasks]
        subtasks, verdict, points, why = scored(
            self._problem, self._results, names, self._environment
        )
        failed = deciding(self._results.values())
        if not self._problem.subtasks:
            results = tuple(self._results.values())
            found = Judgement.of_tests(results, len(self._tests), self._isolation)
            return replace(found, integrity=self._problem.integrity)
        of = sum(each.of for each in subtasks)
        if self._problem.group_grading is not None and len(names) == len(self._problem.subtasks):
            of = self._problem.points
        return Judgement(
            verdict,
            points / of if points is not None and of else 0.0,
            tuple(self._results.values()),
            message=why or ("" if failed is None else _said_of(failed)),
            isolation=self._isolation,
            points=points,
            of=of,
            subtasks=subtasks,
            integrity=self._problem.integrity,
        )

    def _without_running(self, verdict: Verdict, message: str, output: str = "") -> Judgement:
        score = None if verdict.is_fault or not self._problem.subtasks else 0.0
        subtasks = (
            ()
            if not self._problem.subtasks
            else tuple(
                SubtaskResult(each.name, verdict, score, score, each.points, ())
                for each in self._plan.subtasks
            )
        )
        return Judgement(
            verdict, 0.0, (), message, points=score, of=sum(each.of for each in subtasks),
            subtasks=subtasks, compiled=False, compiler_output=output,
            integrity=self._problem.integrity,
        )  # fmt: skip


def _said_of(result: TestResult) -> str:
    return f"test {result.name}: {result.message or result.verdict}"


def _guarded(run: RunTest, test: Test) -> tuple[TestResult, Isolation | None]:
    """Run a test; faults of the task or of proctor become its verdict."""
    try:
        return run(test)
    except InputError as error:  # a file of the problem is gone, or a flag of a test is unknown
        return TestResult(Verdict.TASK_FAULT, message=str(error), name=test.name), None
    except InfraFault as error:
        return TestResult(Verdict.INFRA_FAULT, message=str(error), name=test.name), None
