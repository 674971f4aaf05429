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
