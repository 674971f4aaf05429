"""The docs' page of figures and its chart say what the stored results say."""

import figures
import history
import history_chart


def test_the_page_and_the_chart_are_of_the_stored_results() -> None:
    """`python benchmarks/figures.py` writes them anew."""
    documents = list(history.stored())
    assert figures.PAGE.read_text("utf-8") == figures.page(documents)
    assert figures.CHART.read_text("utf-8") == history_chart.chart(documents)


def test_the_newest_results_have_every_ratio_of_the_chart() -> None:
    newest = list(history.stored())[-1]
    assert newest["ratios"] == history.ratios(newest)
    assert newest["ratios"].keys() == history.RATIOS.keys()


def test_how_fast_the_machine_was_is_said_where_it_is_known() -> None:
    machine = {"speed": "59.0,31.0", "before": {"speed": "29.5,31.0"}}
    said = "The same Python took 1.5 times, the same C++ 1.0 times, the CPU time of the reference"
    assert history.speed({"machine": machine}).startswith(said)
    assert history.speed({"machine": {"model": "unknown"}}) == ""
