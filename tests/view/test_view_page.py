"""The page of `proctor view` in a real Chromium: used by mouse and keys, and with hostile texts."""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from viewed import JUDGES, PROBLEM, Viewed, content, made_up, viewing

from chromium import Tab, chromium
from proctor.evals.store import RunStore
from proctor.evals.stored import Change, Generation, ProblemInfo, Prompt, SampleJudgement, Turn

pytestmark = pytest.mark.browser

MARKUP = (
    "<script>window.hacked = 1; console.error('hacked')</script>"
    "</script></pre></style><img src=x onerror=\"window.hacked = 1\"><svg onload='hacked = 1'>"
    "<iframe src='javascript:parent.hacked = 1'></iframe>"
    "[a](javascript:window.hacked=1) javascript:window.hacked=1 {{7*7}} ${7*7} &lt;b&gt; <!--"
)
CONTROLS = "\x00\x07\x08\x1b[31mred\x1b[0m\x7f\x9b \u202egnp.exe\u202c \u2028line\u2029 \u200b\ufeff \ud800 \r\n"
WIDE = "W" * 3000
HOSTILE = MARKUP + CONTROLS + WIDE
NAME = "<img src=x onerror=hacked=1>'\"&amp; #run=x&with=y"
LONG = 5_000_000
SIZES = [(width, dark) for width in (400, 800, 1400) for dark in (False, True)]


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    with chromium() as found:
        yield found


@pytest.fixture
def page(tab: Tab) -> Iterator[Tab]:
    """A page that says nothing until the end of the test, and runs nothing foreign."""
    tab.said.clear()
    tab.size(1400)
    yield tab
    assert tab.said == []
    assert tab.run("window.hacked") is None
    assert (
        tab.run("document.querySelectorAll('main :is(script, img, iframe, svg, style)').length")
        == 0
    )
    links = tab.run("[...document.querySelectorAll('a')].map((each) => each.getAttribute('href'))")
    assert all(each.startswith(("#", "api/text?")) for each in links)


@pytest.fixture(scope="module")
def served(tab: Tab, evaluated: Path) -> Iterator[Viewed]:
    with viewing(evaluated) as found:
        enter(tab, found)
        yield found


def enter(tab: Tab, served: Viewed) -> None:
    """Begin as the person does; all further addresses go without the token."""
    tab.open(served.begin, "document.querySelector('#runs')")
    assert tab.run("location.href") == f"{served.url}/"


