"""Ranks of runs: order, ranges, pairs."""

import re
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest
from browser import dom, measured

from made_runs import make_run, with_details
from proctor.reports.contamination import step_difference
from proctor.reports.figures import RunFigures, figures_of_runs
from proctor.reports.html.page import render
from proctor.reports.html.site import INDEX, page_names, site
from proctor.reports.ranking import rank
from proctor.reports.run_comparison import compare, holm
from proctor.reports.tallies import Mode

CUTOFF = date(2024, 6, 30)
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


def test_cutoff_effects_are_compared_with_p_adjusted() -> None:
    runs = [make_run(f"r{n}", contests=40, samples=2, fall=n, seed=n + 1) for n in range(3)]
    cutoffs = {"r0": CUTOFF, "r1": CUTOFF, "r2": CUTOFF}
    found = rank(figures_of_runs(runs, Mode.OFFICIAL, cutoffs))
    assert set(found.steps) == {(0, 1), (0, 2), (1, 2)}
    since = CUTOFF + timedelta(days=1)
    plain = []
    for (high, low), each in found.steps.items():
        a, b = (found.runs[place].figures for place in (high, low))
        assert each.difference == step_difference(a.tallies, since, b.tallies, since)
        assert a.step is not None
        assert b.step is not None
        assert each.difference.effect == pytest.approx(b.step.effect - a.step.effect)
        plain.append(each.difference.p_value or 1.0)
    assert [each.p_value for each in found.steps.values()] == holm(plain)
    del cutoffs["r1"]
    assert len(rank(figures_of_runs(runs, Mode.OFFICIAL, cutoffs)).steps) == 1


def test_pages_have_plain_names_of_their_own() -> None:
    found = page_names(["A b", "a/b", "../../etc", "index", "", "é", "x" * 300, "x" * 301])
    assert len({name.lower() for name in found.values()}) == len(found)
    assert all(re.fullmatch(r"run-[a-z0-9][a-z0-9._-]*[.]html", each) for each in found.values())
    assert max(map(len, found.values())) < 80


@pytest.mark.browser
def test_a_site_in_a_browser(tmp_path: Path) -> None:
    names = [f"{NASTY} {number}" for number in range(3)]
    runs = [
        with_details(make_run(name, contests=30, samples=2, skill=n, fall=n, seed=n + 1))
        for n, name in enumerate(names)
    ]
    ranking = rank(figures_of_runs(runs, Mode.OFFICIAL, dict.fromkeys(names, CUTOFF)))
    written = []
    for file, pieces in site(ranking, (), "Models"):
        (tmp_path / file).write_text("".join(pieces))
        written.append(file)
    assert written[-1] == INDEX, "what is linked is there before"
    look = """return {
      text: view.document.body.innerText, page: view.document.documentElement.scrollWidth,
      links: [...view.document.querySelectorAll('a:not([href^="#"])')].map((a) => a.getAttribute("href")),
      dead: [...view.document.querySelectorAll('a[href^="#"]')].filter((a) =>
        !a.hash.includes("=") && !view.document.getElementById(a.hash.slice(1))).length,
      rows: view.document.querySelectorAll("#rows tr").length };"""
    for width in (400, 1400):
        found, console = measured((tmp_path / INDEX).as_uri(), width, look)
        assert (console, found["rows"], found["dead"]) == ([], 0, 0)
        assert found["links"] == written[:-1], "in the order of the ranking"
        assert found["page"] == width
        assert all(f"<b>&amp;\ufffd</b> {number}" in found["text"] for number in range(3))
        assert "After the cutoff, each pair" in found["text"]
    for file in written[:-1]:
        found, console = measured((tmp_path / file).as_uri(), 1400, look)
        assert (console, found["rows"], found["dead"]) == ([], 50, 0)
        assert found["links"] == [INDEX]
    whole = "".join((tmp_path / file).read_text() for file in written)
    assert re.findall(r"<(?:link|img|iframe|script src|object|base)\b|https?://", whole) == []
    assert (tmp_path / INDEX).read_text().count("for line in sys.stdin") == 0


@pytest.mark.browser
@pytest.mark.parametrize("runs", [2, 9])
def test_the_page_in_a_browser(tmp_path: Path, runs: int) -> None:
    found = made(**{f"{NASTY} {number}": number / 2 for number in range(runs)})
    page = tmp_path / "page.html"
    page.write_text("".join(render(found, ranking=rank(found))))
    html, console = dom(page.as_uri())
    assert console == []
    section = html.split('id="ranking"')[1].split("</section>")[0]
    # Once in the ranking and once in the months, twice in the pairs.
    assert section.count("&lt;b&gt;&amp;amp;") == 2 * runs + 2 * (runs - 1)
    assert "\x1b" not in section
