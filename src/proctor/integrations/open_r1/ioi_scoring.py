"""Scoring of tests and subtasks, as in open-r1's `ioi_scoring` and huggingface/ioi's `scoring`."""

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from proctor import judgement as judgements
from proctor.errors import InfraFault, InputError
from proctor.evals.ioi import feedback
from proctor.evals.ioi.results import status_of, worst
from proctor.evals.ioi.submissions import DEFAULT_LANGUAGE
from proctor.grading import Comparison
from proctor.integrations.open_r1.piston_client import OpenR1Client
from proctor.judging.judge import judge_async
from proctor.judging.settings import JudgeSettings, Stop
from proctor.problem import Problem, Subtask
from proctor.program import Program
from proctor.verdict import Verdict

_CRASHES = ("CE", "RE", "TLE", "MLE")
"""Statuses that a program can find out without a judge."""


@dataclass
class OpenR1TestResult:
    """Result of one test, as published."""

    __test__ = False  # pytest takes a class of this name for a test

    test_name: str
    score: float = 0.0
    status: str = "SKIPPED"
    feedback: str | None = None


@dataclass
class OpenR1SubtaskResult:
    """Result of one subtask, as published."""

    problem: str | None = None
    subtask: str | None = None
    points: float = 0.0
    score_precision: int = 2
    test_results: list[OpenR1TestResult] = field(default_factory=list)

    @property
    def status(self) -> str:
        """The worst of the tests' statuses: CE, RE, WA, MLE, TLE, PA, AC, SKIPPED."""
        return worst(result.status for result in self.test_results)

    @property
    def score(self) -> float:
        """The least of the tests' scores, rounded; 0 without tests."""
        return round(self._least, self.score_precision)

    @property
    def weighted_score(self) -> float:
        """Points: the least of the tests' scores times what the subtask is worth, rounded."""
        return round(self._least * self.points, self.score_precision)

    @property
    def _least(self) -> float:
        return min((result.score for result in self.test_results), default=0)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        return {
            "problem": self.problem,
            "subtask": self.subtask,
            "score": self.score,
            "weighted_score": self.weighted_score,
            "points": self.points,
            "score_precision": self.score_precision,
            "status": self.status,
            "test_results": [asdict(result) for result in self.test_results],
        }


# The published names.
SubtaskResult = OpenR1SubtaskResult
TestResult = OpenR1TestResult


async def score_single_test_case(
    client: OpenR1Client,
    subtask: Mapping[str, Any],
    test_name: str,
    test_input: str,
    test_output: str,
    submission: str,
) -> OpenR1TestResult:
    """Score one test. Raises InfraFault, InputError."""
    case = [test_input, test_output]
    problem = client.rows.problem({**subtask, "test_names": [test_name], "test_cases": [case]})
    return (await _judge(client, problem, [test_name], submission))(test_name)


async def score_subtask(
    client: OpenR1Client,
    subtask: Mapping[str, Any],
    submission: str,
    test_case_run_cache: MutableMapping[str, OpenR1TestResult] | None = None,
    test_batch_size: int = 1,
) -> OpenR1SubtaskResult:
    """Score a subtask: a row of the data set, with `test_cases` of its own or of the client's.

    Tests count in batches of `test_batch_size`, all in one if it is below 1; after a batch with a
    score of 0 the rest is skipped, and so is everything if the cache holds such a test. Tests
    skipped after a wrong answer are run all the same, so that a program that is run again learns
    nothing about its earlier answers. Raises InfraFault and InputError, never a score for a fault.
    """
    names = list(subtask["test_names"])
    done = {} if test_case_run_cache is None else test_case_run_cache
    known = {name: done[name] for name in names if name in done}
    missing = [name for name in names if name not in known]
    failed = any(each.score == 0 and each.status != "SKIPPED" for each in known.values())
    crashed = any(each.status in _CRASHES for each in known.values())
    if submission and missing and not crashed:
        stop: Stop = "crash" if test_batch_size == 1 else "never"
        told = await _judge(client, client.rows.problem(subtask), missing, submission, stop)
        size = test_batch_size if test_batch_size >= 1 else len(missing)
        for start in range(0, 0 if failed else len(missing), size):
            results = {name: told(name) for name in missing[start : start + size]}
            known |= results
            if any(result.score == 0 for result in results.values()):
                break
        done.update(known)
    return OpenR1SubtaskResult(
        problem=subtask["id"],
        subtask=subtask["subtask"],
        points=subtask["score"],
        score_precision=subtask["score_precision"],
        test_results=[known.get(name) or OpenR1TestResult(name) for name in names],
    )


