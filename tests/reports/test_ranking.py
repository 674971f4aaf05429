"""Ranks of runs: order, ranges, pairs."""

from dataclasses import replace
from pathlib import Path

import pytest
from browser import dom

from made_runs import make_run
from proctor.reports.figures import RunFigures, figures_of_runs
from proctor.reports.html.page import render
from proctor.reports.ranking import rank
from proctor.reports.run_comparison import compare, holm
from proctor.reports.tallies import Mode

NASTY = "<b>&amp;\x1b</b>"


def made(**skills: float) -> list[RunFigures]:
    runs = [make_run(name, contests=30, samples=2, skill=skill) for name, skill in skills.items()]
    return figures_of_runs(runs, Mode.OFFICIAL)


def test_order_and_ranges() -> None:
    """A run far above the others has one rank; two that are alike share theirs."""
    found = rank(made(low=-3.0, high=3.0, middle=0.0, again=0.0))
    names = [each.figures.run.name for each in found.runs]
    assert (names[0], names[3]) == ("high", "low")
    assert set(names[1:3]) == {"middle", "again"}
    assert [(each.best, each.worst) for each in found.runs] == [(1, 1), (2, 3), (2, 3), (4, 4)]
    rates = [each.estimate.value for each in found.runs if each.estimate is not None]
    assert rates == sorted(rates, reverse=True)


def test_pairs_are_those_of_compare_adjusted_for_their_number() -> None:
    found = rank(made(a=0.0, b=0.3, c=0.6))
    assert set(found.pairs) == {(0, 1), (0, 2), (1, 2)}
    runs = [each.figures for each in found.runs]
    plain = []
    for (high, low), pair in found.pairs.items():
        assert pair is not None
        assert pair.comparison == compare(runs[high].tallies, runs[low].tallies)
        plain.append(pair.comparison.p_value or 0.0)
    assert [pair.p_value for pair in found.pairs.values() if pair] == holm(plain)


def test_runs_without_a_common_problem() -> None:
    """Nothing is said of such a pair, and a run that shares none may have any rank."""
    first, second = (
        make_run(name, contests=20, samples=1, skill=3.0 * (name == "a")) for name in "ab"
    )
    records = [
        replace(record, problem_id=f"other-{record.problem_id}") for record in second.records
    ]
    other = replace(second, name="c", records=tuple(records))
    found = rank(figures_of_runs([first, second, other], Mode.OFFICIAL))
    at = {each.figures.run.name: place for place, each in enumerate(found.runs)}
    compared = {tuple(sorted(places)): pair for places, pair in found.pairs.items()}
    for name in "ab":
        a, b = sorted((at[name], at["c"]))
        assert compared[a, b] is None
    assert (found.runs[at["c"]].best, found.runs[at["c"]].worst) == (1, 3)


def test_unlike_settings_are_named() -> None:
    a, b = (
        replace(make_run(name, contests=10, samples=1), provenance={"prompt": name, "dataset": "d"})
        for name in "ab"
    )
    (pair,) = rank(figures_of_runs([a, b], Mode.OFFICIAL)).pairs.values()
    assert pair is not None
    assert pair.unlike == ("prompt",)
    assert not pair.differ


@pytest.mark.browser
@pytest.mark.parametrize("runs", [2, 9])
def test_the_page_in_a_browser(tmp_path: Path, runs: int) -> None:
    found = made(**{f"{NASTY} {number}": number / 2 for number in range(runs)})
    page = tmp_path / "page.html"
    page.write_text("".join(render(found, ranking=rank(found))))
    html, console = dom(page.as_uri())
    assert console == []
    section = html.split('id="ranking"')[1].split("</section>")[0]
    assert section.count("&lt;b&gt;&amp;amp;") == runs + 2 * (runs - 1)
    assert "\x1b" not in section
