"""Benchmarks prepared to other tools: options, rows, grades, what a fault is, the export's shape."""

import asyncio
import json
import sys
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
from known_replies import NOTHING, replies_to
from proctor_command import Proctor

from proctor.errors import InputError, SettingsError
from proctor.evals.bundled import MODULES
from proctor.evals.export.lm_eval_log import metric_names, metrics, task_name
from proctor.integrations.prepared_benchmarks import NAMES, OPTIONS, InstanceShelf, prepare
from proctor.judging.judge import PoolJudges
from proctor.sandbox.pool import open_pool
from proctor.verdict import Verdict

TASKS = Path(str(files("proctor") / "integrations" / "lm_eval" / "tasks"))


@pytest.mark.parametrize("name", NAMES)
def test_rows_have_prompts_and_no_tests(name: str) -> None:
    rows = list(prepare(name, {}).rows())
    assert rows
    assert len({row.id for row in rows}) == len(rows)
    for row in rows:
        assert [each.role for each in row.messages][-1] == "user"


def test_options_as_yaml_and_as_a_command_line_have_them() -> None:
    written = {
        "platforms": ["leetcode", "AtCoder"], "min_release_date": date(2024, 1, 1), "limit": 2,
        "test_timeout": "10s", "memory": "512M", "mode": None,
    }  # fmt: skip
    settings = prepare("livecodebench", written).settings
    assert (settings.platforms, settings.min_release_date) == ("leetcode,AtCoder", "2024-01-01")
    assert (settings.limit, settings.test_timeout, settings.memory) == ("2", 10.0, 512 << 20)
    assert prepare("mbpp", {"sample_id": 1}).ids == ("1",)
    assert prepare("mbppplus", {}).settings.test_timeout == 60.0  # the benchmark's own


