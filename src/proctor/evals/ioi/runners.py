"""Another sandbox under proctor's scoring: it runs each test, proctor chooses tests and adds up.

A runner is a callable of the published shape, `(problem, test_input, submission, test_output)`,
with `problem` a row of the data set, that returns the texts `(score, feedback)`, or an awaitable of
them. Whatever it raises is a fault of infrastructure. How far a
verdict can be trusted depends on the runner.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from threading import Lock, Thread
from typing import Any, cast

from proctor.errors import InfraFault, InputError
from proctor.evals.imported import imported
from proctor.evals.ioi import feedback
from proctor.formats.ioi_rows import IoiTask
from proctor.judgement import Judgement, TestResult
from proctor.judging import points as scoring
from proctor.problem import Test
from proctor.program import Program
from proctor.verdict import Verdict

Answer = tuple[str, str]
RunTest = Callable[[Mapping[str, Any], str, str, str | None], Answer | Awaitable[Answer]]


class ForeignGrade:
    """Judges with a runner. One event loop serves all that it awaits."""

    def __init__(self, run_test: RunTest, name: str) -> None:
        """`name` stands in results and errors, to say who ran and graded the tests."""
        self._run_test = run_test
        self._name = name
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = Lock()

    def __call__(
        self, task: IoiTask, program: Program, subtasks: tuple[str, ...] | None
    ) -> Judgement:
        """Run in order the tests that can still change a score. Raises InfraFault."""
        plan = scoring.Plan(task.problem, subtasks)
        done: dict[str, TestResult] = {}
        tests = task.problem.tests_by_name()
        for name in plan.order:
            if plan.needed(name, done):
                done[name] = self._result(task, tests[name], program)
                if done[name].verdict is Verdict.CE:
                    break
        compiled = all(result.verdict is not Verdict.CE for result in done.values())
        results = plan.score(done)
        precision = task.problem.precision
        points, of = scoring.total(results, precision), sum(result.of for result in results)
        return Judgement(
            verdict=scoring.overall(results) if compiled else Verdict.CE,
            score=points / of if points is not None and of else 0.0,
            points=points,
            of=of,
            tests=tuple(done.values()),
            subtasks=results,
            compiled=compiled,
            compiler_output="" if compiled else next(reversed(done.values())).message,
            integrity=f"as good as that of {self._name}, which ran and graded each test",
        )

    def _result(self, task: IoiTask, test: Test, program: Program) -> TestResult:
        row = next(row for row in task.rows.values() if test.name in row["test_names"])
        given = test.input_bytes().decode("utf-8", "surrogateescape")
        answer = None
        if test.output is not None:
            answer = test.output_bytes().decode("utf-8", "surrogateescape")
        try:
            answered = self._run_test(row, given, program.source, answer)
            if inspect.isawaitable(answered):
                answered = self._awaited(answered)
        except InfraFault:
            raise
        except Exception as error:
            raise InfraFault(f"{self._name}: test {test.name}: {error!r}") from error
        score, message = _checked(answered, f"{self._name}: test {test.name}")
        return TestResult(
            feedback.verdict_of(score, message),
            message=message.strip(),
            name=test.name,
            score=score,
        )

    def _awaited(self, answer: Awaitable[Answer]) -> Answer:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                Thread(target=self._loop.run_forever, name="runner", daemon=True).start()
        return asyncio.run_coroutine_threadsafe(_one(answer), self._loop).result()


async def _one(answer: Awaitable[Answer]) -> Answer:
    return await answer


def _checked(answered: object, what: str) -> tuple[float, str]:
    if not (isinstance(answered, tuple | list) and len(answered) == 2):
        raise InfraFault(f"{what}: answers {answered!r:.200}, not (score, feedback)")
    try:
        score = float(answered[0])
    except (TypeError, ValueError) as error:
        raise InfraFault(f"{what}: {answered[0]!r:.200} is not a score") from error
    if not 0 <= score <= 1:
        raise InfraFault(f"{what}: a score of {score} is not between 0 and 1")
    return score, str(answered[1] or "")


def load(name: str) -> RunTest:
    """Return the callable named `module:callable`. Raises InputError."""
    try:
        found = imported(name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"{name!r} cannot be imported: {error}", field="--runner") from error
    if not callable(found):
        raise InputError(f"{name!r} is not callable", field="--runner")
    return cast("RunTest", found)
