"""Grading predictions of a call's result, or of arguments that give a result.

In mode `standard` a prediction is a Python literal (for `inf` and `nan` their names or `float`'s
call will do), and nothing of it is ever executed: a cell parses it, another process there calls
the task's code, and the host compares the two values as Python does. nan equals nan, for a right
answer has to exist. In mode `official` a cell runs what the published evaluators run.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files

from proctor.cell import plain_data
from proctor.cell.wire import Kind
from proctor.errors import CellDied
from proctor.judgement import Judgement, TestResult
from proctor.judging.settings import JudgeSettings
from proctor.judging.standard import failed_run
from proctor.judging.values import Bounds
from proctor.limits import MIB, Limits
from proctor.prediction import AssertionTask, CallTask
from proctor.problem import content_bytes
from proctor.program import Program
from proctor.sandbox.cell import Cell, Serving, TestRun
from proctor.sandbox.clock import Clock, ContestClock, UpstreamClock
from proctor.verdict import Verdict

OFFICIAL_SECONDS = 3.0
"""Seconds that the published evaluators give one check; a shorter limit of the settings holds."""
_ANSWERER = Program((files("proctor.cell") / "predictions.py").read_text("utf-8"))
_NOT_PLAIN = (b'{"opaque":', b'{"array":')
_FLAGS = Bounds(64, 64)
"""Bytes for two flags; what was executed may have written anything."""
_OWN = Bounds(64 * MIB, plain_data.MAX_NODES)
"""Bytes of a task's own value at most."""
_SHOWN = 200
Task = CallTask | AssertionTask


def judge_prediction(cell: Cell, task: Task, text: str, settings: JudgeSettings) -> Judgement:
    """Grade one prediction in a cell. Raises CellDied.

    A task whose call gives no value, or another one than its source states, is a TASK_FAULT in
    mode `standard`.
    """
    if not text.strip():
        return Judgement(Verdict.NC, 0.0, (), "there is no prediction")
    official = settings.mode == "official"
    clock: Clock = ContestClock(settings.limits)
    if official:
        clock = UpstreamClock(min(settings.limits.cpu, OFFICIAL_SECONDS))
    with _desk(cell, settings.limits, clock) as desk:
        try:
            if isinstance(task, AssertionTask):
                return _assertion(desk, task, text, "evaluated" if official else "literal")
            return _official(desk, task, text) if official else _standard(desk, task, text)
        except _TaskFault as fault:
            return Judgement(Verdict.TASK_FAULT, 0.0, (), str(fault), cell.isolation)


def judge_to_the_end(cell: Cell, program: str, limits: Limits, *, lcb: bool) -> Judgement:
    """Judge a program that is right if it runs to its end. Raises CellDied.

    `lcb` puts lcb_runner's imports before it; the limit on time is upstream's: it counts idle
    time too.
    """
    with _desk(cell, limits, UpstreamClock(limits.cpu)) as desk:
        answer = desk.ask(_FLAGS, "asserted", program, lcb)
        return desk.compared(answer, True, "an assertion fails")


@contextmanager
def _desk(cell: Cell, limits: Limits, clock: Clock) -> Iterator["_Desk"]:
    with cell.serve(Kind.SERVE_FORK, _ANSWERER, "answer", limits, clock) as serving:
        if not serving.alive:
            raise CellDied(f"our own program did not load: {serving.unloadable}")
        yield _Desk(serving, clock, cell, limits)


class _TaskFault(Exception):
    """The task cannot be graded; the text says why."""


@dataclass(frozen=True, slots=True)
class _Evaluated:
    """A value that a cell has evaluated, or why there is none."""

    run: TestRun
    failure: tuple[Verdict, str] | None
    """Verdict and message if there is no value."""
    value: object = None

    def judged(self, verdict: Verdict, message: str = "") -> TestResult:
        run = self.run
        return TestResult(verdict, run.cpu, run.wall, run.memory, message)


