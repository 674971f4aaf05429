"""The report in real Chromium, and what in it must hold without one."""

import re
import struct
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser
from pathlib import Path

import pytest
from browser import DARK, dom, measured, picture

from made_runs import make_run, with_details
from proctor.reports.errata import ErrataList, Erratum
from proctor.reports.figures import figures
from proctor.reports.html.page import render
from proctor.reports.published import PublishedScore
from proctor.reports.records import RunRecords, SampleDetail
from proctor.reports.tallies import Mode, tally
from proctor.reports.uncertainty import mean_interval
from proctor.verdict import Verdict

NASTY = '</script><img src=x onerror="console.error(1)">&amp;<!--'


def page_of(*runs: RunRecords, cutoff: date | None = date(2024, 6, 30)) -> str:
    published = [PublishedScore(NASTY, 0.437, "https://example.org", date(2025, 4, 1))]
    return "".join(render([figures(run, Mode.OFFICIAL, cutoff) for run in runs], published))


class Seen(HTMLParser):
    """Elements of a DOM, and the text of those with an id."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.rows: list[str] = []
        self.hidden: list[str] = []
        self.texts: dict[str, str] = {}
        self._open: list[tuple[str, str]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name = given.get("id") or ""
        self.tags.append(tag)
        if "hidden" in given:
            self.hidden.append(name)
        if tag not in {"meta", "link", "img", "input", "br"}:
            self._open.append((tag, name))
        if tag == "tr" and ("tbody", "rows") in self._open:
            self.rows.append("")

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        for tag, name in self._open:
            if name:
                self.texts[name] = self.texts.get(name, "") + data
            if tag == "tr" and self.rows and ("tbody", "rows") in self._open:
                self.rows[-1] += data + " "


@pytest.fixture(scope="module")
def ten_thousand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs, 10,000 samples; one problem has a name to do harm with."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    first = make_run("small", contests=125, samples=10, fall=1, faults=0.02)
    harmful = replace(first.records[0], problem_id=NASTY)
    first = replace(first, records=(harmful, *first.records[1:]))
    path.write_text(page_of(first, make_run(NASTY, contests=125, samples=10, skill=0.5)))
    return path


@pytest.mark.browser
def test_ten_thousand_samples_open_at_once(ten_thousand: Path) -> None:
    html, console = dom(ten_thousand.as_uri())
    seen = Seen(html)
    assert console == []
    assert len(seen.rows) == 50
    assert seen.texts["found"] == "10000 of 10000"
    assert seen.texts["page"] == "Page 1 of 200"
    assert seen.hidden == []
    assert "img" not in seen.tags
    assert seen.texts["from-month"] == "2023-07"
    assert seen.texts["to-month"] == "2024-12"
    assert NASTY in seen.texts["window-rows"]


@pytest.mark.browser
@pytest.mark.parametrize(
    ("hash_", "check"),
    [
        ("q=atc078_b&sort=sample", lambda row: "atc078_b" in row),
        ("q=onerror+small", lambda row: NASTY in row),
        ("verdict=TLE&difficulty=hard", lambda row: "TLE" in row and "hard" in row),
        ("q=NOT+answer+did", lambda row: "the model's server did not answer" in row),
    ],
)
def test_search_through_the_address(
    ten_thousand: Path, hash_: str, check: Callable[[str], bool]
) -> None:
    html, console = dom(f"{ten_thousand.as_uri()}#{hash_}")
    seen = Seen(html)
    assert console == []
    assert 1 <= len(seen.rows) <= 50
    assert all(check(row) for row in seen.rows)
    found, _, total = seen.texts["found"].partition(" of ")
    assert int(found) < int(total) == 10_000


@pytest.mark.browser
def test_sorting_and_paging_through_the_address(ten_thousand: Path) -> None:
    seen = Seen(dom(f"{ten_thousand.as_uri()}#sort=-tokens&page=3&verdict=AC")[0])
    tokens = [int(re.findall(r"(\d+) +\$", row)[0]) for row in seen.rows]
    assert tokens == sorted(tokens, reverse=True)
    assert seen.texts["page"].startswith("Page 3 of")


@pytest.mark.browser
def test_a_sample_opens(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    run = with_details(make_run(contests=3, samples=2))
    failed = next(i for i, r in enumerate(run.records) if r.official is not Verdict.AC)
    path.write_text(page_of(run))
    html, console = dom(f"{path.as_uri()}#open={failed}")
    seen = Seen(html)
    assert console == []
    assert len(seen.rows) == 24 + 1
    opened = seen.rows[failed + 1]
    for text in ("line 2 differs", "for line in sys.stdin", "expected", "printed"):
        assert text in opened
    # Line 2 of what was expected, lines 2 and 3 of what was printed.
    assert html.count('class="differs"') == 3
    assert html.count('aria-expanded="true"') == 1


@pytest.mark.browser
def test_unsure_verdicts_and_errata_lead_to_their_samples(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    run = make_run(contests=3, samples=2)
    first, second, *rest = run.records
    same = (
        replace(first, program="p", official=Verdict.AC, title="An old title"),
        replace(second, program="p", official=Verdict.TLE, title="An old title"),
    )
    run = replace(run, records=(*same, *rest))
    errata = [ErrataList("n", (Erratum("An old title", "a reason", "a source", "interactive"),))]
    path.write_text("".join(render([figures(run, Mode.OFFICIAL, None, errata)])))
    html, console = dom(path.as_uri())
    assert console == []
    text = Seen(html).texts["flaky"]
    assert "1 problem with a program that got more than one verdict, 1 of them a pass" in text
    assert first.problem_id in text
    assert "0, 1" in text
    for link in (f"#q={first.problem_id}", "#q=An%20old%20title"):
        assert f'<a href="{link}">' in html
        found = Seen(dom(path.as_uri() + link)[0])
        assert len(found.rows) == 2
        assert all(first.problem_id in row for row in found.rows)


@pytest.mark.browser
def test_programs_beyond_what_a_browser_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table stays whole; of each problem the first samples keep their programs."""
    monkeypatch.setattr("proctor.reports.html.samples.MOST_DETAILED", 30)
    path = tmp_path / "report.html"
    path.write_text(page_of(with_details(make_run(contests=3, samples=5))))
    html, console = dom(f"{path.as_uri()}#open=6")
    seen = Seen(html)
    assert console == []
    assert seen.texts["found"] == "60 of 60"
    assert "of the first 2 samples of each problem" in seen.texts["samples"]
    assert "for line in sys.stdin" in seen.rows[7]
    assert "Not in this page" in Seen(dom(f"{path.as_uri()}#open=7")[0]).rows[8]


