"""Results files and a run's store that an earlier version wrote: they are read, and gone on with.

Each is of a run that was killed: the last row is half written, or not there. They lie in `earlier/`
with the problems and submissions that they were made of.
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from proctor_command import Proctor

from proctor import __version__
from proctor.evals.store import RunStore
from proctor.formats.results import read_results

EARLIER = Path(__file__).parent / "earlier"
VERDICTS = ["AC", "WA", "TLE", "AC", "WA", "TLE"]


@pytest.fixture
def earlier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the files, as the current directory."""
    place = tmp_path / "earlier"
    shutil.copytree(EARLIER, place)
    monkeypatch.chdir(place)
    return place


def same_judge(directory: Path) -> None:
    """Skip where this is another judge, for which going on is refused."""
    settings = json.loads(next(directory.glob("*.settings.json")).read_text())
    if settings["proctor"] != __version__:
        pytest.skip(f"written by proctor {settings['proctor']}")
    if settings.get("python", sys.version.split()[0]) != sys.version.split()[0]:
        pytest.skip(f"judged under Python {settings['python']}")


def rows(path: Path) -> dict[Any, dict[str, Any]]:
    return {row["row"]: row for row in read_results(path)}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "mode"), [("results", "standard"), ("official", "official")])
def test_results_of_proctor_judge(proctor: Proctor, earlier: Path, name: str, mode: str) -> None:
    file = earlier / f"judge/{name}.jsonl"
    before = rows(file)
    assert {number: row["verdict"] for number, row in before.items()} == {
        0: "AC", 1: "WA", 3: "AC", 4: "WA",
    }  # fmt: skip
    same_judge(earlier / "judge")
    command = (
        "judge", "--problems", "judge/problems.jsonl", "--programs", "judge/programs.jsonl",
        "--mode", mode, "--timeout", "2s", "--out", file, "--json",
    )  # fmt: skip
    assert proctor(*command).returncode == 2, "it is not signed, and might be a stranger's"
    done = proctor(*command, "--trust-rows")
    assert done.returncode == 0, done.stderr
    after = rows(file)
    assert [after[number]["verdict"] for number in range(6)] == VERDICTS
    assert {number: after[number] for number in before} == before, "nothing is judged twice"


@pytest.mark.compiler
def test_results_of_proctor_ioi_score(proctor: Proctor, earlier: Path) -> None:
    file = earlier / "ioi/out/results.jsonl"
    before = rows(file)
    assert {name: row["verdict"] for name, row in before.items()} == {
        "right/0": "AC", "small/0": "PA", "wrong/0": "WA", "none/0": "NC",
    }  # fmt: skip
    same_judge(file.parent)
    done = proctor("ioi", "score", "--tasks", "ioi", "--submissions", "ioi/submissions.jsonl",
                   "--out", "ioi/out", "--json", "--trust-rows")  # fmt: skip
    assert done.returncode == 0, done.stderr
    after = rows(file)
    assert {name: after[name] for name in before} == before
    assert (after["crash/0"]["verdict"], after["exact/0"]["verdict"]) == ("RE", "AC")
    assert json.loads(done.stdout)["submissions"] == 6
    told = proctor("ioi", "report", "--tasks", "ioi", "--results", file, "--json")
    assert json.loads(told.stdout)["submissions"] == 6, told.stderr


@pytest.mark.slow
def test_store_of_proctor_eval(proctor: Proctor, earlier: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(earlier / "eval")
    with RunStore.open(Path("run")) as store:
        assert (store.count(), store.unasked()) == (6, 1)
        before = [sample for sample in store.samples() if sample.generation is not None]
    exported = proctor("export", "run", "--format", "jsonl")
    assert len(exported.stdout.splitlines()) == 5, exported.stderr
    refused = proctor("resume", "run", "--json")
    assert refused.returncode == 2, "it is not signed, and might be a stranger's"
    named = ("--source", "problems.jsonl", "--model", "replay:replies.jsonl")
    assert refused.stderr.endswith(f"give by name: {' '.join(named)}\n")
    done = proctor("resume", "run", "--json", *named)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["samples"], found["unfinished"]) == (6, 0)
    with RunStore.open(Path("run")) as store:
        after = {(sample.problem_id, sample.number): sample for sample in store.samples()}
    for sample in before:
        now = after[sample.problem_id, sample.number]
        assert now.generation == sample.generation
        assert set(now.judgements) >= set(sample.judgements), "nothing is lost"
    verdicts = [
        judged.verdict for _, sample in sorted(after.items()) for judged in sample.judgements[-1:]
    ]
    assert verdicts == VERDICTS