class _Desk:
    """A cell in which values are evaluated for one prediction."""

    def __init__(self, serving: Serving, clock: Clock, cell: Cell, limits: Limits) -> None:
        self._serving, self._clock, self._cell = serving, clock, cell
        self._limits = limits

    def ask(self, bounds: Bounds, what: str, *given: object) -> _Evaluated:
        """Evaluate one value; an encoding beyond `bounds` cannot be that of the right value."""
        asked = content_bytes("\n".join(map(json.dumps, (what, *given))))
        run = self._serving.test(asked, self._clock)
        if (failure := failed_run(run, self._limits, called=True)) is not None:
            return _Evaluated(run, failure)
        if not bounds.hold(run.result):
            return _Evaluated(run, (Verdict.WA, "far larger than the right value"))
        try:
            match plain_data.decode(run.result):
                case (True, value):
                    return _Evaluated(run, None, value)
                case (False, str(why)):
                    return _Evaluated(run, (Verdict.WA, f"not a literal: {why[:_SHOWN]}"))
        except ValueError:
            pass
        return _Evaluated(run, (Verdict.WA, "its value is not plain data"))

    def own(self, what: str, *given: object) -> object:
        """Evaluate a value of the task itself. Raises _TaskFault if there is none."""
        answer = self.ask(_OWN, what, *given)
        if answer.failure is not None:
            verdict, message = answer.failure
            raise _TaskFault(f"the task's own call gives no value: {verdict}, {message}")
        if any(mark in answer.run.result for mark in _NOT_PLAIN):
            raise _TaskFault("no literal equals what the task's own call gives")
        return answer.value

    def judgement(self, answer: _Evaluated, verdict: Verdict, message: str = "") -> Judgement:
        """Return the judgement of one evaluated value."""
        return Judgement.of_tests([answer.judged(verdict, message)], 1, self._cell.isolation)

    def compared(self, answer: _Evaluated, expected: object, wrong: str) -> Judgement:
        """Return AC if the value equals the expected one, else WA with the message `wrong`."""
        if answer.failure is not None:
            return self.judgement(answer, *answer.failure)
        if _same(answer.value, expected):
            return self.judgement(answer, Verdict.AC)
        return self.judgement(answer, Verdict.WA, wrong)


def _standard(desk: _Desk, task: CallTask, text: str) -> Judgement:
    own = (task.code, task.call, task.lcb)
    expected = desk.own("called", *own)
    recorded = desk.ask(_OWN, "literal", task.output)  # the recorded output may not be a literal
    if recorded.failure is None and not _same(recorded.value, expected):
        raise _TaskFault(f"{task.call[:_SHOWN]} does not give what the task's source says")
    bounds = Bounds.of(task.output)
    if task.wanted == "output":
        answer = desk.ask(bounds, "literal", text)
        return desk.compared(answer, expected, "not what the call gives")
    # The task's own arguments are accepted even if they are not literals.
    if text.strip() in {task.call, task.arguments}:
        answer = desk.ask(bounds, "called", *own)
    else:
        answer = desk.ask(bounds, "called_with", task.code, task.function, text, task.lcb)
    return desk.compared(answer, expected, "the call gives another value")


def _official(desk: _Desk, task: CallTask, text: str) -> Judgement:
    """Run `assert output == prediction` after the task's code, whatever that does.

    Source: evaluate_score in CRUXEval's utils_general.py and in lcb_runner's
    compute_code_execution_metrics.py. Predictions that they do not run fail; lcb_runner leaves
    such a one out of its average while others of the same task are left.
    """
    if task.wanted == "output" and task.call in text:
        return Judgement(Verdict.WA, 0.0, (), "holds the call itself: not run, as upstream")
    if task.wanted == "input" and f"{task.function}(" not in text:
        return Judgement(Verdict.WA, 0.0, (), "holds no call: not run, as upstream")
    program = f"{task.code}\nassert {task.output} == {text}"
    answer = desk.ask(_FLAGS, "asserted", program, task.lcb)
    return desk.compared(answer, True, "the assertion fails")


def _assertion(desk: _Desk, task: AssertionTask, text: str, what: str) -> Judgement:
    try:
        expected = json.loads(task.output)
    except (ValueError, RecursionError) as error:
        raise _TaskFault("the task's output is not JSON") from error
    answer = desk.ask(Bounds.of(task.output), what, text)
    return desk.compared(answer, expected, "not what the call gives")


def _same(value: object, other: object) -> bool:
    """Return whether values are equal. In a list nan equals itself, and decoding makes one nan."""
    return [value] == [other]
