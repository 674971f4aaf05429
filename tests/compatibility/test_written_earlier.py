"""What earlier versions wrote is read by this one: results, runs, caches, bundles, packages, answers.

Each `written_by_*` was written once, by tools/write_compatibility.py of that version, and is never
changed. A failure here breaks a promise of docs/reference/compatibility.md.
"""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

import proctor
from proctor import InputError, Pool, SolveEnvelope
from proctor.evals.store import RunStore
from proctor.formats.bundle import read_bundle
from proctor.formats.results import read_results
from proctor.judging.cache.file_store import FileStore
from proctor.judging.cache.remembered import RememberedVerdicts
from proctor.judging.cache.sealing import VerdictSeal
from proctor.judging.cache.tally import CacheTally
from proctor.view.library import RunLibrary
from proctor.view.sample import sample_view
from waiting import PATIENCE

HERE = Path(__file__).parent
WRITTEN = sorted(HERE.glob("written_by_*"))
EACH = {"AC": 2, "WA": 2, "RE": 2}
"""Verdicts of the run that has ended, by either rules."""
RIGHT = "print(sum(map(int, input().split())))"
ENVIRONMENT = {
    name: value for name, value in os.environ.items() if not name.startswith("PROCTOR_")
} | {"NO_COLOR": "1", "COLUMNS": "120"}


