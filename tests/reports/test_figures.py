"""Tallies, faults, errata, variance, expense and files."""

from collections import Counter
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from made_runs import make_run, with_details
from proctor.errors import InputError
from proctor.reports.errata import applicable, bundled_errata, correct, read_errata
from proctor.reports.figures import ALL, figures, main_mode
from proctor.reports.flaky import FlakyDetector, FlakyProgram
from proctor.reports.published import read_published
from proctor.reports.records import RunRecords, SampleRecord, read_run, write_run
from proctor.reports.tallies import Mode, Tally, modes_of, tally
from proctor.reports.uncertainty import fault_bounds, mean_interval, variance_shares
from proctor.verdict import Verdict


def record(problem: str, sample: int, verdict: Verdict | None, fault: str = "") -> SampleRecord:
    return SampleRecord(problem, sample, standard=verdict, fault=fault)


def test_faults_count_as_not_passed() -> None:
    lost = [
        record("a", 0, Verdict.AC),
        record("a", 1, Verdict.INFRA_FAULT),
        record("b", 0, None, fault="the model's server did not answer"),
        record("c", 0, Verdict.WA),
        record("d", 0, Verdict.TASK_FAULT),
        record("e", 0, Verdict.TASK_FAULT, fault="no tests"),
        record("f", 0, None),
    ]
    found = {each.problem_id: each for each in tally(lost, Mode.STANDARD)}
    assert list(found) == ["a", "b", "c", "d", "e"]
    assert (found["a"].scored, found["a"].passed, found["a"].infra_faults) == (1, 1, 1)
    assert (found["b"].scored, found["b"].infra_faults) == (0, 1)
    assert (found["e"].task_faults, found["e"].infra_faults) == (1, 0)
    limits = fault_bounds(found.values())
    assert limits is not None
    assert (limits.low, limits.high) == pytest.approx((0.5 / 5, 4 / 5))
    assert (limits.faults, limits.share) == (4, 4 / 6)
    estimate = mean_interval(found.values())
    assert estimate is not None
    assert estimate.value == pytest.approx(limits.low)
    assert (limits.infra_faults, limits.task_faults) == (2, 2)
    assert modes_of(lost) == (Mode.STANDARD,)


def test_a_run_of_faults_alone_has_no_score_but_bounds() -> None:
    lost = tally([record("a", 0, None, fault="down")], Mode.OFFICIAL)
    limits = fault_bounds(lost)
    assert limits is not None
    assert (limits.low, limits.high) == (0, 1)
    assert fault_bounds([]) is None


def test_spread_tells_problems_from_samples() -> None:
    def problems(passes: list[int]) -> list[Tally]:
        return [Tally(str(i), str(i), "", "", None, 10, c, 0, 0) for i, c in enumerate(passes)]

    only_problems = variance_shares(problems([0, 10, 0, 10]))
    assert only_problems is not None
    assert (only_problems.between, only_problems.within) == (1, 0)
    mostly_samples = variance_shares(problems([4, 5, 6, 5, 4, 6]))
    assert mostly_samples is not None
    assert mostly_samples.within > 0.9
    assert variance_shares(problems([3])) is None


def test_errata_leave_problems_out(tmp_path: Path) -> None:
    path = tmp_path / "errata.toml"
    path.write_text(
        'name = "n"\n[[erratum]]\nproblem = "made_b"\nreason = "r"\nsource = "s"\n'
        '[[erratum]]\nproblem = "elsewhere"\nreason = "r"\nsource = "s"\n'
    )
    given = [Tally(name, name, "", "", None, 1, 1, 0, 0) for name in ("made_a", "made_b")]
    found = correct(given, [read_errata(path)])
    assert [each.problem_id for each in found.tallies] == ["made_a"]
    assert [each.problem for each in found.left_out] == ["made_b"]
    path.write_text("[[erratum]]\nproblem = 3\n")
    with pytest.raises(InputError, match=r"errata\.toml: no list of errata"):
        read_errata(path)


def test_published_scores_are_shares(tmp_path: Path) -> None:
    path = tmp_path / "published.toml"
    score = '[[score]]\nname = "m"\nsource = "s"\ndate = 2025-01-01\npass_at_1 = '
    path.write_text(score + "0.437\n")
    assert read_published(path)[0].date == date(2025, 1, 1)
    path.write_text(score + "43.7\n")
    with pytest.raises(InputError, match="a share from 0 to 1"):
        read_published(path)


