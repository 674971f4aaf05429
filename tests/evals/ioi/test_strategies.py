from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import InputError
from proctor.evals.ioi import strategies
from proctor.evals.ioi.strategies import ScoredSubmission

OF = {"0": 0.0, "1": 30.0, "2": 70.0}


def attempt(key: str, one: float, two: float, target: str | None = None, *, samples: float = 1.0,
            compiled: bool = True, length: int = 0) -> ScoredSubmission:  # fmt: skip
    points: Mapping[str, float | None] = {"0": 0.0, "1": one, "2": two}
    extra = {"all_subtasks_results": [{"subtask": "0", "score": samples}]}
    return ScoredSubmission(key, (2024, "p"), "m", points, OF, target, compiled, length, extra)


def keys(attempts: list[ScoredSubmission]) -> list[str]:
    return [each.key for each in attempts]


def test_best_union_and_first() -> None:
    tries = [attempt("a", 30, 0), attempt("b", 0, 35), attempt("c", 10, 20), attempt("d", 0, 70)]
    assert strategies.best_single(tries) == 70
    assert strategies.union(tries) == 100
    assert strategies.first(tries, 2) == 65
    assert strategies.union([]) == strategies.best_single([]) == 0


def test_the_round_begins_with_the_hardest_and_takes_the_most_promising() -> None:
    tries = [
        attempt("easy", 10, 0, "1"),
        attempt("short", 0, 10, "2", length=5),
        attempt("long", 0, 10, "2", length=9),
        attempt("fails samples", 0, 10, "2", samples=0.5, length=99),
        attempt("does not compile", 0, 0, "2", compiled=False),
        attempt("for no subtask", 0, 0, None),
    ]
    assert keys(strategies.round_robin(tries)) == [
        "long", "easy", "for no subtask", "short", "fails samples",
    ]  # fmt: skip
    assert keys(strategies.round_robin(tries, 2)) == ["long", "easy"]


def test_a_solved_subtask_takes_no_more_turns() -> None:
    tries = [
        attempt("solves 2", 0, 70, "2", length=9),
        attempt("2 again", 0, 0, "2"),
        attempt("1 a", 0, 0, "1", length=9),
        attempt("1 b", 0, 0, "1"),
    ]
    # What is left for solved subtasks fills up, after all that may still bring points.
    assert keys(strategies.round_robin(tries)) == ["solves 2", "1 a", "1 b", "2 again"]


def test_it_ends_when_all_is_solved() -> None:
    tries = [attempt("all", 30, 70, "2"), attempt("more", 30, 70, "2"), attempt("other", 0, 0, "1")]
    assert keys(strategies.round_robin(tries)) == ["all"]


scores = st.tuples(st.sampled_from([0.0, 10.0, 30.0]), st.sampled_from([0.0, 35.0, 70.0]))
tried = st.lists(
    st.tuples(scores, st.sampled_from(["1", "2", None]), st.integers(0, 3)), max_size=12
)


@given(tried, st.integers(1, 12))
def test_what_a_round_robin_is(
    given_tries: list[tuple[tuple[float, float], str | None, int]], limit: int
) -> None:
    tries = [
        attempt(str(number), *points, target, length=length)
        for number, (points, target, length) in enumerate(given_tries)
    ]
    chosen = strategies.round_robin(tries, limit)
    assert len(chosen) <= limit
    assert len(set(keys(chosen))) == len(chosen)
    assert strategies.union(chosen) <= strategies.union(tries)
    if limit >= len(tries):
        assert strategies.union(chosen) == strategies.union(tries)
    assert strategies.best_single(tries) <= strategies.union(tries)


def test_names() -> None:
    tries = [attempt("a", 30, 0, "1"), attempt("b", 0, 35, "2")]
    assert [strategies.apply(name, tries) for name in ("best", "union", "first:1", "round-robin:1", "first")] == [
        35, 65, 30, 35, 65,
    ]  # fmt: skip
    for name in ("worst", "first:0", "first:x", "union:2"):
        with pytest.raises(InputError, match="is not a strategy"):
            strategies.apply(name, tries)


def test_rows_are_read() -> None:
    row = {
        "row": "u/0", "year": 2024, "problem_id": "p", "code_compiles": True, "target_subtask": "1",
        "all_subtasks_results": [{"subtask": "1", "weighted_score": None, "points": 30, "score": None}],
        "model_kwargs": {"model": "m"}, "metadata": {"usage": {"completion_tokens": 12}},
    }  # fmt: skip
    got = strategies.attempt_of_row(row)
    assert (got.model, got.length, got.total, got.target) == ("m", 12, 0.0, "1")
    assert strategies.attempt_of_row(row | {"metadata": None, "generation": "abc"}).length == 3