@pytest.fixture(params=WRITTEN, ids=lambda path: path.name)
def written(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy, with the rights that git does not keep."""
    place = tmp_path / "written"
    shutil.copytree(request.param, place)
    (place / "judged/verdicts").chmod(0o700)
    for file in (place / "judged/verdicts").iterdir():
        file.chmod(0o600)
    return place


def command(place: Path, *words: str, given: str = "", code: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "proctor", *words], cwd=place, env=ENVIRONMENT, input=given,
        capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def rows(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_there_is_something_to_read_and_it_is_small() -> None:
    assert HERE / "written_by_0_1" in WRITTEN
    for place in WRITTEN:
        sizes = sum(file.stat().st_size for file in place.rglob("*") if file.is_file())
        assert sizes < 300_000, place


@pytest.mark.parametrize(("name", "mode"), [("results", "standard"), ("official", "official")])
def test_results_of_judge_are_gone_on_with(written: Path, name: str, mode: str) -> None:
    place = written / "judged"
    before = list(read_results(place / f"{name}.jsonl"))
    assert [row["verdict"] for row in sorted(before, key=lambda row: row["row"])] == [
        "AC", "WA", "RE",
    ]  # fmt: skip
    files = ("--problems", "problems.jsonl", "--programs", "programs.jsonl", "--json")
    settings = json.loads((place / f"{name}.jsonl.settings.json").read_text())
    if settings["proctor"] != proctor.__version__ or settings["python"] != sys.version.split()[0]:
        # Another judge: rows of two would not mix in one file.
        command(place, "judge", *files, "--mode", mode, "--out", f"{name}.jsonl", code=2)
        return
    command(place, "judge", *files, "--mode", mode, "--out", f"{name}.jsonl", code=2)  # not ours
    again = command(
        place, "judge", *files, "--mode", mode, "--out", f"{name}.jsonl", "--trust-rows"
    )
    assert list(read_results(place / f"{name}.jsonl")) == before, "nothing is judged twice"
    if mode == "standard":
        then = json.loads((place / "summary.json").read_text())
        now = json.loads(again)
        for key in ("total", "passed", "verdicts", "pass_at_k"):
            assert now[key] == then[key]
        for key in ("by_platform", "by_difficulty"):  # a later version may tell more
            assert now[key].keys() == then[key].keys()
            for group, score in then[key].items():
                assert {each: now[key][group][each] for each in score} == score


def test_a_summary_has_what_it_had(written: Path) -> None:
    """A later version may tell more."""
    files = ("--problems", "problems.jsonl", "--programs", "programs.jsonl", "--json")
    then = json.loads((written / "judged/summary.json").read_text())
    now = json.loads(command(written / "judged", "judge", *files))
    assert set(now) | {"cache"} >= set(then)
    assert now["verdicts"] == then["verdicts"]


def test_a_cache_is_opened_and_filled_anew(written: Path) -> None:
    place = written / "judged"
    store = FileStore(place / "verdicts")
    tally = CacheTally()
    remembered = RememberedVerdicts(store, VerdictSeal(store.secret), tally)
    with store._locked() as connection:
        keys = [key for (key,) in connection.execute("SELECT key FROM verdict")]
    found = Counter(each.verdict.value for key in keys if (each := remembered.get(key)))
    remembered.close()
    # 0.1 remembered verdicts of programs that may have been lucky: they are made again.
    assert (len(keys), found, tally.rejected) == (3, {}, 3)
    told = json.loads(
        command(place, "judge", "--problems", "problems.jsonl", "--programs", "programs.jsonl",
                "--cache", "verdicts", "--json")
    )  # fmt: skip
    assert told["verdicts"] == {"AC": 1, "WA": 1, "RE": 1}
    assert (told["cache"]["hits"], told["cache"]["misses"]) == (0, 3)


@pytest.mark.slow
def test_a_bundle_is_replayed(written: Path) -> None:
    manifest, parts = read_bundle(written / "judged/replay.zip")
    assert manifest
    assert parts
    told = json.loads(command(written / "judged", "replay", "replay.zip", "--json"))
    assert (told["then"]["verdict"], told["now"][0]["verdict"]) == ("WA", "WA")


@pytest.mark.slow
def test_a_row_is_replayed(written: Path) -> None:
    files = ("--problems", "problems.jsonl", "--programs", "programs.jsonl")
    told = json.loads(command(written / "judged", "replay", "results.jsonl#2", *files, "--json"))
    assert told["now"][0]["verdict"] == "RE"


@pytest.mark.slow
def test_a_run_is_opened_reported_and_compared(written: Path) -> None:
    place = written / "evaluated"
    with proctor.open_run(place / "run") as opened:
        assert opened.modes == ("official", "standard")
        for mode in opened.modes:
            assert opened.summary(mode).verdicts == EACH
        assert opened.summary("standard").overall.pass_at_k[1] == pytest.approx(1 / 3)
        assert len(opened.details) == 6
    with proctor.open_run(place / "exports/records.jsonl") as exported:
        assert exported.summary("standard").verdicts == EACH
    command(place, "report", "run", "-o", "report.html", "--title", "Then")
    assert "<h1" in (place / "report.html").read_text()
    compared = json.loads(command(place, "compare", "run", "exports/records.jsonl", "--json"))
    assert compared
    listed = json.loads(command(place, "runs", ".", "--json"))
    assert {row["run"]: (row["samples"], row["unfinished"]) for row in listed} == {
        "run": (6, 0), "killed": (5, 1),
    }  # fmt: skip


def test_the_view_loads_runs_and_samples(written: Path) -> None:
    library = RunLibrary(written / "evaluated")
    assert sorted(run.name for run in library.runs()) == ["killed", "run"]
    loaded = library.load("run")
    assert Counter(record.standard for record in loaded.records) == EACH
    with RunStore.open(written / "evaluated/run") as store:
        seen = sample_view(store, "run", "sum", 1)
        assert {each.verdict for each in seen.judgements} == {"WA"}


@pytest.mark.slow
@pytest.mark.parametrize("format_", ["jsonl", "json", "csv", "lcb", "inspect", "records"])
def test_exports_have_what_they_had(written: Path, format_: str) -> None:
    place = written / "evaluated"
    names = {"lcb": "lcb.json", "inspect": "inspect.json", "records": "records.jsonl"}
    name = names.get(format_, f"rows.{format_}")
    command(place, "export", "run", "--format", format_, "--out", f"now-{name}")
    then, now = (place / f"exports/{name}").read_text(), (place / f"now-{name}").read_text()
    if format_ == "csv":
        assert now.splitlines()[0].startswith(then.splitlines()[0])
        assert len(now.splitlines()) == len(then.splitlines()) == 7
    elif name.endswith(".jsonl"):
        _holds([json.loads(line) for line in now.splitlines()],
               [json.loads(line) for line in then.splitlines()])  # fmt: skip
    else:
        _holds(json.loads(now), json.loads(then))


def test_parquet_has_what_it_had(written: Path) -> None:
    tables = pytest.importorskip("pyarrow.parquet")
    place = written / "evaluated"
    command(place, "export", "run", "--format", "parquet", "--out", "now.parquet")
    then, now = (
        tables.read_table(place / "exports/rows.parquet"),
        tables.read_table(place / "now.parquet"),
    )
    assert set(now.column_names) >= set(then.column_names)
    _holds(now.to_pylist(), then.to_pylist())


VOLATILE = {
    "created",
    "completed_at",
    "started_at",
    "id",
    "uuid",
    "eval_id",
    "run_id",
    "task_id",
    "packages",
    "version",
}
"""Fields that differ between two exports of one run."""


def _holds(now: Any, then: Any, where: str = "") -> None:
    """Fail unless all that was there is there, and the same; more may be."""
    if isinstance(then, dict):
        assert isinstance(now, dict), where
        for key, value in then.items():
            assert key in now, f"{where}.{key} is gone"
            if key not in VOLATILE:
                _holds(now[key], value, f"{where}.{key}")
    elif isinstance(then, list):
        assert len(now) == len(then), where
        for number, (one, other) in enumerate(zip(now, then, strict=True)):
            _holds(one, other, f"{where}[{number}]")
    else:
        assert now == then, where


@pytest.mark.slow
def test_a_killed_run_is_gone_on_with(written: Path) -> None:
    place = written / "evaluated"
    with RunStore.open(place / "killed") as store:
        before = [sample for sample in store.samples() if sample.judgements]
    assert len(before) == 4
    told = json.loads(command(place, "resume", "killed", "--json", "--source", "problems.jsonl"))
    assert (told["samples"], told["unfinished"]) == (5, 0)
    with proctor.open_run(place / "killed") as opened:
        assert opened.summary("standard").verdicts == {"AC": 3, "WA": 1, "RE": 1}
    with RunStore.open(place / "killed") as store:
        after = {(sample.problem_id, sample.number): sample for sample in store.samples()}
    for sample in before:
        now = after[sample.problem_id, sample.number]
        assert now.generation == sample.generation
        assert set(now.judgements) >= set(sample.judgements), "nothing is lost"


@pytest.mark.slow
def test_a_sample_of_a_run_is_replayed(written: Path) -> None:
    told = json.loads(
        command(written / "evaluated", "replay", "run#sum:1:standard", "--problems",
                "problems.jsonl", "--json")
    )  # fmt: skip
    assert (told["then"]["verdict"], told["now"][0]["verdict"]) == ("WA", "WA")


def test_points_of_the_ioi(written: Path) -> None:
    place = written / "ioi"
    found = {row["row"]: row["verdict"] for row in read_results(place / "out/results.jsonl")}
    assert found == {
        "right/0": "AC", "small/0": "PA", "wrong/0": "WA", "none/0": "NC", "crash/0": "RE",
        "exact/0": "AC",
    }  # fmt: skip
    told = json.loads(
        command(place, "ioi", "report", "--tasks", ".", "--results", "out/results.jsonl", "--json")
    )
    assert told["submissions"] == 6


@pytest.mark.parametrize("name", ["sum", "native", "icpc", "polygon"])
def test_packages(written: Path, name: str, pool: Pool) -> None:
    package = proctor.load_package(written / "packages" / name)
    assert len(package.problem.tests) == 2
    assert proctor.judge(package.problem, RIGHT, pool=pool).verdict == "AC"
    assert not proctor.judge(package.problem, "print(7)", pool=pool).passed
    with pytest.raises(InputError):
        proctor.load_package(written / "packages")


@pytest.mark.slow
def test_envelopes_and_scores_of_solvers(written: Path) -> None:
    pytest.importorskip("jsonschema")
    place = written / "solved"
    then = msgspec.json.decode((place / "envelope.json").read_bytes(), type=SolveEnvelope)
    assert (then.status, then.accepted, then.objective) == ("feasible", True, 2.0)
    (kept,) = (place / ".ai_results").iterdir()
    assert json.loads(kept.read_text())["objective"] == 2
    common = ("solve", "solver.py", "--profile", "packing", "--timeout", "20s", "--json")
    now = json.loads(command(place, *common, "--input", "input.json"))
    assert set(now) >= set(json.loads((place / "envelope.json").read_text()))
    settings = json.loads((place / "results.jsonl.settings.json").read_text())
    before = (place / "results.jsonl").read_text()
    if settings.get("proctor", proctor.__version__) == proctor.__version__:
        score = json.loads(command(place, *common, "--instances", "instances.jsonl",
                                   "--results", "results.jsonl", "--trust-rows"))  # fmt: skip
        assert (score["score"], score["accepted"]) == (1.0, 1)
        assert (place / "results.jsonl").read_text() == before, "nothing is run twice"


def test_the_daemon_answers_as_then(written: Path) -> None:
    place = written / "daemon"
    then = rows(place / "answers.jsonl")
    given = (place / "requests.jsonl").read_text()
    now = [json.loads(line) for line in command(place, "daemon", given=given).splitlines()]
    assert set(now[0]["hello"]["methods"]) >= set(then[0]["hello"]["methods"])
    for line in then[1:]:
        like = [each for each in now[1:] if _kind(each) == _kind(line)]
        assert like, f"there is no answer like {line}"
        assert any(_has(each, line) for each in like), (line, like)


def _kind(line: dict[str, Any]) -> tuple[Any, ...]:
    return line.get("id"), "result" in line, "error" in line, "progress" in line


def _has(now: Any, then: Any) -> bool:
    """True if fields that were there are there, with words and counts the same; times may differ."""
    if isinstance(then, dict):
        return isinstance(now, dict) and all(
            key in now and (key in TIMED or _has(now[key], value)) for key, value in then.items()
        )
    if isinstance(then, list):
        return len(now) == len(then) and all(map(_has, now, then))
    return bool(now == then)


TIMED = {"cpu", "wall", "queue", "memory", "isolation", "guarantees", "waiting", "running", "title",
         "detail"}  # fmt: skip
"""Fields that depend on the machine, and messages."""


@pytest.fixture(autouse=True)
def _no_setting_of_this_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PROCTOR_CACHE", "PROCTOR_CACHE_KEY"):
        monkeypatch.delenv(name, raising=False)
