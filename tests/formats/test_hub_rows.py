"""Rows as the hub's viewer serves them: all of one revision, or none."""

import json
import logging
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import stamina

from fake_hub import FakeHub, Viewer, serving
from proctor.errors import InfraFault, InputError
from proctor.formats.hub import HubSource
from proctor.formats.hub_client import ATTEMPTS
from proctor.formats.hub_rows import fetch_rows

SOURCE = HubSource("us/rows", config="v3")
ROWS = [{"question_id": f"q{n}", "tests": "ü" * n} for n in range(250)]


@pytest.fixture
def viewer() -> Viewer:
    return Viewer(list(ROWS))


@pytest.fixture
def hub(viewer: Viewer, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    with (
        serving(FakeHub({}, viewers={("us/rows", "v3"): viewer})) as running,
        stamina.set_testing(True, attempts=ATTEMPTS),
    ):
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        monkeypatch.delenv("HF_TOKEN", raising=False)
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        yield running


def fetched(cache: Path) -> list[dict[str, str]]:
    text = fetch_rows(SOURCE, "test", cache).read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def left(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.rglob("*") if path.is_file())


@pytest.mark.parametrize("count", [0, 1, 99, 100, 101, 250])
def test_all_pages(hub: FakeHub, viewer: Viewer, tmp_path: Path, count: int) -> None:
    del viewer.rows[count:]
    assert fetched(tmp_path) == ROWS[:count]
    assert len(hub.requests) == max(1, -(-count // 100))


def test_bad_days_are_waited_out(hub: FakeHub, tmp_path: Path) -> None:
    kinds = ("429", "503", "truncated page", "short page", "html", "moved")
    hub.faults = Counter(dict.fromkeys(kinds, 1))
    assert fetched(tmp_path) == ROWS
    assert not hub.faults.total()


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("truncated page", "cannot be reached|peer closed"),
        ("short page", "99 rows came instead of 100"),
        ("html", "row 0 and following"),
        ("429", "429"),
    ],
)
def test_what_stays_wrong_is_never_kept(
    hub: FakeHub, tmp_path: Path, fault: str, words: str
) -> None:
    hub.faults = Counter({fault: 1000})
    with pytest.raises(InfraFault, match=words):
        fetched(tmp_path)
    assert left(tmp_path) == []
    hub.faults.clear()
    assert fetched(tmp_path) == ROWS


def test_a_fault_in_a_later_page_keeps_nothing(
    hub: FakeHub, viewer: Viewer, tmp_path: Path
) -> None:
    viewer.cut = {217}
    with pytest.raises(InputError, match=r"cuts tests of row 217 \(q217\)"):
        fetched(tmp_path)
    assert left(tmp_path) == []


def test_a_split_of_which_only_the_beginning_is_there(
    hub: FakeHub, viewer: Viewer, tmp_path: Path
) -> None:
    viewer.partial = True
    with pytest.raises(InputError, match="only the beginning"):
        fetched(tmp_path)


def test_pages_of_two_revisions_are_not_mixed(hub: FakeHub, tmp_path: Path) -> None:
    @dataclass
    class Moving(Viewer):
        def __getattribute__(self, name: str) -> object:
            if name == "revision":
                return ("c" if len(hub.requests) < 3 else "d") * 40
            return super().__getattribute__(name)

    hub.viewers["us/rows", "v3"] = Moving(list(ROWS))
    with pytest.raises(InfraFault, match="has changed while"):
        fetched(tmp_path)
    assert left(tmp_path) == []


def test_a_revision_is_fetched_once(hub: FakeHub, viewer: Viewer, tmp_path: Path) -> None:
    fetched(tmp_path)
    hub.requests.clear()
    assert fetched(tmp_path) == ROWS
    assert len(hub.requests) == 1, "the first page says that nothing has changed"
    viewer.rows[0] = {"question_id": "new", "tests": ""}
    viewer.revision = "e" * 40
    assert fetched(tmp_path)[0]["question_id"] == "new"


def test_a_cached_file_that_has_changed_is_fetched_again(hub: FakeHub, tmp_path: Path) -> None:
    fetch_rows(SOURCE, "test", tmp_path).write_text("tampered")
    assert fetched(tmp_path) == ROWS


def test_the_cache_does_without_the_viewer(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = fetch_rows(SOURCE, "test", tmp_path)
    hub.faults = Counter({"503": 1000})
    with caplog.at_level(logging.WARNING):
        assert fetched(tmp_path) == ROWS
    assert "from before" in caplog.text
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert fetched(tmp_path) == ROWS
    path.write_text("tampered")
    with pytest.raises(InputError, match="not in the cache"):
        fetched(tmp_path)


def test_what_is_not_there(hub: FakeHub, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the hub has no row 0"):
        fetch_rows(HubSource("us/rows", config="v9"), "test", tmp_path)