def test_figures_of_a_run() -> None:
    run = make_run(contests=12, samples=5, faults=0.02)
    found = figures(run, main_mode([run]), cutoff=date(2024, 6, 30))
    assert found.mode is Mode.OFFICIAL
    assert [each.mode for each in found.headlines] == [Mode.OFFICIAL, Mode.STANDARD]
    assert sum(found.verdicts.values()) == sum(found.shares) == len(run.records)
    whole = found.groups[ALL, ALL]
    assert whole == found.headlines[0].estimate == found.pass_at_k[1]
    values = [estimate.value for estimate in found.pass_at_k.values()]
    assert values == sorted(values)
    assert all(e.low is not None and e.low <= e.value for e in found.pass_at_k.values())
    assert found.step is not None
    assert found.step.since == "2024-07-01"
    assert found.largest_step is None
    assert found.expense.cost == pytest.approx(sum(r.cost or 0 for r in run.records))
    assert found.expense.per_solved is not None


def test_records_survive_a_file(tmp_path: Path) -> None:
    run = with_details(make_run("x", contests=2))
    write_run(tmp_path / "x.jsonl", run)
    found = read_run(tmp_path / "x.jsonl")
    assert (found.name, found.provenance) == (run.name, run.provenance)
    assert tuple(found.records) == run.records
    assert len(found.records) == len(run.records)
    assert dict(found.details) == run.details


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("", "no records"),
        ('{"problem_id": "a"}', r"line 1: no sample record: .*`sample`"),
        ('{"problem_id": "a", "sample": 0, "standard": "GOOD"}', r"line 1: .*'GOOD'"),
        ('{"problem_id": "a", "sample": 0}\n\n' * 2, "line 3: sample 0 of 'a' is there already"),
        ("\xff", "line 1: no sample record"),
    ],
)
def test_bad_records_are_named(tmp_path: Path, lines: str, message: str) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(lines.encode("latin-1"))
    with pytest.raises(InputError, match=message):
        read_run(path)


def test_official_is_chosen_only_if_all_have_it() -> None:
    run = make_run(contests=1)
    without = RunRecords("b", tuple(replace(r, official=None) for r in run.records))
    assert main_mode([run]) is Mode.OFFICIAL
    assert main_mode([run, without]) is Mode.STANDARD


def test_the_bundled_errata_are_livecodebenchs() -> None:
    """Its LeetCode problems have numbers for ids, so they are found by title."""
    lists = bundled_errata()
    assert applicable(lists, "humaneval") == ()
    (one,) = applicable(lists, "livecodebench")
    kinds = Counter(each.kind for each in one.erratum)
    assert kinds == {"several-answers": 11, "interactive": 2, "wrong-tests": 4}
    given = [
        Tally("abc343_e", "abc343", "", "", None, 1, 0, 0, 0, "7x7x7"),
        Tally("3363", "w", "", "", None, 1, 0, 0, 0, "most-frequent-ids"),
        Tally("3364", "w", "", "", None, 1, 1, 0, 0, "another"),
    ]
    assert [each.problem_id for each in correct(given, [one]).tallies] == ["3364"]


def test_the_same_program_judged_differently() -> None:
    def sample(problem: str, number: int, program: str, *verdicts: str) -> SampleRecord:
        *earlier, last = map(Verdict, verdicts)
        return SampleRecord(
            problem, number, standard=last, earlier_standard=tuple(earlier), program=program
        )

    watch = FlakyDetector(Mode.STANDARD)
    for record in (
        sample("a", 0, "p", "AC"), sample("b", 0, "p", "WA"),  # other problems
        sample("a", 1, "q", "WA"), sample("a", 2, "p", "TLE"),  # the same as a 0
        sample("c", 0, "", "WA", "RE"), sample("c", 1, "", "WA"),  # judged again
        sample("d", 0, "p", "INFRA_FAULT", "AC"), sample("d", 1, "p", "AC"),  # a fault is none
    ):  # fmt: skip
        watch.add(record)
    found = watch.found()
    assert found.problems == {
        "a": (FlakyProgram((0, 2), (Verdict.AC, Verdict.TLE)),),
        "c": (FlakyProgram((0,), (Verdict.RE, Verdict.WA)),),
    }
    assert [name for name, _ in found.worst] == ["a", "c"]
    assert (found.mattering, found.same_program, found.judged_again) == (1, 2, 2)
