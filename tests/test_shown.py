"""Results at a prompt: one line that says the verdict first; in a notebook: HTML that is harmless."""

import html
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest

import proctor
from proctor import (
    Budgets,
    Execution,
    Guarantee,
    Isolation,
    Judged,
    Judgement,
    JudgeSettings,
    LimitHit,
    Limits,
    Message,
    Outcome,
    Pool,
    Problem,
    Program,
    SolveEnvelope,
    Strength,
    Test,
    TestResult,
    Verdict,
)
from proctor.evals.models.model import ModelReply
from proctor.evals.opened import open_run
from proctor.judgement import SubtaskResult, UpstreamReport
from proctor.problem import Subtask
from proctor.reports.records import RunRecords, SampleRecord, write_run
from proctor.sandbox.notebook import CellError, CellResult
from proctor.shown import WIDTH
from proctor.solver.envelope import Incumbent
from proctor.solver.instances import InstanceResult, ProgramScore
from proctor.solver.report import Violation, report

HOSTILE = "<script>alert('x')</script>\n\ud800&amp;" + "long " * 10_000
LEVEL = Isolation("namespaces", {"network": Guarantee(Strength.PARTIAL, "how", "a gap")})
RUN = Execution(None, 9, HOSTILE.encode("utf-8", "surrogatepass"), b"<script>", 1.5, 2.0, 5 << 20,
                0.0, LimitHit.MEMORY, LEVEL)  # fmt: skip
TESTS = tuple(
    TestResult(Verdict.WA, 0.25, 0.3, 3 << 20, HOSTILE, name=f"<b>{number}")
    for number in range(500)
)
WRONG = Judgement(Verdict.WA, 0.25, TESTS, HOSTILE, LEVEL, compiler_output=HOSTILE)
BROKEN = report([Violation("<i>c1", "<b>", "hard", HOSTILE)] * 200)
ENVELOPE = SolveEnvelope(
    "j", "packing", "run", "crashed", ok=False, error_digest=HOSTILE[:26], validation=BROKEN,
    isolation="<u>", result_data={"a": HOSTILE},
)  # fmt: skip
SCORES = ProgramScore(
    0.5, 1, None, tuple(InstanceResult(f"<b>{n}", 1, 0.5, why=HOSTILE) for n in range(300))
)
PROBLEM = Problem(
    "sum" * 100, [Test(HOSTILE, HOSTILE)] * 1000, statement=HOSTILE, limits=Limits(cpu=2.0)
)


