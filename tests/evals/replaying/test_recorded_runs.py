"""Samples of runs of `proctor eval`, judged again by the real command."""

import json
import shutil
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
import pytest
from command import problem, write_rows
from proctor_command import Done, Proctor

import ioi_task
from proctor.evals.store import RunStore

BUNDLED = Path(str(files("proctor") / "bundled"))
CODE = {"right": "a, b = map(int, input().split())\nprint(a + b)", "wrong": "print(7)"}


def run(proctor: Proctor, place: Path, replies: list[dict[str, Any]], *family: str | Path) -> Path:
    recording = write_rows(place / "replies.jsonl", replies)
    done = proctor("eval", *family, "--model", f"replay:{recording}", "--out", place / "run")
    assert done.returncode == 0, done.stderr
    return place / "run"


def same(done: Done, verdict: str) -> dict[str, Any]:
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    assert (found["said"], found["then"]["verdict"]) == (f"same verdict: {verdict}", verdict)
    return found


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Problems one of whose ids has the form of a sample's name."""
    tests = [("3 4\n", "7\n"), ("1 2\n", "3\n")]
    return write_rows(tmp_path / "problems.jsonl", [problem("sum", tests), problem("a:0", tests)])


@pytest.fixture
def two_modes(proctor: Proctor, tmp_path: Path, source: Path) -> Path:
    replies = [{"question_id": each, "code_list": [CODE["right"], CODE["wrong"]]}
               for each in ("sum", "a:0")]  # fmt: skip
    return run(proctor, tmp_path, replies, "livecodebench", "--source", source,
               "--test-timeout", "2s")  # fmt: skip


def test_a_sample_judged_by_two_rules(proctor: Proctor, two_modes: Path) -> None:
    for mode, memory in (("official", 4 << 30), ("standard", 1 << 30)):
        for name, number, verdict in (("sum", 0, "AC"), ("sum", 1, "WA"), ("a:0", 1, "WA")):
            record = f"{two_modes}#{name}:{number}:{mode}"
            found = same(proctor("replay", record, "--json"), verdict)
            assert (found["record"], found["problem"]) == (record, name)
            assert (found["settings"]["mode"], found["limits"]["cpu"]) == (mode, 2)
            assert found["limits"]["memory"] == memory
            for fact in ("proctor", "python", "system", "cpu", "isolation"):
                assert found["then"][fact] == found["now"][0][fact] != ""


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ("sum:1", "it was judged by two rules: "),
        ("sum", "it was judged by two rules: "),
        ("sum:9:official", "there is no such sample; a sample is PROBLEM:SAMPLE"),
        ("none:0", "has no sample 'none:0'; a sample is PROBLEM:SAMPLE"),
        ("", "a sample is PROBLEM:SAMPLE, or PROBLEM:SAMPLE:MODE"),
    ],
)
def test_a_sample_that_is_not_named(
    proctor: Proctor, two_modes: Path, wanted: str, says: str
) -> None:
    done = proctor("replay", f"{two_modes}#{wanted}")
    assert done.returncode == 2
    assert says in done.stderr


def test_a_sample_without_a_verdict(proctor: Proctor, tmp_path: Path, source: Path) -> None:
    replies = [{"question_id": "sum", "code": CODE["right"]}]
    place = run(proctor, tmp_path, replies, "livecodebench", "--source", source, "--no-run-tests")
    done = proctor("replay", f"{place}#sum:0")
    assert done.returncode == 2
    assert "it was not judged; `proctor resume` judges it" in done.stderr


def test_changed_and_moved_problems(proctor: Proctor, two_modes: Path, source: Path) -> None:
    content = source.read_text()
    source.write_text(content.replace("7", "8"))
    changed = proctor("replay", f"{two_modes}#sum:0:official")
    assert changed.returncode == 2
    assert f"{source}: holds other problems than when {two_modes} was begun" in changed.stderr
    source.unlink()
    assert proctor("replay", f"{two_modes}#sum:0:official").returncode == 2
    moved = source.with_name("elsewhere.jsonl")
    moved.write_text(content)
    record = (f"{two_modes}#sum:0:official", "--problems", moved, "--json")
    same(proctor("replay", *record), "AC")


def test_a_flipped_verdict_is_told(proctor: Proctor, two_modes: Path) -> None:
    with RunStore.open(two_modes, write=True) as store:
        sample = next(store.samples("sum"))
        (judged,) = (each for each in sample.judgements if each.mode == "standard")
        store.write([msgspec.structs.replace(judged, verdict="TLE")])
    done = proctor("replay", f"{two_modes}#sum:0:standard")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "differs: AC, was TLE"


