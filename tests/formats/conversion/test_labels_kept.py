"""Labels of different formats, and which of them say as much as another."""

import pytest

from proctor.formats.conversion.labels import Labels
from proctor.formats.packages.model import (
    ACCEPTED,
    CRASHED,
    REJECTED,
    SLOW,
    WRONG,
    Claim,
    Expectation,
    Part,
)
from proctor.grading import Checker, Convention
from proctor.problem import Aggregate, Problem, Subtask, Test
from proctor.program import Program
from proctor.verdict import Verdict

TESTS = tuple(Test("", "", name=name) for name in "abc")
ONE = Problem("one", TESTS, subtasks=(Subtask("all", 1, ("a", "b", "c")),))
TWO = Problem(
    "two", TESTS, subtasks=(Subtask("small", 40, ("a",)), Subtask("large", 60, ("b", "c")))
)
SCORED = Problem(
    "scored",
    TESTS,
    subtasks=(Subtask("all", 100, ("a", "b", "c"), Aggregate.SUM),),
    grading=Checker(Program("", "python"), Convention.SCORE),
)


def label(*parts: Part, **claim: object) -> Expectation:
    return Expectation(Claim(**claim), parts)  # type: ignore[arg-type]


IMPLIED = [
    # An accepted one passes every test, and gets all points.
    (ONE, label(verdicts=ACCEPTED), label(permitted=ACCEPTED)),
    (TWO, label(verdicts=ACCEPTED), label(points=(100, 100))),
    (TWO, label(verdicts=ACCEPTED), label(Part("small", Claim(ACCEPTED, points=(40, 40))))),
    (TWO, label(verdicts=ACCEPTED), label(Part("x", Claim(permitted=ACCEPTED), ("b",)))),
    (TWO, label(*(Part(n, Claim(ACCEPTED)) for n in ("small", "large"))), label(verdicts=ACCEPTED)),
    # Verdicts are those of tests.
    (ONE, label(verdicts=WRONG), label(required=WRONG)),
    (ONE, label(permitted=ACCEPTED | SLOW, required=SLOW), label(verdicts=SLOW)),
    (ONE, label(verdicts=REJECTED), label(verdicts=REJECTED | ACCEPTED)),
    (TWO, label(*(Part(n, Claim(WRONG)) for n in ("small", "large"))), label(required=WRONG)),
    (TWO, label(verdicts=WRONG), label(points=(0, 0))),
    # A test that is passed or not is never passed in part.
    (ONE, label(verdicts=WRONG), label(verdicts=WRONG | {Verdict.PA})),
    (ONE, label(verdicts=WRONG | {Verdict.PA}), label(verdicts=WRONG)),
    (SCORED, label(points=(10, 20)), label(points=(0, 30))),
]
NOT_IMPLIED = [
    (ONE, label(verdicts=WRONG), label(permitted=ACCEPTED | WRONG)),
    (ONE, label(verdicts=REJECTED), label(verdicts=WRONG)),
    (ONE, label(required=WRONG), label(verdicts=WRONG)),
    (ONE, label(permitted=ACCEPTED), label(verdicts=ACCEPTED)),  # it need not compile
    (ONE, label(verdicts=frozenset({Verdict.CE})), label(required=frozenset({Verdict.CE}))),
    (TWO, label(Part("small", Claim(ACCEPTED))), label(verdicts=ACCEPTED)),
    (TWO, label(permitted=ACCEPTED | WRONG, required=WRONG), label(verdicts=WRONG)),  # may be PA
    (SCORED, label(verdicts=WRONG | {Verdict.PA}), label(verdicts=WRONG)),
    (SCORED, label(points=(0, 30)), label(points=(10, 20))),
    (TWO, label(verdicts=WRONG), label(Part("small", Claim(WRONG)))),
]


@pytest.mark.parametrize(("problem", "a", "b"), IMPLIED)
def test_implied(problem: Problem, a: Expectation, b: Expectation) -> None:
    assert Labels(problem).implies(a, b)


@pytest.mark.parametrize(("problem", "a", "b"), NOT_IMPLIED)
def test_not_implied(problem: Problem, a: Expectation, b: Expectation) -> None:
    assert not Labels(problem).implies(a, b)


def test_the_first_true_word_is_taken() -> None:
    words = {"slow": label(verdicts=SLOW), "bad": label(verdicts=REJECTED), "any": label()}
    labels = Labels(ONE)
    assert labels.strongest(label(verdicts=SLOW), words) == "slow"
    assert labels.strongest(label(verdicts=CRASHED), words) == "bad"
    assert labels.strongest(label(verdicts=ACCEPTED), words) == "any"
    assert labels.strongest(label(verdicts=ACCEPTED), {"slow": words["slow"]}) is None
