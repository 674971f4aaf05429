"""From tests to points; and that what is not run can never have cost any."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from proctor.errors import InputError
from proctor.judgement import TestResult
from proctor.judging.points import Plan, Results, overall, rounded, total
from proctor.problem import Aggregate, Problem, Subtask, Test
from proctor.verdict import Verdict

SCORES = (0.0, 0.0, 0.25, 0.5, 1.0, 1.0)
NAMES = "abcdef"


def result(name: str, score: float | None) -> TestResult:
    """`score` None is a fault."""
    if score is None:
        return TestResult(Verdict.TASK_FAULT, name=name)
    verdict = Verdict.AC if score == 1 else Verdict.PA if score > 0 else Verdict.WA
    return TestResult(verdict, name=name, score=score)


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    tests = tuple(
        Test(b"", name=name, weight=draw(st.sampled_from([0.5, 1.0, 3.0]))) for name in NAMES
    )
    subtasks: list[Subtask] = []
    for index in range(draw(st.integers(1, 4))):
        earlier = [each.name for each in subtasks]
        depends = draw(st.lists(st.sampled_from(earlier), unique=True)) if earlier else []
        names = draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
        threshold = draw(st.sampled_from([0.25, 0.5, 1.0]))
        subtasks.append(
            Subtask(
                f"s{index}", 10.0 * (index + 1), tuple(names),
                draw(st.sampled_from(list(Aggregate))), threshold, tuple(depends),
            )
        )  # fmt: skip
    return Problem("p", tests, subtasks=tuple(draw(st.permutations(subtasks))))


def run(plan: Plan, scores: dict[str, float | None], *, stop: bool) -> Results:
    results: dict[str, TestResult] = {}
    for name in plan.order:
        if not stop or plan.needed(name, results):
            results[name] = result(name, scores[name])
    return results


def below(problem: Problem, subtask: Subtask) -> set[str]:
    """All tests of what a subtask depends on: slowly and plainly."""
    found: set[str] = set()
    for name in subtask.depends:
        other = next(each for each in problem.subtasks if each.name == name)
        found |= set(other.tests) | below(problem, other)
    return found


def naive(problem: Problem, subtask: Subtask, scores: dict[str, float | None]) -> float:
    own = [scores[name] or 0.0 for name in subtask.tests]
    weights = [problem.tests_by_name()[name].weight for name in subtask.tests]
    score = {
        Aggregate.MIN: min(own),
        Aggregate.SUM: sum(w * s for w, s in zip(weights, own, strict=True)) / sum(weights),
        Aggregate.THRESHOLD: float(min(own) >= subtask.threshold),
        Aggregate.PRODUCT: math.prod(own),
    }[subtask.aggregate]
    return min([score, *(scores[name] or 0.0 for name in below(problem, subtask))])


score_maps = st.fixed_dictionaries({name: st.sampled_from(SCORES) for name in NAMES})
faulty_maps = st.fixed_dictionaries({name: st.sampled_from((*SCORES, None)) for name in NAMES})


@given(problems(), score_maps)
def test_scores_are_those_of_the_definition(
    problem: Problem, scores: dict[str, float | None]
) -> None:
    plan = Plan(problem)
    for subtask, found in zip(
        problem.subtasks, plan.score(run(plan, scores, stop=False)), strict=True
    ):
        assert found.score == pytest.approx(naive(problem, subtask, scores))
        assert found.points == pytest.approx(found.score * subtask.points, abs=0.0051)
        assert (found.verdict is Verdict.AC) == (found.score == 1)


@given(problems(), score_maps, st.booleans())
def test_stopping_early_changes_no_score(
    problem: Problem, scores: dict[str, float | None], some: bool
) -> None:
    wanted = [problem.subtasks[0].name] if some else None
    plan = Plan(problem, wanted)
    whole, stopped = (plan.score(run(plan, scores, stop=stop)) for stop in (False, True))
    assert [(each.name, each.score, each.points) for each in whole] == [
        (each.name, each.score, each.points) for each in stopped
    ]
    assert [each.verdict is Verdict.AC for each in whole] == [
        each.verdict is Verdict.AC for each in stopped
    ]


crash_maps = st.fixed_dictionaries({name: st.booleans() for name in NAMES})


@given(problems(), crash_maps, score_maps, score_maps)
def test_which_tests_are_run_says_nothing_of_answers(
    problem: Problem,
    crashed: dict[str, bool],
    one: dict[str, float | None],
    other: dict[str, float | None],
) -> None:
    """With `stop` "crash", of whoever crashes at the same tests the same tests are run."""
    plan = Plan(problem)
    ran = []
    for scores in (one, other):
        results: dict[str, TestResult] = {}
        for name in plan.order:
            if plan.needed(name, results, "crash"):
                crash = TestResult(Verdict.RE, name=name)
                results[name] = crash if crashed[name] else result(name, scores[name])
        ran.append(list(results))
        whole = {
            name: TestResult(Verdict.RE, name=name) if crashed[name] else result(name, scores[name])
            for name in NAMES
        }
        assert [each.points for each in plan.score(results)] == [
            each.points for each in plan.score(whole)
        ]
    assert ran[0] == ran[1]


@given(problems(), faulty_maps, st.booleans())
def test_a_fault_gives_no_points_and_takes_no_failure_back(
    problem: Problem, scores: dict[str, float | None], stop: bool
) -> None:
    plan = Plan(problem)
    results = run(plan, scores, stop=stop)
    found = plan.score(results)
    worst, best = (
        {name: value if score is None else score for name, score in scores.items()}
        for value in (0.0, 1.0)
    )
    for subtask, each in zip(problem.subtasks, found, strict=True):
        verdicts = [results[name].verdict for name in each.tests]
        assert (each.score is None) == (each.points is None)
        if each.score is None:
            assert any(verdict.is_fault for verdict in verdicts)
        else:
            for known in (worst, best):
                assert each.score == pytest.approx(naive(problem, subtask, known))
        failed = any(not verdict.passed and not verdict.is_fault for verdict in verdicts)
        assert each.verdict.is_fault == (each.score is None and not failed)
    assert (total(found, 2) is None) == any(each.points is None for each in found)
    failed = [each for each in found if not each.verdict.passed and not each.verdict.is_fault]
    assert overall(found).is_fault == (any(each.verdict.is_fault for each in found) and not failed)


@given(problems(), faulty_maps)
def test_which_tests_were_left_out_does_not_matter_to_a_fault(
    problem: Problem, scores: dict[str, float | None]
) -> None:
    plan = Plan(problem)
    whole, stopped = (plan.score(run(plan, scores, stop=stop)) for stop in (False, True))
    assert [each.points for each in whole] == [each.points for each in stopped]


def test_the_order_of_a_fault_and_a_failure_does_not_matter() -> None:
    tests = tuple(Test(b"", name=name) for name in "abc")
    for aggregate in Aggregate:
        plan = Plan(Problem("p", tests, subtasks=(Subtask("1", 10, tuple("abc"), aggregate),)))
        for scores in ((None, 0.0, 1.0), (1.0, 0.0, None), (0.0, None, None)):
            results = run(plan, dict(zip("abc", scores, strict=True)), stop=True)
            (found,) = plan.score(results)
            known = None if aggregate is Aggregate.SUM else 0.0
            assert (found.verdict, found.points) == (Verdict.WA, known)


@given(problems(), score_maps)
def test_nothing_needless_is_run(problem: Problem, scores: dict[str, float | None]) -> None:
    """If no subtask is worth anything any more, whatever comes, nothing more is run."""
    plan = Plan(problem)
    results = run(plan, scores, stop=True)
    assume(len(results) < len(plan.order))
    for name in plan.order:
        if name not in results:
            best = {**dict.fromkeys(NAMES, 1.0), **{k: r.score for k, r in results.items()}}
            reached = {each.name: each.score for each in plan.score(results)}
            for subtask in problem.subtasks:
                if name in subtask.tests or name in below(problem, subtask):
                    assert naive(problem, subtask, best) == reached[subtask.name]


def test_a_partial_score_below_does_not_decide_a_threshold() -> None:
    tests = tuple(Test(b"", name=name) for name in "ab")
    lower = Subtask("1", 10, ("a",), Aggregate.SUM)
    above = Subtask("2", 10, ("b",), Aggregate.THRESHOLD, depends=("1",))
    plan = Plan(Problem("p", tests, subtasks=(lower, above)))
    results = run(plan, {"a": 0.5, "b": 1.0}, stop=True)
    assert [each.points for each in plan.score(results)] == [5.0, 5.0]


@pytest.mark.parametrize(
    ("aggregate", "second", "ran"),
    [
        (Aggregate.MIN, 0.0, "ab"), (Aggregate.MIN, 0.5, "abc"), (Aggregate.MIN, None, "abc"),
        (Aggregate.PRODUCT, 0.0, "ab"), (Aggregate.THRESHOLD, 0.25, "ab"), (Aggregate.THRESHOLD, 0.5, "abc"),
        (Aggregate.SUM, 0.0, "abc"), (Aggregate.SUM, None, "abc"),
    ],
)  # fmt: skip
def test_a_subtask_ends_with_what_decides_it(
    aggregate: Aggregate, second: float | None, ran: str
) -> None:
    """With `stop` "first": a failure, if nothing can make up for it; a fault decides nothing."""
    tests = tuple(Test(b"", name=name) for name in "abc")
    plan = Plan(Problem("p", tests, subtasks=(Subtask("1", 10, tuple("abc"), aggregate, 0.5),)))
    results = run(plan, {"a": 1.0, "b": second, "c": 1.0}, stop=True)
    assert "".join(results) == ran
    assert plan.needed("c", results, "never")


def test_subtasks_are_judged_in_the_problems_order_however_they_are_asked_for() -> None:
    tests = tuple(Test(b"", name=name) for name in "abc")
    problem = Problem("p", tests, subtasks=tuple(Subtask(name, 1, (name,)) for name in "abc"))
    plan = Plan(problem, ["c", "a"])
    assert [each.name for each in plan.subtasks] == ["a", "c"]
    assert plan.order == ("a", "c")


@pytest.mark.parametrize(("precision", "points"), [(0, 33.0), (2, 33.33), (4, 33.3333)])
def test_points_have_the_problems_precision(precision: int, points: float) -> None:
    tests = tuple(Test(b"", name=name) for name in "abc")
    subtask = Subtask("1", 100, tuple("abc"), Aggregate.SUM)
    plan = Plan(Problem("p", tests, subtasks=(subtask,), precision=precision))
    found = plan.score(run(plan, {"a": 1.0, "b": 0.0, "c": 0.0}, stop=False))
    assert (found[0].points, total(found, precision)) == (points, points)


def test_a_fault_ends_no_subtask() -> None:
    tests = tuple(Test(b"", name=name) for name in "abc")
    subtasks = (Subtask("1", 10, ("a", "b")), Subtask("2", 10, ("b", "c")))
    plan = Plan(Problem("p", tests, subtasks=subtasks))
    for scores, points in (
        ((1.0, None, 1.0), [None, None]), ((None, 1.0, 1.0), [None, 10.0]),
        ((None, 0.0, 1.0), [0.0, 0.0]), ((1.0, None, 0.0), [None, 0.0]),
    ):  # fmt: skip
        results = run(plan, dict(zip("abc", scores, strict=True)), stop=True)
        assert [each.points for each in plan.score(results)] == points


@pytest.mark.parametrize("verdict", ["RE", "TLE", "ILE", "MLE", "OLE", "WA", "PE", "PA"])
def test_with_crash_whatever_a_program_can_notice_ends_a_subtask(verdict: str) -> None:
    tests = tuple(Test(b"", name=name) for name in "ab")
    plan = Plan(Problem("p", tests, subtasks=(Subtask("1", 10, ("a", "b")),)))
    results = {"a": TestResult(Verdict(verdict), name="a")}
    assert plan.needed("b", results, "crash") == (verdict in {"WA", "PE", "PA"})


def test_a_subtask_without_points_earns_no_part() -> None:
    """Samples are often such a subtask."""
    tests = tuple(Test(b"", name=name) for name in "ab")
    plan = Plan(
        Problem("p", tests, subtasks=(Subtask("samples", 0, ("a",)), Subtask("1", 10, ("b",))))
    )
    found = plan.score(run(plan, {"a": 1.0, "b": 0.0}, stop=False))
    assert [each.score for each in found] == [1.0, 0.0]
    assert (overall(found), total(found, 2)) == (Verdict.WA, 0.0)


def test_a_failure_is_named_before_a_partial_score() -> None:
    tests = tuple(Test(b"", name=name) for name in "abc")
    plan = Plan(Problem("p", tests, subtasks=(Subtask("1", 10, tuple("abc")),)))
    (found,) = plan.score({"a": result("a", 0.5), "b": result("b", 0.0), "c": result("c", 1.0)})
    assert found.verdict is Verdict.WA


def test_a_threshold_may_just_be_reached() -> None:
    tests = (Test(b"", name="a"),)
    plan = Plan(Problem("p", tests, subtasks=(Subtask("1", 10, ("a",), Aggregate.THRESHOLD, 0.5),)))
    assert [plan.score({"a": result("a", each)})[0].points for each in (0.5, 0.25)] == [10.0, 0.0]


@pytest.mark.parametrize(
    ("points", "precision", "expected"),
    [(87.165, 2, 87.16), (2.675, 2, 2.68), (33.3333, 0, 33.0), (0.5, 0, 0.0), (1e-9, 2, 0.0)],
)
def test_rounding_is_of_the_decimal(points: float, precision: int, expected: float) -> None:
    assert rounded(points, precision) == expected


@pytest.mark.parametrize(
    "subtasks",
    [
        (Subtask("1", 1, ("no",)),), (Subtask("1", 1, ("a",), depends=("2",)),),
        (Subtask("1", 1, ("a",)), Subtask("1", 1, ("a",))),
        (Subtask("1", 1, ("a",), depends=("2",)), Subtask("2", 1, ("a",), depends=("1",))),
        (Subtask("1", 1, ("a",), depends=("1",)),),
    ],
)  # fmt: skip
def test_problems_that_do_not_fit_together(subtasks: tuple[Subtask, ...]) -> None:
    with pytest.raises(InputError) as caught:
        Problem("p", (Test(b"", name="a"),), subtasks=subtasks)
    assert caught.value.field
