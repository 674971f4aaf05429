"""From tests' scores to points, and which tests need not be run. Pure: no clock, no files."""

from collections.abc import Collection, Mapping
from decimal import ROUND_HALF_EVEN, Decimal

from proctor.judgement import SubtaskResult, TestResult
from proctor.judging.settings import Stop
from proctor.problem import Aggregate, Problem, Subtask, Test, inherited
from proctor.verdict import Verdict

CRASHES = (Verdict.RE, Verdict.TLE, Verdict.ILE, Verdict.MLE, Verdict.OLE)
"""Failures that a program can notice without a judge."""

Results = Mapping[str, TestResult]


class Plan:
    """The tests of some subtasks of a problem: in which order, and which are still of interest."""

    def __init__(self, problem: Problem, wanted: Collection[str] | None = None) -> None:
        """`wanted` are subtasks' names; None is all. What they depend on is run too."""
        self._problem = problem
        every = problem.subtasks or (Subtask("", 1.0, tuple(problem.tests_by_name())),)
        known = {subtask.name: subtask for subtask in every}
        names = list(known) if wanted is None else [name for name in known if name in wanted]
        self.subtasks = tuple(known[name] for name in names)
        self._inherited = {name: inherited(known[name], known) for name in names}
        self.tests_of = {
            name: tuple(dict.fromkeys((*self._inherited[name], *known[name].tests)))
            for name in names
        }
        """All tests that count for a subtask, those of what it depends on included."""
        order = dict.fromkeys(test for name in names for test in self.tests_of[name])
        self.order = tuple(order)

    def needed(self, test: str, results: Results, stop: Stop = "first") -> bool:
        """Return whether the test can still change a subtask's score, by what `stop` looks at."""
        if stop == "never":
            return True
        if stop == "crash":
            results = {name: each for name, each in results.items() if each.verdict in CRASHES}
        return any(
            test in self.tests_of[subtask.name] and not self._decided(subtask, results)
            for subtask in self.subtasks
        )

    def _decided(self, subtask: Subtask, results: Results) -> bool:
        """Return whether nothing can raise the score above zero. A fault decides nothing."""
        return _is_zero(subtask, self._inherited[subtask.name], _without_faults(results))

    def score(self, results: Results) -> tuple[SubtaskResult, ...]:
        """Return each subtask's result."""
        return tuple(
            _subtask_result(subtask, self._inherited[subtask.name], self._problem, results)
            for subtask in self.subtasks
        )


def _without_faults(results: Results) -> Results:
    return {name: each for name, each in results.items() if not each.verdict.is_fault}


def _is_zero(subtask: Subtask, inherited: Collection[str], results: Results) -> bool:
    """Return whether these tests, none of them a fault, hold a subtask's score at zero."""
    if any(results[name].score == 0 for name in inherited if name in results):
        return True
    own = [results[name].score for name in subtask.tests if name in results]
    if subtask.aggregate is Aggregate.SUM:
        return False
    if subtask.aggregate is Aggregate.THRESHOLD:
        return any(score < subtask.threshold for score in own)
    return 0 in own


def _subtask_result(
    subtask: Subtask, inherited: Collection[str], problem: Problem, results: Results
) -> SubtaskResult:
    ran = tuple(name for name in dict.fromkeys((*inherited, *subtask.tests)) if name in results)
    done = [results[name] for name in ran]
    fault = next((result for result in done if result.verdict.is_fault), None)
    if fault is not None and not _is_zero(subtask, inherited, _without_faults(results)):
        verdict = _failure([result.verdict for result in done]) or fault.verdict
        return SubtaskResult(subtask.name, verdict, None, None, subtask.points, ran)
    own = {name: results[name].score for name in subtask.tests if name in results}
    score = _aggregate(subtask, own, problem.tests_by_name())
    score = min([score, *(results[name].score for name in inherited if name in results)])
    verdict = _verdict(score, [result.verdict for result in done])
    points = rounded(score * subtask.points, problem.precision)
    return SubtaskResult(subtask.name, verdict, score, points, subtask.points, ran)


def _aggregate(subtask: Subtask, scores: Mapping[str, float], tests: Mapping[str, Test]) -> float:
    """Return the score from 0 to 1. A test that was not run counts 0: it can no longer raise it."""
    values = [scores.get(name, 0.0) for name in subtask.tests]
    match subtask.aggregate:
        case Aggregate.MIN:
            return min(values, default=1.0)
        case Aggregate.THRESHOLD:
            return float(all(value >= subtask.threshold for value in values))
        case Aggregate.PRODUCT:
            product = 1.0
            for value in values:
                product *= value
            return product
        case Aggregate.SUM:
            weights = [tests[name].weight for name in subtask.tests]
            total = sum(weights)
            if total == 0:
                return 1.0
            return sum(w * v for w, v in zip(weights, values, strict=True)) / total


def _verdict(score: float, verdicts: list[Verdict]) -> Verdict:
    """Return AC for a score of 1, PA for any other above 0, else the first failure."""
    if score >= 1:
        return Verdict.AC
    return Verdict.PA if score > 0 else _failure(verdicts) or Verdict.SK


def _failure(verdicts: list[Verdict]) -> Verdict | None:
    """Return the first failure, a partial one only if there is no other; None without any."""
    failed = [each for each in verdicts if not each.passed and not each.is_fault]
    hard = [verdict for verdict in failed if verdict is not Verdict.PA]
    return next(iter(hard or failed), None)


def total(subtasks: Collection[SubtaskResult], precision: int) -> float | None:
    """Return the sum of points; None if any is unknown."""
    known = [each.points for each in subtasks if each.points is not None]
    return rounded(sum(known), precision) if len(known) == len(subtasks) else None


def overall(subtasks: Collection[SubtaskResult]) -> Verdict:
    """Return the verdict on a whole submission; a fault only if no subtask has failed."""
    failed = [each.verdict for each in subtasks if each.verdict is not Verdict.AC]
    definite = [verdict for verdict in failed if not verdict.is_fault]
    if definite and any(each.points for each in subtasks):
        return Verdict.PA
    return next(iter(definite or failed), Verdict.AC)


def rounded(points: float, precision: int) -> float:
    """Round half to even at `precision` decimals, starting from the decimal that repr shows."""
    step = Decimal(1).scaleb(-precision)
    return float(Decimal(repr(points)).quantize(step, ROUND_HALF_EVEN))
