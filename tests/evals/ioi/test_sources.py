from collections.abc import Iterator
from pathlib import Path

import pytest

import ioi_task
from fake_hub import FakeHub, serving
from proctor.errors import InputError
from proctor.evals.ioi.sources import Sources
from proctor.formats.ioi_rows import task_keys


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    with serving(FakeHub(ioi_task.hub_sets())) as running:
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        monkeypatch.setenv("PROCTOR_CACHE_DIR", str(tmp_path / "cache"))
        yield running


def years(_files: list[Path]) -> set[int]:
    return {2024}


def test_the_tests_of_the_years_that_matter_are_fetched(hub: FakeHub) -> None:
    subtasks, tests = Sources().task_files(["hf:us/ioi"], years)
    assert task_keys(subtasks) == {(2024, "double"), (2023, "guess")}
    assert [path.read_bytes() for path in tests] == [
        hub.sets["us/ioi-test-cases"]["2024/train-0.jsonl"]
    ]
    named = Sources().task_files(["hf:us/ioi", "hf:us/ioi-test-cases:2023"], years)[1]
    assert [path.read_bytes() for path in named] == [
        hub.sets["us/ioi-test-cases"]["2023/train-0.jsonl"]
    ]


def test_local_tables(tmp_path: Path) -> None:
    directory = ioi_task.write_tasks(tmp_path / "tasks")
    ioi_task.write(directory / "solutions.jsonl", [ioi_task.submission("right")])
    both = [directory / "subtasks.jsonl"], [directory / "test_cases.jsonl"]
    assert Sources().task_files([str(directory)], years) == both
    assert Sources().task_files([str(directory / "subtasks.jsonl")], years) == both
    assert Sources().task_files([*map(str, both[0] + both[1])], years) == both


def test_what_holds_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="neither subtasks"):
        Sources().task_files([str(ioi_task.write(tmp_path / "s.jsonl", [{"code": "x"}]))], years)
    with pytest.raises(InputError, match="no table of subtasks"):
        Sources().task_files(
            [str(ioi_task.write(tmp_path / "t.jsonl", ioi_task.test_rows()))], years
        )
    with pytest.raises(InputError, match="there is no such file"):
        Sources().files(str(tmp_path / "gone.jsonl"))


def test_patterns(hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("us/models-b-fix", "us/models-a-fix", "us/models-a", "them/models-c-fix"):
        hub.sets[name] = {"train.jsonl": name.encode() + b"\n"}

    def read(source: str) -> list[str]:
        return [path.read_text().strip() for path in Sources().files(source)]

    assert read("hf:us/models-*-fix") == ["us/models-a-fix", "us/models-b-fix"]
    with pytest.raises(InputError, match="no data set us/none-\\* on the hub"):
        read("hf:us/none-*")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert read("hf:us/models-?-fix") == ["us/models-a-fix", "us/models-b-fix"]
    with pytest.raises(InputError, match="in the cache, and HF_HUB_OFFLINE is set"):
        read("hf:them/*")
    for name in ("one.jsonl", "two.jsonl", "[x].jsonl"):
        (tmp_path / name).write_text(name + "\n")
    assert read(f"{tmp_path}/t*.jsonl") == ["two.jsonl"]
    assert read(f"{tmp_path}/[x].jsonl") == ["[x].jsonl"]  # a name before a pattern
