"""Months, cutoffs and the search for one, against statsmodels and against chance."""

import contextlib
import random
from datetime import date

import numpy as np
import pytest

from made_runs import make_run
from proctor.reports.contamination import by_month, largest_step, step_at, step_difference
from proctor.reports.tallies import Mode, Tally, tally, with_verdicts

with contextlib.suppress(ModuleNotFoundError):  # tests that take it are marked
    from statsmodels.regression.linear_model import OLS

SINCE = date(2024, 7, 1)


def tallies(fall: float, seed: int, contests: int = 40) -> list[Tally]:
    run = make_run(contests=contests, samples=3, fall=fall, seed=seed)
    return with_verdicts(tally(run.records, Mode.STANDARD))


@pytest.mark.package("statsmodels")
def test_step_is_the_regression_of_statsmodels() -> None:
    given = tallies(1.0, 7)
    found = step_at(given, SINCE)
    assert found is not None
    strata = sorted({each.stratum for each in given})
    design = np.array(
        [
            [float(each.published >= SINCE), *(float(each.stratum == s) for s in strata)]
            for each in given
            if each.published is not None
        ]
    )
    rates = [each.rate for each in given]
    names = np.unique([each.cluster for each in given], return_inverse=True)[1]
    fit = OLS(rates, design).fit(cov_type="cluster", cov_kwds={"groups": names}, use_t=True)
    assert found.effect == pytest.approx(fit.params[0], abs=1e-9)
    assert found.stderr == pytest.approx(fit.bse[0], rel=1e-6)
    assert found.p_value == pytest.approx(fit.pvalues[0], rel=1e-6)
    assert (found.low, found.high) == pytest.approx(tuple(fit.conf_int()[0]), abs=1e-9)
    assert found.before + found.after == len(given)


@pytest.mark.package("statsmodels")
def test_difference_of_steps_is_one_regression_of_statsmodels() -> None:
    """Of both runs at once, each with its own date and strata, clustered by what they share."""
    first, second = tallies(0.2, 7, contests=30), tallies(1.5, 8, contests=40)
    dates = (SINCE, date(2024, 3, 1))
    found = step_difference(first, dates[0], second, dates[1])
    assert found is not None
    rows = [(run, each) for run, made in enumerate((first, second)) for each in made]
    strata = sorted({(run, *each.stratum) for run, each in rows})
    design = np.array(
        [
            [
                float(each.published >= dates[run]),
                run * float(each.published >= dates[run]),
                *(float((run, *each.stratum) == s) for s in strata),
            ]
            for run, each in rows
            if each.published is not None
        ]
    )
    names = np.unique([each.cluster for _, each in rows], return_inverse=True)[1]
    fit = OLS([each.rate for _, each in rows], design).fit(
        cov_type="cluster", cov_kwds={"groups": names}, use_t=True
    )
    assert found.clusters == names.max() + 1 == 40
    assert found.effect == pytest.approx(fit.params[1], abs=1e-9)
    assert found.stderr == pytest.approx(fit.bse[1], rel=1e-6)
    assert found.p_value == pytest.approx(fit.pvalues[1], rel=1e-6)
    assert (found.low, found.high) == pytest.approx(tuple(fit.conf_int()[1]), abs=1e-9)


def test_a_run_does_not_differ_from_itself() -> None:
    given = tallies(1.0, 3)
    found = step_difference(given, SINCE, given, SINCE)
    assert found is not None
    assert (found.effect, found.stderr, found.p_value) == (0.0, None, None)
    assert step_difference(given, SINCE, given, date(2030, 1, 1)) is None


def test_drifting_difficulty_is_no_step() -> None:
    """Easy problems before, hard ones after, each solved as often as ever."""
    chance = random.Random(2)
    made = []
    for i in range(400):
        late = i >= 200
        hard = chance.random() < (0.8 if late else 0.2)
        rate = 0.2 if hard else 0.8
        passed = sum(chance.random() < rate for _ in range(5))
        day = date(2024, 9 if late else 3, 1 + i % 28)
        made.append(Tally(str(i), str(i), "p", ("easy", "hard")[hard], day, 5, passed, 0, 0))
    found = step_at(made, SINCE)
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0 < found.high
    late = [each.rate for each in made if each.published and each.published >= SINCE]
    early = [each.rate for each in made if each.published and each.published < SINCE]
    assert np.mean(late) - np.mean(early) < -0.25


def test_nothing_on_one_side() -> None:
    assert step_at(tallies(0, 1), date(2030, 1, 1)) is None
    assert largest_step([each for each in tallies(0, 1) if each.month == "2024-01"]) is None


def test_months_are_in_order_and_counted() -> None:
    months = by_month(tallies(0, 1))
    assert list(months) == sorted(months)
    assert sum(estimate.problems for estimate in months.values()) == 160


def test_search_finds_a_fall() -> None:
    found = largest_step(tallies(3.0, 7))
    assert found is not None
    assert found.p_value == 1 / 2000
    assert "2024-05" <= found.step.since <= "2024-09"
    assert found.step.effect < -0.2
    assert found.step.low is None


def test_search_keeps_its_promise_where_nothing_falls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of independent problems, p < 0.1 comes up in about a tenth of searches, not in most."""
    monkeypatch.setattr("proctor.reports.contamination.PERMUTATIONS", 99)
    chance = random.Random(9)
    small = 0
    for _ in range(120):
        made = [
            Tally(str(i), str(i), "p", "easy", date(2024, 1 + i % 12, 1), 1,
                  chance.random() < 0.5, 0, 0)
            for i in range(120)
        ]  # fmt: skip
        found = largest_step(made)
        assert found is not None
        small += found.p_value <= 0.1
    assert 3 <= small <= 22