@pytest.mark.parametrize(
    ("name", "options", "error", "says"),
    [
        ("ioi", {}, SettingsError, "ioi is run by `proctor eval` alone"),
        ("humanevil", {}, InputError, "'humanevil' is not one of"),
        ("mbpp", {"n": 2}, SettingsError, "'n' is not one of the options source, limit"),
        ("mbpp", {"test_timeout": [1]}, SettingsError, "options of mbpp"),
        ("mbpp", {"mode": True}, SettingsError, "options of mbpp"),
        ("mbpp", {"test_timeout": "soon"}, InputError, "soon"),
    ],
)
def test_what_cannot_be_lent(
    name: str, options: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        prepare(name, options)


def test_grades_many_and_names_faults_of_ours() -> None:
    prepared = prepare("livecodebench", {})
    replies = replies_to("livecodebench")
    done: list[None] = []
    with prepared.open_grader() as grader:
        found = asyncio.run(prepared.grade_all(grader, replies, lambda: done.append(None)))
    assert len(done) == 12
    for id_ in replies:
        for mode in ("official", "standard"):
            verdicts = [each.graded.verdict for each in found[id_, mode]]
            assert verdicts[0] == "AC"
            assert verdicts[1] != "AC"
            assert [each.is_fault for each in found[id_, mode]] == [False] * 3
    assert found["proctor-01-lantern-rows", "standard"][2].graded.verdict == "NC"


def test_a_pool_that_is_closed_is_nobodys_mistake() -> None:
    prepared = prepare("livecodebench", {"mode": "standard", "limit": 1})
    [id_] = prepared.ids
    pool = open_pool(cells=1)
    with prepared.benchmark.open_grader(prepared.settings, PoolJudges(pool)) as grader:
        pool.close()
        found = asyncio.run(
            prepared.grade_all(grader, {id_: ["```python\nprint(1)\n```"]}, lambda: None)
        )
    assert found[id_, "standard"][0].graded.verdict is Verdict.INFRA_FAULT


def test_the_shelf_reads_ahead_and_again(tmp_path: Path) -> None:
    row = json.loads((files("proctor") / "bundled" / "mbpp.jsonl").read_text().splitlines()[0])
    source = tmp_path / "rows.jsonl"
    source.write_text("".join(json.dumps(row | {"task_id": n}) + "\n" for n in range(200)))
    shelf = InstanceShelf(prepare("mbpp", {"source": str(source)}))
    for number in (0, 1, 150, 199, 3, 0):
        assert shelf.get(str(number)).id == str(number)
    source.unlink()
    assert shelf.get("2").id == "2"  # read ahead
    with pytest.raises(InputError):
        shelf.get("100")


def test_base_models_are_asked_with_their_prompt() -> None:
    assert prepare("bigcodebench", {}).as_base_model().for_base_models
    assert not prepare("bigcodebench", {"prompt": "complete"}).as_base_model().for_base_models
    plain = prepare("classeval", {})
    assert plain.as_base_model() is plain


def test_there_is_a_task_of_lm_eval_for_each() -> None:
    written = {path.stem: path.read_text() for path in TASKS.glob("*.yaml")}
    found = {
        each["task"]: each["benchmark"]
        for text in written.values()
        for each in [yaml.safe_load(text)]
        if each["task"] != "proctor_benchmark_file"
    }
    assert found == {task_name(name): name for name in NAMES}
    assert set(MODULES) - set(NAMES) == {"ioi", "livecodebench/selfrepair"}


def test_the_pages_name_all_options_and_tasks() -> None:
    pages = Path(__file__).parents[3] / "docs" / "how-to"
    for page in ("use-with-inspect.md", "use-with-lm-eval.md"):
        text = (pages / page).read_text("utf-8")
        assert [name for name in OPTIONS if f"`{name}`" not in text] == []
    assert [name for name in NAMES if f"`{task_name(name)}`" not in text] == []


def test_metrics_count_faults_as_not_passed() -> None:
    right, wrong, fault = Verdict.AC, Verdict.WA, Verdict.INFRA_FAULT
    assert metrics([right, wrong, fault], 3) == pytest.approx(
        {"pass@1": 1 / 3, "pass@3": 1.0, "faults": 1}
    )
    assert metrics([right, wrong, right], 3) == pytest.approx(
        {"pass@1": 2 / 3, "pass@3": 1.0, "faults": 0}
    )
    assert metrics([fault, None], 2) == {"pass@1": 0.0, "pass@2": 0.0, "faults": 2}
    assert list(metric_names(10)) == ["pass@1", "pass@5", "pass@10", "faults"]


def test_an_export_for_lm_eval(proctor: Proctor, tmp_path: Path) -> None:
    recording = tmp_path / "replies.jsonl"
    recording.write_text(
        "".join(
            json.dumps({"question_id": id_, "output_list": each}) + "\n"
            for id_, each in replies_to("livecodebench").items()
        )
    )
    done = proctor("eval", "livecodebench", "--model", f"replay:{recording}", "--out",
                   tmp_path / "run")  # fmt: skip
    assert done.returncode == 0, done.stderr
    refused = proctor("export", tmp_path / "run", "--format", "lm-eval")
    assert (refused.returncode, "name a directory" in refused.stderr) == (2, True)
    done = proctor("export", tmp_path / "run", "--format", "lm-eval", "--out", tmp_path / "as")
    assert done.returncode == 0, done.stderr
    [results] = (tmp_path / "as").glob("*/results_*.json")
    [samples] = (tmp_path / "as").glob("*/samples_proctor_livecodebench_*.jsonl")
    found = json.loads(results.read_text())["results"]["proctor_livecodebench"]
    assert found["pass@1,standard"] == pytest.approx(1 / 3)
    rows = list(map(json.loads, samples.read_text().splitlines()))
    assert [row["filter"] for row in rows] == ["official"] * 4 + ["standard"] * 4
    assert json.loads(rows[0]["filtered_resps"][0][0])["verdict"] == "AC"
    assert rows[0]["resps"][0][2] == NOTHING


def test_the_place_of_tasks_for_lm_eval(proctor: Proctor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lm_eval", None)  # as where it is not installed
    missing = proctor("lm-eval")
    assert (missing.returncode, "pip install" in missing.stderr) == (2, True)