@pytest.mark.parametrize(
    ("value", "begins"),
    [
        (WRONG, "<Judgement WA, score 0.25, tests: 500 WA, "),
        (Judgement(Verdict.AC, 1.0, (TestResult(Verdict.AC),)), "<Judgement AC, score 1, tests: 1 AC>"),
        (Judgement(Verdict.INFRA_FAULT, 0.0, (), "x"), "<Judgement INFRA_FAULT, tests: none run, 'x'>"),
        (Judgement(Verdict.PA, 0.5, (), points=50.0, of=100.0), "<Judgement PA, 50 of 100 points,"),
        (TESTS[0], "<TestResult WA, test '<b>0', CPU 0.250 s, 3.0 MiB, "),
        (TestResult(Verdict.PA, score=0.5), "<TestResult PA, score 0.5, CPU 0.000 s, 0.0 MiB>"),
        (SubtaskResult("a", Verdict.AC, 1.0, 30.0, 30.0, ("1",)), "<SubtaskResult AC, 30 points of 30,"),
        (UpstreamReport((True, -2), -2, "Wrong", {}), "<UpstreamReport 1 of 2 results True, code -2"),
        (Judged(3, WRONG), "<Judged 3: Judgement WA, score 0.25"),
        (RUN, "<Execution memory limit hit, CPU 1.500 s, 5.0 MiB, stdout b"),
        (replace(RUN, limit=None, stdout=b""), "<Execution signal 9, CPU 1.500 s, 5.0 MiB, stdout b''"),
        (replace(RUN, limit=None, signal=None, exit_code=0), "<Execution exit code 0, "),
        (LEVEL, "<Isolation namespaces, partial: network>"),
        (LEVEL.guarantees["network"], "<Guarantee partial, how; gap: a gap>"),
        (PROBLEM, "<Problem 'sumsum"),
        (Problem("sum", [], limits=Limits(cpu=2)), "<Problem 'sum', 0 tests, limits <Limits cpu 2 s>>"),
        (Problem("f", [Test("1", "2")], function="f"), "<Problem 'f', 1 test, function 'f'>"),
        (PROBLEM.tests[0], "<Test input \"<script>"),
        (Test(Path("1.in")), "<Test input of '1.in', no output>"),
        (Subtask("a", 30, ["1"]), "<Subtask 'a', 30 points, 1 test, min>"),
        (Program("x = 1\n" * 9999), "<Program python, source 'x = 1\\nx = 1\\n"),
        (Program("", "cpp", files={"a": b""}), "<Program cpp, source '', with 1 file>"),
        (Limits(), "<Limits as usual>"),
        (Limits(cpu=2.5, wall=3, memory=1 << 28), "<Limits cpu 2.5 s, wall 3 s, memory 256M>"),
        (JudgeSettings("official"), "<JudgeSettings official>"),
        (JudgeSettings(fast=True, tolerance=1e-6), "<JudgeSettings standard, fast, tolerance 1e-06>"),
        (ENVELOPE, "<SolveEnvelope not accepted, crashed, 0.000 s, "),
        (Incumbent(1.5, 7.0, None, "a.json"), "<Incumbent objective 7, after 1.500 s>"),
        (BROKEN, "<ValidationReport not ok, 200 hard violations, 0 soft violations>"),
        (SCORES, "<ProgramScore score 0.5, 1 of 300 accepted>"),
        (SCORES.instances[0], "<InstanceResult score 0.5, '<b>0', "),
        (Message("user", HOSTILE), "<Message user, "),
        (ModelReply(HOSTILE, finish_reason="stop"), "<ModelReply stop, "),
        (Outcome("a", 1, passed=True), "<Outcome passed, result '1'>"),
        (Outcome("a", None, passed=False, fault=HOSTILE), "<Outcome fault, "),
        (CellResult(b"", b"", HOSTILE, None, (), None, None, True, 0.1), "<CellResult ok, result "),
        (
            CellResult(b"", b"", None, CellError("ValueError", "no", ()), (), None, None, True, 0.1),
            "<CellResult failed, CellError ValueError: 'no', CPU 0.100 s>",
        ),
        (RunRecords("r", []), "<RunRecords 'r', 0 records>"),
        (Budgets(), "Budgets("),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)  # fmt: skip
def test_a_line_says_the_verdict_first(value: object, begins: str) -> None:
    line = repr(value)
    assert line.startswith(begins), line
    assert len(line) <= WIDTH
    assert "\n" not in line


def test_what_is_open_says_so(pool: Pool) -> None:
    with proctor.open_pool(cells=2) as own:
        assert repr(own) == f"<Pool open, 2 cells, isolation {own.level}>"
    assert repr(own).startswith("<Pool closed")
    with proctor.open_session(pool=pool) as session:
        assert repr(session).startswith(f"<Session open, isolation {pool.level}, <Limits disk 64M>")
        running = session.start("import signal; signal.pause()")
        assert repr(running) == "<Background running>"
        running.kill()
        assert repr(running) == "<Background ended>"
    assert repr(session).startswith("<Session over: the session was closed")


def test_settings_that_differ_look_different() -> None:
    """Names of shared actors are made of what they look like."""
    made = [
        Limits(), Limits(cpu=1.0), Limits(cpu=1.0000001), Limits(memory=1 << 28),
        Limits(memory=(1 << 28) + 1), Limits(disk=1), Limits(loopback=True), Limits(wall=5.0),
    ]  # fmt: skip
    settings = [JudgeSettings(limits=each) for each in made if not each.disk and not each.loopback]
    settings += [JudgeSettings(stop="first"), JudgeSettings(tolerance=1e-7)]
    for several in (made, settings):
        assert len({repr(each) for each in several}) == len(several)


class _Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: dict[str, int] = {}
        self.attributes: set[str] = set()
        self.text: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found[tag] = self.found.get(tag, 0) + 1
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.mark.parametrize("value", [WRONG, Judged(0, WRONG), RUN, ENVELOPE, SCORES],
                         ids=lambda value: type(value).__name__)  # fmt: skip
def test_html_is_harmless_and_bounded(value: Any) -> None:
    page = value._repr_html_()
    tags = _Tags(page)
    assert set(tags.found) <= {"div", "table", "tr", "th", "td", "b", "pre"}
    assert tags.attributes <= {"style"}
    assert tags.found["div"] >= 1
    assert tags.found.get("tr", 0) <= 51
    assert "<script" not in page
    assert html.escape("<script>") in page
    assert len(page) < 100_000
    page.encode()  # as a notebook stores it: no lone surrogates
    assert "url(" not in page
    assert "http" not in page


def test_a_table_says_of_each_test_what_became_of_it() -> None:
    judged = Judgement.of_tests(
        [TestResult(Verdict.AC, 0.02, memory=3 << 20), TestResult(Verdict.WA, message="no")], 2, LEVEL
    )  # fmt: skip
    text = " ".join(_Tags(judged._repr_html_()).text).replace("\xa0", " ")
    assert "0 AC 0.020 s 3.0 MiB" in text
    assert "1 WA 0.000 s 0.0 MiB no" in text
    assert "and 450 more tests" in " ".join(_Tags(WRONG._repr_html_()).text)


def test_a_run_on_disk_is_opened_counted_and_shown(tmp_path: Path) -> None:
    records = [
        SampleRecord("a", n, standard=Verdict.AC if n else Verdict.WA, title=HOSTILE[:20])
        for n in range(5)
    ]
    write_run(tmp_path / "r.jsonl", RunRecords("r", records, {"benchmark": "<script>"}))
    with open_run(tmp_path / "r.jsonl") as opened:
        assert repr(opened) == "<EvalRun 'r', benchmark '<script>', 5 samples>"
        assert opened.modes == ("standard",)
        assert opened.summary().overall.pass_at_k == {1: 0.8, 5: 1.0, 10: None}
        assert list(opened.records) == records
        tags = _Tags(opened._repr_html_())
        assert set(tags.found) <= {"div", "table", "tr", "th", "td", "b"}
        assert "80.0%" in tags.text
    with pytest.raises(proctor.InputError, match="cannot be read"):
        open_run(tmp_path / "nothing.jsonl")
    with pytest.raises(proctor.InputError, match="holds no run"):
        open_run(tmp_path)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: proctor.judge(PROBLEM_ADD, "print(sum(map(int, input().split())))").verdict,
        lambda: [each.judgement.verdict for each in proctor.judge_many([(PROBLEM_ADD, "1")])],
        lambda: proctor.run("print(1)").stdout,
        lambda: proctor.run(Program("print(1)", name="a.py")).stdout,
    ],
)  # fmt: skip
def test_blocking_calls_work_where_a_loop_runs_as_in_a_notebook(ask: Callable[[], Any]) -> None:
    import asyncio

    async def in_a_loop() -> Any:
        return ask()

    assert asyncio.run(in_a_loop()) == ask()


PROBLEM_ADD = Problem("add", [Test("3 4", "7")])


def test_an_envelope_is_written_as_before() -> None:
    """What is shown is not in JSON."""
    assert "objective" not in msgspec.to_builtins(ENVELOPE)
