"""Intervals against scipy and statsmodels, and against what they promise."""

import contextlib
import math
import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import InputError
from proctor.reports.t_distribution import t_quantile, t_two_sided
from proctor.reports.tallies import Tally
from proctor.reports.uncertainty import clustered_error, mean_interval, ratio_interval, wilson

with contextlib.suppress(ModuleNotFoundError):  # tests that take these are marked
    from scipy import stats
    from statsmodels.regression.linear_model import OLS
    from statsmodels.stats.proportion import proportion_confint


def made(
    problem: int, scored: int, passed: int, cluster: str = "", platform: str = "", month: int = 0
) -> Tally:
    return Tally(
        str(problem), cluster or f"problem {problem}", platform, "", None, scored, passed, 0, 0
    )


@pytest.mark.package("scipy")
@pytest.mark.parametrize("df", [1, 2, 3, 4, 5, 10, 29, 30, 99, 1000, 99_999, 100_000, 10**6])
@pytest.mark.parametrize("p", [0.5, 0.6, 0.8, 0.9, 0.975, 0.995, 0.9999])
def test_students_quantile_is_scipys(df: int, p: float) -> None:
    assert t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=5e-5, abs=1e-9)


@pytest.mark.package("scipy")
@pytest.mark.parametrize("df", [1, 2, 7, 8, 250])
@pytest.mark.parametrize("t", [0.0, 0.3, -1.96, 2.7, 12.0])
def test_students_p_value_is_scipys(df: int, t: float) -> None:
    assert t_two_sided(t, df) == pytest.approx(2 * stats.t.sf(abs(t), df), rel=1e-6, abs=1e-12)


def test_student_needs_freedom() -> None:
    with pytest.raises(InputError, match="degrees of freedom"):
        t_two_sided(1.0, 0)
    with pytest.raises(InputError, match="quantile"):
        t_quantile(0.2, 3)


@pytest.mark.package("statsmodels")
@given(st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_statsmodels(case: tuple[int, int]) -> None:
    passed, total = case
    expected = proportion_confint(passed, total, method="wilson")
    assert wilson(passed, total) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("case", [(3, 2), (-1, 2), (0, 0)])
def test_wilson_refuses_what_is_no_share(case: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="0 <= passed <= total"):
        wilson(*case)


@pytest.mark.package("statsmodels")
@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 6)), min_size=3, max_size=60).filter(
        lambda rows: len({group for _, group in rows}) > 1
    )
)
def test_clustered_error_is_statsmodels(rows: list[tuple[float, int]]) -> None:
    values = np.array([value for value, _ in rows])
    groups = np.array([group for _, group in rows])
    fit = OLS(values, np.ones(len(values))).fit(cov_type="cluster", cov_kwds={"groups": groups})
    error, clusters = clustered_error(list(values), [str(group) for group in groups])
    assert clusters == len(set(groups))
    assert error == pytest.approx(float(fit.bse[0]), rel=1e-6, abs=1e-9)


@pytest.mark.package("scipy")
def test_clusters_of_one_give_the_usual_error() -> None:
    values = [0.1, 0.5, 0.2, 0.9, 1.0]
    error, _ = clustered_error(values, list("abcde"))
    assert error == pytest.approx(stats.sem(values))


@pytest.mark.package("scipy")
def test_each_case_gets_its_interval() -> None:
    independent = [made(i, 1, i % 2) for i in range(40)]
    found = mean_interval(independent)
    assert found is not None
    assert (found.method, found.low, found.high) == ("wilson", *wilson(20, 40))

    several = mean_interval([made(i, 5, i % 6) for i in range(40)])
    assert several is not None
    assert several.method == "clustered-t"
    values = [i % 6 / 5 for i in range(40)]
    expected = stats.t.interval(0.95, 39, np.mean(values), stats.sem(values))
    assert (several.low, several.high) == pytest.approx(expected, abs=1e-9)

    perfect = mean_interval([made(i, 1, 1, cluster=f"contest {i // 4}") for i in range(40)])
    assert perfect is not None
    assert (perfect.low, perfect.high) == wilson(10, 10)
    assert (perfect.problems, perfect.clusters) == (40, 10)

    alone = mean_interval([made(i, 1, i % 2, cluster="one") for i in range(40)])
    assert alone is not None
    assert (alone.value, alone.low, alone.high) == (0.5, None, None)

    assert mean_interval([made(1, 0, 0)]) is None