async def score_subtasks(
    client: OpenR1Client,
    subtasks: Sequence[Mapping[str, Any]],
    submission: str,
    skip_mode: bool | int = True,
    *,
    test_batch_size: int | None = None,
) -> list[OpenR1SubtaskResult]:
    """Score several subtasks of a problem; a test that they share is run once.

    With `skip_mode`, as open-r1 has it, a subtask ends at its first failed test; without, all its
    tests are run. In its place huggingface/ioi has `test_batch_size`, which means the same as for
    `score_subtask`; it is taken by name, or by place where that holds a number.
    """
    cached: dict[str, OpenR1TestResult] = {}
    size = test_batch_size
    if size is None:
        size = (1 if skip_mode else -1) if isinstance(skip_mode, bool) else skip_mode
    return [await score_subtask(client, each, submission, cached, size) for each in subtasks]


async def run_submission(
    client: OpenR1Client,
    problem: Mapping[str, Any],
    test_input: str,
    submission: str,
    test_output: str | None = None,
) -> tuple[str, str]:
    """Run one test; score and feedback in the published words. Raises InfraFault, InputError."""
    result = await score_single_test_case(
        client, problem, "test", test_input, test_output or "", submission
    )
    text = f"{result.score:.17g}"
    return (text if float(text) else "0"), result.feedback or ""


async def _judge(
    client: OpenR1Client,
    problem: Problem,
    names: Sequence[str],
    submission: str,
    stop: Stop = "never",
) -> Callable[[str], OpenR1TestResult]:
    """Judge some tests of a problem.

    Returns a function from a test's name to its result, which raises for a fault.
    """
    known, names = problem.tests_by_name(), tuple(dict.fromkeys(names))
    alone = replace(
        problem,
        tests=tuple(known[name] for name in names),
        subtasks=(Subtask("chosen", 1.0, names),),
    )
    program = Program(submission, DEFAULT_LANGUAGE)
    judgement = await judge_async(
        alone, program, settings=JudgeSettings(stop=stop), pool=client.pool
    )
    compared = isinstance(problem.grading, Comparison)
    if judgement.verdict is Verdict.INFRA_FAULT and not judgement.tests:
        raise InfraFault(judgement.message)
    if judgement.verdict is Verdict.CE:
        broken = judgements.TestResult(Verdict.CE)
        said = feedback.words(broken, compared=compared, compiler_output=judgement.compiler_output)
        return lambda name: OpenR1TestResult(name, 0.0, "CE", said)
    tests = {test.name: test for test in judgement.tests}

    def told(name: str) -> OpenR1TestResult:
        # Without a program no test is run.
        return _result(tests[name], compared=compared) if name in tests else OpenR1TestResult(name)

    return told


def _result(test: judgements.TestResult, *, compared: bool) -> OpenR1TestResult:
    if test.verdict is Verdict.INFRA_FAULT:
        raise InfraFault(f"test {test.name}: {test.message}")
    status = status_of(test.verdict)
    if status is None:
        raise InputError(f"the task is broken: test {test.name}: {test.message} {test.log}".strip())
    return OpenR1TestResult(test.name, test.score, status, feedback.words(test, compared=compared))
