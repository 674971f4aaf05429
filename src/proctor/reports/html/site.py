"""A ranking as a site: a page that orders the runs, and a page for each, all self-contained."""

import re
from collections.abc import Iterator, Sequence

from proctor.reports.html.page import render
from proctor.reports.published import PublishedScore
from proctor.reports.ranking import Ranking

INDEX = "index.html"


def site(
    ranking: Ranking, published: Sequence[PublishedScore] = (), title: str = "Evaluation report"
) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield file names, each with its content in pieces; the index that links them comes last."""
    runs = [each.figures for each in ranking.runs]
    pages = page_names([each.run.name for each in runs])
    for each in runs:
        name = each.run.name
        yield pages[name], render([each], published, f"{title}: {name}", back=INDEX)
    yield INDEX, render(runs, published, title, ranking, pages=pages)


def page_names(runs: Sequence[str]) -> dict[str, str]:
    """Return a plain file name by name of run; no two are equal, even if case is ignored."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for run in runs:
        stem = re.sub(r"[^a-z0-9._]+", "-", run.lower())[:60].strip("-.") or "run"
        name, number = f"run-{stem}.html", 1
        while name in taken:
            number += 1
            name = f"run-{stem}-{number}.html"
        taken.add(name)
        found[run] = name
    return found