def test_ratio_interval_agrees_with_the_clustered_error() -> None:
    """Of many clusters, the bootstrap of a mean is nearly normal with that error."""
    chance = random.Random(4)
    values = [chance.random() for _ in range(600)]
    clusters = [str(i // 3) for i in range(600)]
    found = ratio_interval(values, [1.0] * 600, clusters)
    error, _ = clustered_error(values, clusters)
    assert found is not None
    assert found.low == pytest.approx(found.value - 1.96 * error, abs=0.1 * error)
    assert found.high == pytest.approx(found.value + 1.96 * error, abs=0.1 * error)
    assert ratio_interval(values, [1.0] * 600, clusters) == found


def test_ratio_without_a_denominator() -> None:
    assert ratio_interval([1.0, 2.0], [0.0, 0.0], ["a", "b"]) is None
    rarely = ratio_interval([1.0, 2.0, 1.0], [0.0, 0.0, 1.0], ["a", "b", "c"])
    assert rarely is not None
    assert rarely.high is None or math.isinf(rarely.high)


def simulated(chance: random.Random, contests: int, size: int, samples: int) -> list[Tally]:
    """Problems of a contest share a mood; the true mean pass rate is one half by symmetry."""
    tallies = []
    for contest in range(contests):
        mood = chance.gauss(0, 1)
        for number in range(size):
            rate = 1 / (1 + math.exp(-mood - chance.gauss(0, 1)))
            passed = sum(chance.random() < rate for _ in range(samples))
            tallies.append(made(contest * size + number, samples, passed, f"c{contest}"))
    return tallies


def bootstrapped(tallies: list[Tally]) -> tuple[float | None, float | None]:
    rates = [each.rate for each in tallies]
    found = ratio_interval(rates, [1.0] * len(rates), [each.cluster for each in tallies])
    assert found is not None
    return found.low, found.high


def by_t(tallies: list[Tally]) -> tuple[float | None, float | None]:
    found = mean_interval(tallies)
    assert found is not None
    return found.low, found.high


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("shape", "interval", "rounds"),
    [
        ((25, 4, 1), by_t, 1000),
        ((60, 3, 4), by_t, 800),
        ((80, 3, 2), bootstrapped, 300),
    ],
)
def test_coverage(
    shape: tuple[int, int, int],
    interval: Callable[[list[Tally]], tuple[float | None, float | None]],
    rounds: int,
) -> None:
    """Nominal 95 % intervals hold the true value in 93 to 97 of 100 simulated runs."""
    chance = random.Random(20)
    held = 0
    for _ in range(rounds):
        low, high = interval(simulated(chance, *shape))
        assert low is not None
        assert high is not None
        held += low <= 0.5 <= high
    assert 0.93 <= held / rounds <= 0.97


@pytest.mark.package("scipy")
def test_coverage_of_wilson() -> None:
    """Exact: the binomial chances of the counts whose interval holds the true rate."""
    for total in (50, 200):
        intervals = [wilson(count, total) for count in range(total + 1)]
        rates = np.linspace(0.05, 0.95, 181)
        held = [
            stats.binom.pmf(
                [c for c, (low, high) in enumerate(intervals) if low <= rate <= high], total, rate
            ).sum()
            for rate in rates
        ]
        assert 0.94 <= np.mean(held) <= 0.96


def test_without_clusters_coverage_would_be_lost() -> None:
    """What the clustering is for: the same runs, every problem taken as independent."""
    chance = random.Random(20)
    held = 0
    for _ in range(400):
        tallies = [made(i, t.scored, t.passed) for i, t in enumerate(simulated(chance, 25, 4, 1))]
        low, high = by_t(tallies)
        assert low is not None
        assert high is not None
        held += low <= 0.5 <= high
    assert held / 400 < 0.92