@pytest.mark.browser
def test_a_reply_without_a_program_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    run = make_run(contests=1, samples=1)
    first = run.records[0]
    detail = SampleDetail(reply="I would rather not.</script>")
    path.write_text(page_of(replace(run, details={(first.problem_id, first.sample): detail})))
    seen = Seen(dom(f"{path.as_uri()}#open=0")[0])
    assert "I would rather not.</script>" in seen.rows[1]


@pytest.mark.browser
def test_a_window_of_months(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    run = make_run(contests=36, samples=2)
    path.write_text(page_of(run))
    html, console = dom(f"{path.as_uri()}#from=2024-02&to=2024-05")
    assert console == []
    inside = [t for t in tally(run.records, Mode.OFFICIAL) if "2024-02" <= t.month <= "2024-05"]
    expected = mean_interval(inside)
    assert expected is not None
    assert expected.low is not None
    assert expected.high is not None
    assert Seen(html).texts["window-rows"] == (
        f"made{expected.value:.1%}".replace("%", " %")
        + f"{100 * expected.low:.1f} to {100 * expected.high:.1f} %"
        + f"{expected.problems}{expected.clusters}"
    )


@pytest.mark.browser
def test_nothing_found_is_said(ten_thousand: Path) -> None:
    seen = Seen(dom(f"{ten_thousand.as_uri()}#q=nosuchthing&page=9")[0])
    assert seen.rows == []
    assert seen.texts["found"] == "0 of 10000"
    assert seen.texts["page"] == "Page 1 of 1"


@pytest.mark.browser
@pytest.mark.parametrize(("width", "flags"), [(1100, ()), (500, (DARK,))])
def test_it_can_be_pictured(
    ten_thousand: Path, tmp_path: Path, width: int, flags: tuple[str, ...]
) -> None:
    target = tmp_path / "page.png"
    assert picture(ten_thousand.as_uri(), target, width, 900, *flags) == []
    content = target.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert struct.unpack(">II", content[16:24]) == (width, 900)
    (tmp_path / "blank.html").write_text("<html></html>")
    picture((tmp_path / "blank.html").as_uri(), tmp_path / "blank.png", width, 900, *flags)
    assert len(content) > 5 * (tmp_path / "blank.png").stat().st_size


LOOK = """
const page = view.document;
const box = (element) => element.getBoundingClientRect();
const charts = [...page.querySelectorAll(".chart")];
const table = page.getElementById("table");
return {
  view: view.innerWidth,
  page: page.documentElement.scrollWidth,
  paper: view.getComputedStyle(page.body).backgroundColor,
  ink: view.getComputedStyle(page.body).color,
  charts: charts.map((chart) => ({
    scrolls: chart.scrollWidth > chart.clientWidth + 1,
    hint: view.getComputedStyle(chart, "::before").content,
    outside: [...chart.querySelectorAll("circle, rect, path.published")].filter((point) =>
      box(point).left < box(chart).left - 8 || box(point).right > box(chart).right + 8).length,
    points: chart.querySelectorAll("circle, rect").length,
    letters: Math.min(...[...chart.querySelectorAll("text")].map((text) => box(text).height)),
  })),
  table: box(table).width, rows: page.querySelectorAll("#rows tr").length,
  unseen: [...page.querySelectorAll("#rows td")].filter((cell) =>
    cell.textContent && box(cell).right > view.innerWidth).length,
};
"""


@pytest.mark.browser
@pytest.mark.parametrize("flags", [(), (DARK,)])
@pytest.mark.parametrize("width", [400, 800, 1400])
def test_all_points_are_seen_on_every_screen(
    ten_thousand: Path, width: int, flags: tuple[str, ...]
) -> None:
    found, console = measured(ten_thousand.as_uri(), width, LOOK, *flags)
    assert console == []
    assert (found["view"], found["page"]) == (width, width), "the page itself does not scroll"
    assert len(found["charts"]) == 7
    for chart in found["charts"]:
        assert chart["points"]
        assert chart["outside"] == 0 or (chart["scrolls"] and "scroll" in chart["hint"])
        assert chart["scrolls"] == ("scroll" in chart["hint"])
        assert chart["letters"] > 10
    assert found["rows"] == 50
    assert found["table"] >= width - 41
    if width == 400:
        assert found["unseen"] == 0, "of a sample all is seen"
    brightness = [sum(map(int, re.findall(r"\d+", found[name]))) for name in ("paper", "ink")]
    assert (brightness[0] < brightness[1]) == bool(flags)


@pytest.mark.browser
def test_a_chart_of_many_months_scrolls_and_says_so(tmp_path: Path) -> None:
    run = make_run(contests=60, samples=1)
    spread = [
        replace(each, published=date(2019 + n * 6 // len(run.records), n % 12 + 1, 1))
        for n, each in enumerate(run.records)
    ]
    path = tmp_path / "report.html"
    path.write_text(page_of(replace(run, records=tuple(spread))))
    found, console = measured(path.as_uri(), 400, LOOK)
    assert console == []
    (months,) = [chart for chart in found["charts"] if chart["outside"]]
    assert months["scrolls"]
    assert "scroll sideways" in months["hint"]


@pytest.mark.browser
@pytest.mark.parametrize("width", [400, 1400])
def test_nothing_in_a_reply_is_executed(tmp_path: Path, width: int) -> None:
    """Whatever models, problems and programs say, on the page and in what opens on it."""
    run = make_run(NASTY, contests=2, samples=1)
    records = [
        replace(each, problem_id=f"{NASTY}{n}", title=NASTY, platform=NASTY, difficulty=NASTY,
                fault=NASTY if n == 1 else "", stop_reason=NASTY, turns=1)
        for n, each in enumerate(run.records)
    ]  # fmt: skip
    detail = SampleDetail(code=NASTY, message=NASTY, input=NASTY, expected=NASTY, actual="1")
    said = SampleDetail(reply=NASTY)
    keys = [(each.problem_id, each.sample) for each in records]
    nasty = replace(run, records=records, details=dict.fromkeys(keys, detail) | {keys[1]: said})
    path = tmp_path / "report.html"
    path.write_text(page_of(nasty))
    for opened in (0, 1):
        look = "return [view.document.images.length, view.document.body.innerText];"
        (images, text), console = measured(f"{path.as_uri()}#open={opened}", width, look)
        assert (images, console) == (0, [])
        assert text.count(NASTY) > 20


@pytest.mark.browser
@pytest.mark.parametrize(
    "changes",
    [
        {"published": None, "cluster": "", "platform": "", "difficulty": ""},
        {"cost": None, "completion_tokens": None, "slowest_share": None, "prompt_tokens": None},
    ],
)
def test_a_run_of_bare_records(tmp_path: Path, changes: dict[str, object]) -> None:
    run = make_run(contests=2, samples=1)
    bare = RunRecords("bare", tuple(replace(r, **changes) for r in run.records))  # type: ignore[arg-type]
    path = tmp_path / "bare.html"
    path.write_text(page_of(bare, cutoff=None))
    html, console = dom(path.as_uri())
    assert console == []
    assert Seen(html).texts["found"] == "8 of 8"


def test_the_page_is_self_contained_and_repeatable() -> None:
    run = make_run(contests=20, samples=2)
    page = page_of(run)
    assert page == page_of(run)
    assert re.findall(r"<(?:link|img|iframe|script src|object|base)\b", page) == []
    assert re.findall(r"""(?:src|href)=["'](?!#)""", page) == []
    assert re.findall(r"url\(|@import|\bfetch\b|XMLHttpRequest|innerHTML", page) == []
    assert "default-src &#39;none&#39;; style-src &#39;sha256-" in page
    assert "unsafe" not in page
    assert re.findall(r"<[a-z]+[^>]* (?:style|on[a-z]+)=", page) == []


def test_nothing_turns_the_direction_of_writing() -> None:
    """`\u202e` in a name showed labels backwards, in tables, charts and data."""
    backwards = "\u202eedoc\u2066"
    first = make_run(f"one {backwards}", contests=3, samples=2)
    detail = SampleDetail(code=f"# {backwards}")
    records = [replace(each, problem_id=backwards, platform=backwards) for each in first.records]
    run = replace(first, records=records, details={(backwards, 0): detail})
    page = "".join(render([figures(run, Mode.OFFICIAL)], (), f"Title {backwards}"))
    assert "\ufffdedoc\ufffd" in page
    assert not set("\u202e\u2066") & set(page)


@pytest.mark.browser
def test_the_policy_stops_what_is_not_the_reports_own(tmp_path: Path) -> None:
    """And the console is heard: the other tests could not fail without that."""
    path = tmp_path / "meddled.html"
    own = page_of(make_run(contests=2, samples=1))
    path.write_text(own.replace("<footer>", "<script>document.title = 'x'</script><footer>"))
    html, console = dom(path.as_uri())
    assert len(console) == 1
    assert "Content Security Policy" in console[0]
    assert "<title>Evaluation report</title>" in html


def test_every_chart_says_what_it_is_and_has_a_table() -> None:
    page = page_of(make_run(contests=20, samples=2))
    charts = re.findall(r"<svg [^>]*>", page)
    assert len(charts) == 5
    assert all('role="img"' in chart and "aria-label=" in chart for chart in charts)
    for label in ("pass@k as a table", "Months as a table", "Published scores and their sources"):
        assert f"<summary>{label}</summary>" in page


@pytest.mark.slow
def test_runs_are_compared_and_what_differs_is_said() -> None:
    first = make_run("first", contests=20, samples=2)
    second = make_run("second", contests=20, samples=2, skill=1)
    page = page_of(first, second)
    assert "Against first, problem by problem" in page
    assert "Not made alike" not in page
    changed = {**second.provenance, "judge": "0.2.0"}
    assert "judge differs" in page_of(first, replace(second, provenance=changed))
    assert "prompt not known of both" in page_of(first, replace(second, provenance={}))
    elsewhere = tuple(replace(each, problem_id=f"x{each.problem_id}") for each in second.records)
    assert "no scored problem in common" in page_of(first, replace(second, records=elsewhere))


def test_no_verdict_of_contamination() -> None:
    assert "contaminated" not in page_of(make_run(contests=60, samples=2, fall=4)).lower()
