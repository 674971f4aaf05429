"""Paired comparison against scipy and statsmodels."""

import contextlib
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.reports.run_comparison import compare, detectable, differences, holm, mcnemar
from proctor.reports.tallies import Tally

with contextlib.suppress(ModuleNotFoundError):  # tests that take these are marked
    from scipy import stats
    from statsmodels.stats.contingency_tables import mcnemar as oracle
    from statsmodels.stats.multitest import multipletests


def made(problem: int, scored: int, passed: int, cluster: str = "") -> Tally:
    return Tally(str(problem), cluster or f"p{problem}", "", "", None, scored, passed, 0, 0)


@pytest.mark.package("statsmodels")
@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_is_statsmodels(wins: int, losses: int) -> None:
    expected = oracle([[5, wins], [losses, 5]], exact=True).pvalue if wins + losses else 1.0
    assert mcnemar(wins, losses) == pytest.approx(expected, rel=1e-9)


@pytest.mark.package("statsmodels")
@pytest.mark.parametrize("seed", range(10))
def test_holm_is_statsmodels(seed: int) -> None:
    chance = random.Random(seed)
    p_values = [chance.random() ** 4 for _ in range(seed + 1)]
    assert holm(p_values) == pytest.approx(list(multipletests(p_values, method="holm")[1]))


@pytest.mark.package("scipy")
def test_without_clusters_it_is_the_paired_t_test() -> None:
    chance = random.Random(3)
    a = [made(i, 8, chance.randrange(9)) for i in range(50)]
    b = [made(i, 8, chance.randrange(9)) for i in range(50)]
    found = compare(a, b)
    assert found is not None
    expected = stats.ttest_rel([each.rate for each in b], [each.rate for each in a])
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-6)
    interval = expected.confidence_interval()
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), abs=1e-9)
    assert found.mcnemar is None
    assert found.difference == pytest.approx(found.rate_b - found.rate_a)


def test_only_common_problems_count() -> None:
    a = [made(i, 1, i % 2) for i in range(6)]
    b = [made(i, 1, 1) for i in range(2, 9)]
    found = compare(a, b)
    assert found is not None
    assert (found.problems, found.only_a, found.only_b) == (4, 2, 3)
    assert (found.wins, found.losses, found.ties) == (("2", "4"), (), 2)
    assert found.mcnemar == 0.5
    assert compare(a[:1], b[3:]) is None


def test_equal_runs_are_equal() -> None:
    a = [made(i, 1, i % 2) for i in range(6)]
    found = compare(a, a)
    assert found is not None
    assert (found.difference, found.p_value, found.mcnemar) == (0, 1, 1)
    assert (found.stderr, found.low, found.detectable) == (None, None, None)


def test_no_spread_is_no_certainty() -> None:
    """Five contests that all gain alike: the sign test, not a p-value of 0."""
    a, b = ([made(i, 1, passed, f"c{i % 5}") for i in range(20)] for passed in (0, 1))
    found = compare(a, b)
    assert found is not None
    assert (found.difference, found.low, found.high) == (1, None, None)
    assert found.p_value == 2 / 2**5
    alone = compare([made(0, 1, 0)], [made(0, 1, 1)])
    assert alone is not None
    assert alone.p_value is None


@pytest.mark.package("scipy")
def test_the_detectable_effect_is_found_four_times_in_five() -> None:
    generator = np.random.default_rng(5)
    size, noise = 60, 0.3
    effect = detectable(noise / np.sqrt(size), size - 1)
    drawn = generator.normal(effect, noise, (4000, size))
    found = stats.ttest_1samp(drawn, 0, axis=1).pvalue < 0.05
    assert 0.78 < found.mean() < 0.82


def test_differences_that_matter() -> None:
    a = {"dataset": "v5", "prompt": "x", "limits": {"cpu": 6}, "judge": "1", "host": "m1"}
    assert differences(a, {**a, "host": "m2"}) == differences(a, a)
    found = differences(a, {**a, "limits": {"cpu": 10}})
    assert dict(found.unlike) == {"limits": ({"cpu": 6}, {"cpu": 10})}
    assert found.unknown == ()
    assert differences({}, {}).unknown == ("dataset", "prompt", "limits", "judge")
    missing = differences(a, {"dataset": "v5", "dataset_revision": "r"})
    assert set(missing.unknown) == {"dataset_revision", "prompt", "limits", "judge"}
