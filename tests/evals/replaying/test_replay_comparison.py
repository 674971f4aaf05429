"""Recorded and new judgements compared: what differs, in one sentence."""

from collections.abc import Collection
from concurrent.futures import Future
from dataclasses import replace

import pytest

from proctor.errors import InputError
from proctor.evals.replaying.comparison import compared_tests, differences, sentence
from proctor.evals.replaying.recorded import RecordedJudgement, Surroundings
from proctor.evals.replaying.replay import Excerpt, replay
from proctor.judgement import Judgement, Machine, TestResult, UpstreamReport
from proctor.judging.settings import JudgeSettings
from proctor.problem import Problem
from proctor.problem import Test as Case
from proctor.program import Program
from proctor.verdict import Verdict

AC, WA, TLE, PA = Verdict.AC, Verdict.WA, Verdict.TLE, Verdict.PA


def judged(*verdicts: Verdict, names: str = "", cpu: float = 0.0) -> Judgement:
    tests = tuple(
        TestResult(verdict, cpu, name=name)
        for verdict, name in zip(verdicts, names or [""] * len(verdicts), strict=True)
    )
    return Judgement.of_tests(tests, len(tests) or 1, None)


def test_times_and_words_are_no_difference() -> None:
    then = replace(judged(AC, TLE, cpu=1.0), message="then")
    assert differences(then, replace(judged(AC, TLE, cpu=3.0), message="now")) == []
    assert sentence(then, [judged(AC, TLE)]) == "same verdict: TLE"
    assert sentence(then, [judged(AC, TLE)] * 4) == "same verdict: TLE, 4 times of 4"


@pytest.mark.parametrize(
    ("then", "now", "said"),
    [
        (judged(AC), judged(WA), "differs: WA, was AC; test 0 WA, was AC"),
        (judged(WA, AC), judged(WA, WA), "same verdict WA, but differs: test 1 WA, was AC"),
        (judged(WA), judged(WA, AC), "same verdict WA, but differs: test 1 AC, was not run"),
        (judged(AC, WA, names="ab"), judged(WA, names="b"),
         "same verdict WA, but differs: test a not run, was AC"),
        (judged(), judged(AC), "differs: test 0 AC, was not run"),
        (judged(AC, AC, AC, AC), judged(WA, WA, WA, WA),
         "differs: WA, was AC; test 0 WA, was AC; test 1 WA, was AC and 2 more"),
        (replace(judged(AC), points=5.0), replace(judged(AC), points=4.5),
         "same verdict AC, but differs: 4.5 points, were 5"),
        (replace(judged(AC), points=5.0), judged(AC),
         "same verdict AC, but differs: no points, were 5"),
        (replace(judged(AC), score=0.5), judged(AC),
         "same verdict AC, but differs: score 1, was 0.5"),
    ],
)  # fmt: skip
def test_differences_are_told(then: Judgement, now: Judgement, said: str) -> None:
    found = sentence(then, [now])
    assert found.removeprefix("same verdict AC, but ") == said.removeprefix("same verdict AC, but ")


def test_partial_scores_and_codes() -> None:
    then = judged(PA)
    half, third = (replace(then, tests=(TestResult(PA, score=score),)) for score in (0.5, 0.25))
    assert differences(half, third) == ["test 0 PA 0.25, was PA 0.5"]
    wrong, late = (
        replace(judged(WA), upstream=UpstreamReport((code,), code, "", {})) for code in (-2, -3)
    )
    assert differences(wrong, late) == ["error code -3, was -2"]


def test_a_verdict_that_flips() -> None:
    now = [judged(AC), judged(TLE), judged(AC), judged(AC)]
    assert sentence(judged(AC), now) == (
        "differs 1 times of 4 (AC 3, TLE 1): TLE, was AC; test 0 TLE, was AC"
    )
    (test,) = compared_tests(judged(AC), now)
    assert [test.difference(at) for at in range(4)] == ["", "test 0 TLE, was AC", "", ""]


def test_tests_with_names_on_one_side_only_are_put_together_in_order() -> None:
    tests = compared_tests(judged(AC, WA, names="ab"), [judged(AC, TLE)])
    assert [(test.name, test.differs) for test in tests] == [("0", False), ("1", True)]


class Answering:
    """Judges elsewhere, with answers that are known."""

    at_once = 1

    def __init__(self, *answers: Judgement | InputError) -> None:
        self._answers = list(answers)

    def version_of(self, language: str) -> str:
        return f"{language} 1"

    def start(
        self, _problem: Problem, _program: Program | str, _settings: JudgeSettings,
        _subtasks: Collection[str] | None = None,
    ) -> Future[Judgement]:  # fmt: skip
        answer = self._answers.pop(0)
        if isinstance(answer, InputError):
            raise answer
        future: Future[Judgement] = Future()
        future.set_result(answer)
        return future


def recorded(then: Judgement) -> RecordedJudgement:
    problem = Problem("p", (Case("1", "2"), Case("3", "4")))
    return RecordedJudgement("r#1", problem, Program("x", "cpp17"), JudgeSettings(), then)


def test_a_fault_is_no_verdict_on_the_program() -> None:
    fault = Judgement(Verdict.INFRA_FAULT, 0.0, (), "a cell died")
    found = replay(recorded(judged(AC, AC)), Answering(judged(AC, AC), fault), 2)
    assert (found.exit_code, found.said) == (125, "could not be judged: INFRA_FAULT, a cell died")
    broken = replay(recorded(judged(AC, AC)), Answering(InputError("the checker does not compile")))
    assert (broken.exit_code, broken.made[0].verdict) == (125, Verdict.TASK_FAULT)
    same = replay(recorded(replace(fault, verdict=Verdict.TASK_FAULT)),
                  Answering(InputError("the checker does not compile")))  # fmt: skip
    assert (same.exit_code, same.said) == (0, "same verdict: TASK_FAULT")


def test_who_judged_is_told() -> None:
    elsewhere = replace(judged(AC, AC), machine=Machine("node-1", "EPYC"))
    found = replay(recorded(judged(AC, AC)), Answering(elsewhere))
    assert (found.now.machine, found.now.cpu, found.now.system) == ("node-1", "EPYC", "")
    assert (found.now.python, found.now.tools) == ("python 1", "cpp17 1")
    there = replay(recorded(judged(AC, AC)), Answering(elsewhere), there=Surroundings("7"))
    assert there.now == Surroundings("7")


def test_the_test_that_is_shown() -> None:
    def shown(then: Judgement, now: Judgement) -> str | None:
        found = replay(recorded(then), Answering(now), output_on=lambda _test: b"out").shown
        return None if found is None else found.compared.name

    assert shown(judged(WA, AC), judged(WA, WA)) == "1", "the first that differs"
    assert shown(judged(AC, WA), judged(AC, WA)) == "1", "else the first that is not passed"
    assert shown(judged(AC, AC), judged(AC, AC)) is None
    assert shown(judged(WA, WA, WA), judged(WA, WA, AC)) is None, "the problem has no such test"


def test_excerpts_are_short_and_about_what_differs() -> None:
    whole = bytes(range(256)) * 100
    assert Excerpt.of(whole) == Excerpt(whole[:400], 0, 25600)
    assert Excerpt.of(whole, 299) == Excerpt(whole[:400], 0, 25600)
    assert Excerpt.of(whole, 5000) == Excerpt(whole[4900:5300], 4900, 25600)
    assert Excerpt.of(b"", 0) == Excerpt(b"", 0, 0)