@pytest.mark.slow
def test_unit_tests(proctor: Proctor, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (BUNDLED / "humaneval.jsonl").read_text().splitlines()]
    right, wrong = ([row["prompt"] + body for row in rows]
                    for body in (rows[0]["canonical_solution"], "    return None\n"))  # fmt: skip
    replies = [{"task_id": rows[0]["task_id"], "solution": each} for each in (right[0], wrong[0])]
    place = run(proctor, tmp_path, replies, "humaneval")
    for number, verdict in ((0, "AC"), (1, "WA")):
        for mode in ("official", "standard"):
            record = f"{place}#{rows[0]['task_id']}:{number}:{mode}"
            found = same(proctor("replay", record, "--json"), verdict)
            assert found["problem"] == rows[0]["task_id"]
            assert "solution.py" in found["program"]["files"]
    record = f"{place}#{rows[0]['task_id']}:1:standard"
    assert proctor("replay", record, "--bundle", tmp_path / "b").returncode == 0
    shutil.rmtree(place)
    assert (tmp_path / "b" / "beside" / "solution.py").read_text().strip() == wrong[0].strip()
    same(proctor("replay", tmp_path / "b", "--json"), "WA")


@pytest.mark.slow
def test_tests_that_a_program_broke(proctor: Proctor, tmp_path: Path) -> None:
    """They count as WA since the known solution passes them; a replay asks that again."""
    row = {
        "task_id": 1, "text": "Return it.", "code": "def first(items):\n    return items[0]\n",
        "test_list": ["import os\nif first([1]) != 1: os._exit(3)"],
    }  # fmt: skip
    source = write_rows(tmp_path / "mbpp.jsonl", [row])
    code = "def first(items):\n    return 2\n"
    place = run(proctor, tmp_path, [{"task_id": "1", "solution": code}], "mbpp",
                "--source", source, "--mode", "standard")  # fmt: skip
    with RunStore.open(place) as store:
        ((judged,),) = (sample.judgements for sample in store.samples())
    assert judged.verdict == "WA"
    same(proctor("replay", f"{place}#1:0", "--json"), "WA")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wanted", "answers"), [("output", ("output", "'x'")), ("input", ("input", "1"))]
)
def test_predictions(
    proctor: Proctor, tmp_path: Path, wanted: str, answers: tuple[str, str]
) -> None:
    row = json.loads((BUNDLED / "cruxeval.jsonl").read_text().splitlines()[0])
    replies = [{"id": row["id"], "code": each} for each in (row[answers[0]], answers[1])]
    if wanted == "input":
        replies[0]["code"] = f"f({row['input']})"
    place = run(proctor, tmp_path, replies, "cruxeval", "--task", wanted)
    for mode in ("official", "standard"):
        same(proctor("replay", f"{place}#{row['id']}:0:{mode}", "--json"), "AC")
        done = proctor("replay", f"{place}#{row['id']}:1:{mode}", "--json")
        assert done.returncode == 0
        assert json.loads(done.stdout)["then"]["verdict"] != "AC"
    assert proctor("replay", f"{place}#{row['id']}:0:official",
                   "--bundle", tmp_path / "b.zip").returncode == 0  # fmt: skip
    same(proctor("replay", tmp_path / "b.zip", "--json"), "AC")


@pytest.mark.slow
@pytest.mark.compiler
@pytest.mark.parametrize("all_subtasks", [False, True])
def test_subtasks_of_the_ioi(proctor: Proctor, tmp_path: Path, all_subtasks: bool) -> None:
    tasks = ioi_task.write_tasks(tmp_path / "tasks")
    replies = [{"question_id": "2024-double-1-small", "code": ioi_task.SOLUTIONS["small"]},
               {"question_id": "2024-double-2-all", "code": ioi_task.SOLUTIONS["small"]}]  # fmt: skip
    place = run(proctor, tmp_path, replies, "ioi", "--source", tasks,
                *(("--all-subtasks",) if all_subtasks else ()))  # fmt: skip
    for reply in replies:
        done = proctor("replay", f"{place}#{reply['question_id']}:0", "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        found = json.loads(done.stdout)
        subtask = reply["question_id"].removeprefix("2024-double-")
        assert found["subtasks"] == (None if all_subtasks else [subtask])
        assert found["then"]["points"] == found["now"][0]["points"]
    tasks.rename(tmp_path / "moved")
    record = f"{place}#2024-double-1-small:0"
    assert proctor("replay", record).returncode == 2
    assert proctor("replay", record, "--tasks", tmp_path / "moved").returncode == 0
