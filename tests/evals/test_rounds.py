"""Rounds of judging: what judged is on record, and runs that were made differently are not compared."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from command import problem, write_rows
from proctor_command import Done, Proctor

from proctor.evals import rounds as rounds_module
from proctor.evals import settings as settings_module
from proctor.evals.records import records
from proctor.evals.rounds import rounds
from proctor.evals.store import RunStore
from proctor.verdict import Verdict
from proctor.version import __version__

RIGHT, WRONG = "print(input())", "print(0)"


def problems_file(place: Path, expected: str = "3\n") -> Path:
    return write_rows(place, [problem(each, [("3\n", expected)]) for each in "ab"])


def evaluated(proctor: Proctor, place: Path, *more: str | Path, name: str = "run") -> Path:
    """Judge a right and a wrong program."""
    if not (place / "problems.jsonl").exists():
        problems_file(place / "problems.jsonl")
    programs = write_rows(place / "programs.jsonl", [
        {"question_id": "a", "code": RIGHT}, {"question_id": "b", "code": WRONG},
    ])  # fmt: skip
    source = () if "--source" in more else ("--source", place / "problems.jsonl")
    done = proctor("eval", "livecodebench", *source, "--model", f"replay:{programs}", "--mode",
                   "standard", "--out", place / name, *more)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return place / name


def updated(patch: pytest.MonkeyPatch, version: str) -> None:
    """As if another version of proctor were installed."""
    patch.setattr(settings_module, "__version__", version)
    patch.setattr(rounds_module, "__version__", version)


def scores(done: Done) -> dict[str, Any]:
    found = json.loads(done.stdout)["standard"]
    assert isinstance(found, dict)
    return found


def test_an_update_loses_no_verdict_and_mixes_none(
    proctor: Proctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = evaluated(proctor, tmp_path)
    with RunStore.open(run) as store:
        before = list(records(store))
    updated(monkeypatch, "99.0")
    with RunStore.open(run) as store:
        assert list(records(store)) == before
        assert store.unfinished(rounds(store)[-1].judges) == 0
    again = proctor("resume", run, "--json")
    assert scores(again)["passed"] == 1
    with RunStore.open(run) as store:
        assert [each.proctor for each in rounds(store)] == [__version__, "99.0"]
        assert [each.earlier_standard for each in records(store)] == [(Verdict.AC,), (Verdict.WA,)]
        assert store.unfinished(rounds(store)[-1].judges) == 0


@pytest.mark.slow
def test_what_a_round_was_judged_by_is_on_record(proctor: Proctor, tmp_path: Path) -> None:
    run = evaluated(proctor, tmp_path, "--test-timeout", "2s", "--memory", "300M")
    assert proctor("rejudge", run).returncode == 0
    with RunStore.open(run) as store:
        first, second = rounds(store)
    assert (first.number, second.number) == (0, 1)
    assert first.judges != second.judges
    assert first.limits["standard"]["cpu"] == 2.0
    assert first.limits["standard"]["memory"] == 300 << 20
    assert first.begun <= second.begun
    assert first.host["python"]


def test_judging_again_is_no_other_judge(proctor: Proctor, tmp_path: Path) -> None:
    once = evaluated(proctor, tmp_path)
    twice = tmp_path / "twice"
    shutil.copytree(once, twice)
    assert proctor("rejudge", twice).returncode == 0
    done = proctor("compare", once, twice)
    assert done.returncode == 0, done.stderr


def test_a_verdict_that_changes_is_shown(proctor: Proctor, tmp_path: Path) -> None:
    run = evaluated(proctor, tmp_path)
    with RunStore.open(run, write=True) as store:
        (right, _) = (sample.judgements[0] for sample in store.samples())
        store.write([type(right)(**{**as_dict(right), "verdict": "TLE"})])
    assert proctor("retry", run, "--verdict", "TLE").returncode == 0
    with RunStore.open(run) as store:
        assert [(each.standard, each.earlier_standard) for each in records(store)] == [
            (Verdict.AC, (Verdict.TLE,)), (Verdict.WA, ()),
        ]  # fmt: skip
    page = tmp_path / "page.html"
    assert proctor("report", run, "-o", page).returncode == 0
    text = page.read_text()
    assert "1 problem with a program that got more than one verdict, <b>1</b> of them" in text
    assert 'v-tle">TLE</span>' in text


def as_dict(row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in row.__struct_fields__}


@pytest.mark.parametrize(
    ("key", "options"),
    [
        ("dataset", ["--source", "other.jsonl"]),
        ("prompt", ["--prompt", "user-only"]),
        ("limits", ["--test-timeout", "9s"]),
        ("limits", ["--memory", "400M"]),
        ("judge", ["--preload", "bisect"]),
    ],
)
def test_runs_made_differently_are_refused(
    proctor: Proctor,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    key: str,
    options: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    problems_file(tmp_path / "other.jsonl", "3")
    first, second = evaluated(proctor, tmp_path), evaluated(proctor, tmp_path, *options, name="two")
    done = proctor("compare", first, second)
    assert done.returncode == 2
    assert f"{key} differs" in done.stderr
    forced = proctor("compare", first, second, "--force")
    assert (forced.returncode, f"{key} differs" in forced.stderr) == (0, True)


def test_another_version_of_the_judge_is_refused(
    proctor: Proctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = evaluated(proctor, tmp_path)
    updated(monkeypatch, "99.0")
    second = evaluated(proctor, tmp_path, name="two")
    done = proctor("compare", first, second)
    assert done.returncode == 2
    assert "judge differs" in done.stderr
    assert "'proctor': '99.0'" in done.stderr


@pytest.mark.slow
def test_the_same_problems_elsewhere_are_the_same(proctor: Proctor, tmp_path: Path) -> None:
    first = evaluated(proctor, tmp_path)
    shutil.copy(tmp_path / "problems.jsonl", tmp_path / "copy.jsonl")
    second = evaluated(proctor, tmp_path, "--source", tmp_path / "copy.jsonl", name="two")
    done = proctor("compare", first, second)
    assert done.returncode == 0, done.stderr


def test_another_model_elsewhere_is_what_comparing_is_for(proctor: Proctor, tmp_path: Path) -> None:
    first = evaluated(proctor, tmp_path)
    second = evaluated(proctor, tmp_path, "--temperature", "0.7", "--seed", "3", name="two")
    assert proctor("compare", first, second).returncode == 0