@pytest.fixture(scope="module")
def hostile(tab: Tab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewed]:
    place = tmp_path_factory.mktemp("hostile") / "runs"
    tests = [{"verdict": "WA", "message": HOSTILE.replace("\ud800", "")}] * 3
    message = HOSTILE.replace("\ud800", "")
    upstream = {"results": [-2], "error_code": -2, "error_message": message,
                "metadata": {"inputs": message, "expected": message, "output": MARKUP}}  # fmt: skip
    messages = [{"role": MARKUP, "content": message}, {"role": "user", "content": [{"a": MARKUP}]}]
    changes: list[Change] = [Prompt("h", json.dumps(messages))]
    for number, text in enumerate((HOSTILE, "x" * LONG, (MARKUP + "\n") * (LONG // len(MARKUP)))):
        changes += [
            Generation(NAME, number, "h", text, HOSTILE, HOSTILE, rule=MARKUP, policy=MARKUP,
                       finish_reason=MARKUP, turns=1, stop_reason=CONTROLS),
            Turn(NAME, number, 0, "tool", MARKUP, content=HOSTILE, arguments=HOSTILE,
                 reasoning=HOSTILE),
            *(
                SampleJudgement(NAME, number, mode, JUDGES[mode], "WA", message=HOSTILE,
                                tests=json.dumps(tests), level=MARKUP, upstream=said)
                for mode, said in (("official", json.dumps(upstream)), ("standard", ""))
            ),
        ]  # fmt: skip
    changes.append(Generation(NAME, 3, fault="model-stalled", fault_message=HOSTILE))
    info = ProblemInfo(NAME, message, message, message, message, contest=message)
    for name in (NAME, "second"):
        made_up(place / name, [(info, 4)], changes)
    with RunStore.open(place / "second", write=True) as store:
        key = JUDGES["standard"]
        store.write(SampleJudgement(NAME, n, "standard", key, "AC") for n in range(3))
    with viewing(place) as found:
        enter(tab, found)
        yield found


PLACES = {
    "runs": ("", "document.querySelectorAll('#runs a.row').length === 2"),
    "samples": ({"run": NAME}, "document.querySelectorAll('#samples a.row').length === 4"),
    "sample": ({"run": NAME, "problem": NAME, "sample": 0, "rules": "official"},
               "document.querySelector('#judgement > p:not([hidden]) > .warn')"),
    "long": ({"run": NAME, "problem": NAME, "sample": 1}, "document.querySelector('.one-test')"),
    "markup": ({"run": NAME, "problem": NAME, "sample": 2}, "document.querySelector('.one-test')"),
    "fault": ({"run": NAME, "problem": NAME, "sample": 3}, "document.querySelector('.columns .warn')"),
    "compared": ({"run": NAME, "with": "second", "problem": NAME, "sample": 0},
                 "document.querySelectorAll('.sides pre').length === 2"),
}  # fmt: skip


@pytest.mark.parametrize("name", PLACES)
def test_hostile_texts_do_nothing_and_fit(page: Tab, hostile: Viewed, name: str) -> None:
    state, condition = PLACES[name]
    for width, dark in SIZES:
        page.size(width, dark=dark)
        page.open(f"{hostile.url}/#{urlencode(state) if state else ''}", condition)
        page.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        assert page.run("document.documentElement.scrollWidth") <= width
        assert page.run(
            "[...document.querySelectorAll('main pre')].every((each) => each.getBoundingClientRect().right <= innerWidth)"
        )
        paper = page.run("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, paper.strip("rgb()").split(","))) < 200) is dark
    shown = page.run("document.body.innerText")
    assert "\u202e" not in shown
    assert "\x1b" not in shown
    assert len(shown) < 800_000  # of 5 MB only the beginning


def test_the_whole_of_a_long_text_is_a_text(page: Tab, hostile: Viewed) -> None:
    key = {"run": NAME, "problem": NAME, "sample": 2}
    page.open(f"{hostile.url}/#{urlencode(key)}", "document.querySelector('figure a')")
    address = page.run(
        "[...document.querySelectorAll('figure a')].find((each) => each.href.includes('part=reply')).href"
    )
    page.open(address, "document.readyState === 'complete'")
    assert page.run("document.contentType") == "text/plain"
    assert page.run("document.body.textContent.length") > 4_900_000
    page.open(f"{hostile.url}/", "document.querySelector('a.row')")


def test_a_way_through_by_keys_and_back(page: Tab, served: Viewed) -> None:
    page.open(served.url, "document.querySelector('a.row')")
    for key in "jkj":
        page.press(key)
    assert page.run("document.activeElement.textContent") == "second"
    page.press("k")
    page.run("document.activeElement.click()")
    page.wait("document.querySelectorAll('#samples a.row').length === 12")
    page.run("""{
      const choice = document.querySelector('select[name=verdict]');
      choice.value = 'WA';
      choice.dispatchEvent(new Event('change'));
    }""")
    page.wait("document.querySelectorAll('#samples a.row').length === 4")
    assert page.run("location.hash") == "#run=first&verdict=WA"
    page.press("j")
    page.wait("document.activeElement.matches('a.row')")
    page.run("document.activeElement.click()")
    page.wait("document.getElementById('position')?.textContent === '1 of 4'")
    page.press("j")
    page.wait("document.getElementById('position')?.textContent === '2 of 4'")
    page.press("ArrowLeft")
    page.wait("document.getElementById('position')?.textContent === '1 of 4'")
    page.press("u")
    page.wait("document.querySelectorAll('#samples a.row').length === 4")
    page.run("history.back()")
    page.wait("document.getElementById('position')?.textContent === '1 of 4'")
    page.press("?")
    assert page.run("document.getElementById('keys').open")


def test_a_verdict_is_made_again(page: Tab, served: Viewed, evaluated: Path) -> None:
    before = content(evaluated / "first")
    state = f"#run=first&problem={quote(PROBLEM)}&sample=1"
    page.open(f"{served.url}/{state}", "document.querySelector('.one-test pre')")
    page.run("document.getElementById('again').click()")
    page.wait("document.getElementById('said')")
    assert "same verdict: WA" in page.run("document.getElementById('said').innerText")
    texts = page.run(
        "[...document.querySelectorAll('.one-test[open] figure')].map((each) => each.innerText)"
    )
    assert [text.split()[-1] for text in texts] == ["6", "333333333333", "375000000000"]
    assert page.run("document.querySelectorAll('.one-test[open] .differs').length") == 2
    assert content(evaluated / "first") == before


def test_programs_side_by_side(page: Tab, served: Viewed) -> None:
    page.open(f"{served.url}/#run=first&with=second&kind=gained", "document.querySelector('a.row')")
    page.run("document.querySelector('a.row').click()")
    page.wait("document.querySelectorAll('.sides pre').length === 2")
    assert page.run("document.querySelectorAll('.sides .differs').length") > 0
    assert (
        page.run("document.getElementById('found').textContent")
        == "8 of 12 common samples differ by standard rules"
    )


def test_a_run_that_goes_on_is_followed(page: Tab, tmp_path: Path) -> None:
    run = tmp_path / "runs/live"
    made_up(run, [(ProblemInfo("p"), 3)], [])
    with viewing(run.parent) as served, RunStore.open(run, write=True) as store:
        enter(page, served)
        page.open(f"{served.url}/#run=live", "document.querySelector('.state-running')")
        for done in (1, 2):
            key = ("p", done)
            store.write(
                [
                    Generation(*key, text="t"),
                    SampleJudgement(*key, "standard", JUDGES["standard"], "AC"),
                ]
            )
            page.wait(f"document.querySelectorAll('#samples a.row').length === {done}")
        page.open(served.url, "document.querySelector('.state-running')")
        store.write([Generation("p", 0, fault="model-stalled", fault_message="late")])
        page.wait("document.querySelector('#runs tbody tr').innerText.includes('3 of 3')")


def test_what_is_not_there_is_said(page: Tab, served: Viewed) -> None:
    page.open(
        f"{served.url}/#run=none",
        "document.getElementById('status').textContent.includes(\"there is no run 'none'\")",
    )
    page.open(
        f"{served.url}/#run=first&sort=nonsense",
        "document.getElementById('status').textContent.includes('not one of')",
    )
