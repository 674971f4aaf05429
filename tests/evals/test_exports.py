"""Exports of runs: read back by what they are for, and never left half written."""

import csv
import json
import os
import signal
import stat
import subprocess
import sys
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from answers import right_reply
from command import COMMAND, environment
from proctor_command import Proctor
from stub import Call, serving

from proctor.errors import InputError
from proctor.evals.details import read_store
from proctor.evals.export.formats import FORMATS, export, export_file
from proctor.evals.store import RunStore
from proctor.evals.stored import Generation, ProblemInfo, Prompt, SampleJudgement, Turn
from proctor.reports.records import SampleDetail, read_run
from proctor.whole_file import whole_file
from waiting import PATIENCE

INSPECT = os.environ.get("PROCTOR_TEST_INSPECT", "")
ANY_RUNS = sorted(FORMATS.keys() - {"ioi"})
SETTINGS = {"model": "m", "mode": "both", "temperature": 0.5, "max_tokens": 99, "seed": 7}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Five samples of all kinds: passed, failed in one mode, by an agent, a fault of either side."""
    directory = tmp_path / "run"
    with RunStore.create(directory, SETTINGS) as store:
        store.remember({"benchmark": "livecodebench", "source": "here", "proctor": "1"})
        store.plan([
            (ProblemInfo("p0", "Sum", "Add.", "atcoder", "easy", date(2024, 1, 2), "c", "2024-01-02"), 3),
            (ProblemInfo("p1", "Größe", "Measure.", "leetcode", "hard"), 2),
        ])  # fmt: skip
        official, standard = store_keys(store)
        tests = json.dumps(
            [{"verdict": "WA", "cpu": 0.1, "wall": 0.2, "memory": 5, "message": "m"}]
        )
        upstream = json.dumps({"metadata": {"inputs": "1 2", "expected": "3", "output": "4"}})
        store.write([
            Prompt("h", json.dumps([{"role": "system", "content": "Be brief."},
                                    {"role": "user", "content": "Add ü."}])),
            Generation("p0", 0, "h", "Ünser:\n```python\nx\n```", "I think", "x", "last-block",
                       finish_reason="stop", prompt_tokens=10, completion_tokens=20,
                       reasoning_tokens=5, cached_tokens=4, seconds=1.5),
            SampleJudgement("p0", 0, "official", official, "WA", 0.0, "Wrong Answer", 0.1, 0.02, "namespaces",
                   tests, upstream),
            SampleJudgement("p0", 0, "standard", standard, "AC", 1.0, cpu=0.1, slowest_share=0.01),
            SampleJudgement("p0", 0, "standard", "an older judge", "TLE"),
            Generation("p0", 1, "h", fault="model-stalled", fault_message="no answer"),
            Generation("p0", 2, "h", "Done.", "", "y", "agent", finish_reason="stop", prompt_tokens=30,
                       completion_tokens=40, seconds=2.0, turns=1, stop_reason="submitted"),
            Turn("p0", 2, 0, "model", content="Let me.", seconds=1.0, prompt_tokens=30,
                 completion_tokens=40, arguments=json.dumps([
                     {"id": "a", "name": "write_solution", "arguments": '{"code": "y"}'},
                     {"id": "b", "name": "submit", "arguments": "{broken"},
                 ])),
            Turn("p0", 2, 1, "tool", "write_solution", "a", "Written.", '{"code": "y"}'),
            SampleJudgement("p0", 2, "official", official, "AC", 1.0),
            SampleJudgement("p0", 2, "standard", standard, "PA", 0.5),
            Generation("p1", 0, "h", "no code", finish_reason="length"),
            SampleJudgement("p1", 0, "official", official, "NC"),
            SampleJudgement("p1", 0, "standard", standard, "INFRA_FAULT", message="the cell died"),
        ])  # fmt: skip
    return directory


def store_keys(store: RunStore) -> tuple[str, str]:
    from proctor.evals.records import settings_of
    from proctor.evals.rounds import begin_round

    judges = begin_round(store, settings_of(store)).judges
    return judges["official"], judges["standard"]


def exported(run: Path, format_: str) -> Path:
    target = run.parent / f"out.{format_}"
    with RunStore.open(run) as store:
        export_file(store, format_, target)
    return target


def test_parquet(run: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    rows: list[dict[str, Any]] = pq.read_table(exported(run, "parquet")).to_pylist()
    assert [(row["problem_id"], row["sample"]) for row in rows] == [
        ("p0", 0), ("p0", 1), ("p0", 2), ("p1", 0),
    ]  # fmt: skip
    first, lost, agent, last = rows
    assert first["published"] == date(2024, 1, 2)
    assert (first["official_verdict"], first["standard_verdict"]) == ("WA", "AC")
    assert first["official_tests"] == [
        {"verdict": "WA", "cpu": 0.1, "wall": 0.2, "memory": 5, "message": "m"}
    ]
    assert json.loads(first["official_upstream"])["metadata"]["output"] == "4"
    assert first["text"].startswith("Ünser")
    assert (lost["fault"], lost["official_verdict"], lost["prompt_tokens"]) == (
        "model-stalled", None, None,
    )  # fmt: skip
    assert [step["name"] for step in agent["steps"]] == ["", "write_solution"]
    assert (last["title"], last["official_verdict"], last["published"]) == ("Größe", "NC", None)


def test_parquet_names_the_extra(
    run: Path, proctor: Proctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib.util

    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *more: None if name == "pyarrow" else real(name, *more),
    )
    target = run.parent / "x.parquet"
    done = proctor("export", run, "--format", "parquet", "--out", target)
    assert done.returncode == 2
    assert "pip install 'proctor[parquet]'" in done.stderr
    assert list(run.parent.iterdir()) == [run]


def test_parquet_to_a_pipe(run: Path) -> None:
    done = subprocess.run(
        [COMMAND, "export", str(run), "--format", "parquet"], env=environment(),
        capture_output=True, timeout=PATIENCE, check=True,
    )  # fmt: skip
    assert done.stdout == exported(run, "parquet").read_bytes()


def test_records_are_what_report_and_compare_take(run: Path, proctor: Proctor) -> None:
    target = run.parent / "handed-on.jsonl"
    done = proctor("export", run, "--format", "records", "--out", target)
    assert done.returncode == 0, done.stderr
    with ExitStack() as opened:
        stored, read = read_store(run, opened), read_run(target)
        assert list(read.records) == list(stored.records)
        assert len(stored.records) == len(read.records) == 4
        assert dict(read.details) == {
            key: detail for key, detail in stored.details.items() if detail != SampleDetail()
        }
        assert read.provenance == json.loads(json.dumps(stored.provenance))
        first = read.details["p0", 0]
    assert (first.input, first.expected, first.actual) == ("1 2", "3", "4")
    assert first.message == "official: test 1: Wrong Answer"
    pages = []
    for source in (run, target):
        page = run.parent / "page.html"
        assert proctor("report", f"same={source}", "-o", page).returncode == 0
        pages.append(page.read_text())
    assert pages[0] == pages[1]
    compared = proctor("compare", run, target, "--mode", "standard")
    assert compared.returncode == 0, compared.stderr
    assert "not known" not in compared.stderr


def test_records_to_a_pipe_are_refused(run: Path, proctor: Proctor) -> None:
    done = proctor("export", run, "--format", "records")
    assert done.returncode == 2
    assert "--out: records need a file" in done.stderr


def test_csv_and_json(run: Path) -> None:
    with exported(run, "csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["official"] for row in rows] == ["WA", "", "AC", "NC"]
    whole = json.loads(exported(run, "json").read_text())
    assert whole["rounds"][0]["number"] == 0
    assert whole["provenance"]["host"]["cpus"] == os.cpu_count()
    assert whole["figures"]["official"]["scored"] == 3


@pytest.mark.parametrize("problem", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "a=1"])
def test_csv_has_no_formulas(tmp_path: Path, problem: str) -> None:
    with RunStore.create(tmp_path / "run", SETTINGS) as store:
        store.plan([(ProblemInfo(problem), 1)])
        official, _ = store_keys(store)
        store.write([Generation(problem, 0, "h", finish_reason="=HYPERLINK(A1)"),
                     SampleJudgement(problem, 0, "official", official, "WA")])  # fmt: skip
    with exported(tmp_path / "run", "csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["problem_id"] == (problem if problem == "a=1" else f"'{problem}")
    assert row["finish_reason"] == "'=HYPERLINK(A1)"


READ = """
import json, sys
from inspect_ai.log import read_eval_log, read_eval_log_samples, list_eval_logs
path = sys.argv[1]
log = read_eval_log(path)
header = read_eval_log(path, header_only=True)
assert header.samples is None and header.eval.eval_id == log.eval.eval_id
assert [each.epoch for each in read_eval_log_samples(path, all_samples_required=False)]
print(json.dumps({
    "status": log.status, "task": log.eval.task, "model": log.eval.model,
    "epochs": log.eval.config.epochs, "seed": log.eval.model_generate_config.seed,
    "ids": log.eval.dataset.sample_ids, "judge": log.eval.metadata["judge"],
    "results": {s.name: [s.scored_samples, s.metrics["pass@1"].value] for s in log.results.scores},
    "usage": {name: [u.input_tokens, u.output_tokens] for name, u in log.stats.model_usage.items()},
    "samples": [{
        "id": s.id, "epoch": s.epoch, "input": [m.role for m in s.input],
        "messages": [[m.role, m.text] for m in s.messages],
        "calls": [[c.function, c.arguments, bool(c.parse_error)] for m in s.messages
                  if m.role == "assistant" for c in m.tool_calls or ()],
        "reasoning": [c.reasoning for m in s.messages if isinstance(m.content, list)
                      for c in m.content if c.type == "reasoning"],
        "scores": {name: [v.value, v.answer, v.metadata["verdict"]] for name, v in (s.scores or {}).items()},
        "usage": [u.model_dump() for u in s.model_usage.values()][0]["total_tokens"],
        "stop": s.output.stop_reason if s.output.choices else None,
        "error": s.error.message if s.error else None, "turns": s.turn_count,
    } for s in log.samples],
}))
"""


@pytest.mark.outside("INSPECT")
def test_inspect_ai_reads_its_log(run: Path) -> None:
    target = run.parent / "log.json"
    with RunStore.open(run) as store:
        export_file(store, "inspect", target)
    done = subprocess.run(
        [INSPECT, "-c", READ, str(target)], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    log = json.loads(done.stdout)
    assert (log["status"], log["task"], log["model"]) == ("cancelled", "livecodebench", "m")
    assert (log["epochs"], log["seed"], log["ids"]) == (3, 7, ["p0", "p1"])
    # What has no verdict counts as not passed: one of three samples of p0, none of p1.
    assert log["results"] == {"official": [3, 1 / 6], "standard": [2, 1 / 6]}
    assert log["usage"] == {"m": [40, 60]}
    first, lost, agent, last = log["samples"]
    assert (first["id"], first["epoch"], first["input"]) == ("p0", 1, ["system", "user"])
    assert first["messages"][-1] == ["assistant", "Ünser:\n```python\nx\n```"]
    assert first["reasoning"] == ["I think"]
    assert first["scores"] == {"official": ["I", "x", "WA"], "standard": ["C", "x", "AC"]}
    assert (first["usage"], first["stop"], first["error"]) == (30, "stop", None)
    assert (lost["scores"], lost["error"]) == ({}, "model-stalled: no answer")
    assert [role for role, _ in agent["messages"]] == ["system", "user", "assistant", "tool"]
    assert agent["calls"] == [
        ["write_solution", {"code": "y"}, False], ["submit", {"arguments": "{broken"}, True],
    ]  # fmt: skip
    assert (agent["scores"]["standard"], agent["turns"]) == ([0.5, "y", "PA"], 1)
    assert (last["stop"], last["error"]) == ("max_tokens", "INFRA_FAULT: the cell died")
    assert list(last["scores"]) == ["official"]


def test_an_export_is_whole_or_not_there(run: Path) -> None:
    """Killed in the middle of a long export: the name holds the old file, or none."""
    target = run.parent / "out.jsonl"
    target.write_text("old")
    program = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from proctor.evals.export import rows\n"
        "from proctor.evals.export.formats import export_file\n"
        "from proctor.evals.store import RunStore\n"
        "made = rows.made\n"
        "def cut_off(store):\n"
        "    for number, sample in enumerate(made(store)):\n"
        "        if number == 2:\n"
        "            os.kill(os.getpid(), signal.SIGKILL)\n"
        "        yield sample\n"
        "rows.made = cut_off\n"
        "with RunStore.open(Path(sys.argv[1])) as store:\n"
        "    export_file(store, 'jsonl', Path(sys.argv[2]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(run), str(target)],
        capture_output=True,
        timeout=PATIENCE,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert target.read_text() == "old"
    assert len(exported(run, "jsonl").read_text().splitlines()) == 4


def test_a_failed_export_leaves_nothing(tmp_path: Path) -> None:
    target = tmp_path / "x"

    def write(path: Path) -> None:
        with whole_file(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(target)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match="cannot be written"):
        write(tmp_path / "no" / "x")


def test_a_link_stays_a_link_and_a_pipe_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    with whole_file(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    with whole_file(Path("/dev/null")) as file:
        file.write(b"gone")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.parametrize("format_", ANY_RUNS)
def test_a_run_without_samples(tmp_path: Path, format_: str) -> None:
    if format_ == "parquet":
        pytest.importorskip("pyarrow")
    with RunStore.create(tmp_path / "run", SETTINGS) as store:
        store.plan([(ProblemInfo("p"), 1)])
        with (tmp_path / "out").open("wb") as out:
            export(store, format_, out)
        assert (format_ in {"jsonl", "records"}) == ((tmp_path / "out").stat().st_size == 0)


@pytest.mark.slow
def test_a_real_run_in_every_format(proctor: Proctor, tmp_path: Path) -> None:
    def answer(call: Call) -> None:
        call.reply(right_reply(call.body["messages"][-1]["content"]))

    with serving(answer) as stub:
        done = proctor("eval", "livecodebench", "--model", "stub", "--base-url", stub.url, "--out",
                       tmp_path / "run", "--n", "2", "--mode", "standard")  # fmt: skip
        assert done.returncode == 0, done.stderr
    for format_ in ANY_RUNS:
        target = tmp_path / f"x.{format_}"
        done = proctor("export", tmp_path / "run", "--format", format_, "--out", target)
        assert (done.returncode, done.stderr) == (0, ""), format_
    log = json.loads((tmp_path / "x.inspect").read_text())
    assert log["status"] == "success"
    assert [sample["scores"]["standard"]["value"] for sample in log["samples"]] == ["C"] * 8


def test_an_unknown_format(run: Path, proctor: Proctor) -> None:
    done = proctor("export", run, "--format", "xml")
    assert (done.returncode, "'xml' is not one of jsonl" in done.stderr) == (2, True)
