"""LiveCodeBench from the hub: releases, and what is done where the first way to one is closed."""

import io
import json
import logging
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import stamina
from command import write_rows
from proctor_command import Proctor

from fake_hub import FakeHub, Viewer, serving
from proctor.errors import InfraFault, InputError, UnsupportedPlatform
from proctor.evals.livecodebench import sources
from proctor.evals.livecodebench.sources import open_source
from proctor.evals.selection import Filters, select
from proctor.formats.hub_client import ATTEMPTS

CONVERTED = f"{sources.MIRROR}@{sources.CONVERTED}"
RAW = f"hf:{sources.REPO}@main"
OWN, MADE = f"hf:{sources.MIRROR}@main:v1", f"hf:{CONVERTED}:v1"
SHOWN = f"rows of {OWN}"
TESTS = json.dumps([{"input": "1\n", "output": "1\n", "testtype": "stdin"}])


def row(question_id: str) -> dict[str, Any]:
    return {"question_id": question_id, "platform": "atcoder", "contest_date": "2024-08-01T00:00:00",
            "public_test_cases": TESTS, "private_test_cases": "[]", "starter_code": "",
            "metadata": "{}"}  # fmt: skip


def lines(names: list[str]) -> bytes:
    return b"".join(json.dumps(row(name)).encode() + b"\n" for name in names)


def parquet(names: list[str]) -> bytes:
    """With real times for dates, as the mirror may have them."""
    out = io.BytesIO()
    rows = [row(name) | {"contest_date": datetime(2024, 8, 1, tzinfo=UTC)} for name in names]
    pq.write_table(pa.Table.from_pylist(rows), out)
    return out.getvalue()


CARD = b"---\nconfigs:\n- config_name: v1\n  data_files: [{split: test, path: v1/test-*}]\n---\n"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeHub]:
    sets = {
        sources.REPO: {
            name: lines([f"{name}-{n}" for n in range(3)]) for name in sources.FILES
        },
        sources.MIRROR: {"README.md": CARD, "v1/test-0.parquet": parquet(["own"])},
        CONVERTED: {"v1/test/0000.parquet": parquet(["made"])},
    }  # fmt: skip
    viewers = {(sources.MIRROR, "v1"): Viewer([row("shown")])}
    with (
        serving(FakeHub(sets, viewers=viewers)) as running,
        stamina.set_testing(True, attempts=ATTEMPTS),
    ):
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        monkeypatch.setenv("PROCTOR_CACHE_DIR", str(tmp_path / "cache"))
        monkeypatch.delenv("HF_TOKEN", raising=False)
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        yield running


def close(hub: FakeHub, ways: int) -> None:
    """Close the first ways to a release."""
    for name in (sources.REPO, sources.MIRROR, CONVERTED)[:ways]:
        hub.sets[name] = {}
    if ways > 3:
        hub.viewers.clear()


def ids(source: str) -> list[str]:
    return [each.content["question_id"] for each in open_source(source).rows()]


def test_a_release_is_its_files_and_no_more(hub: FakeHub) -> None:
    """Defect 7: raw files of a data set that no longer loads by script."""
    assert ids("huggingface:v2_v3") == [
        f"test{file}.jsonl-{n}" for file in (2, 3) for n in range(3)
    ]
    assert not any("test4" in path for path in hub.requests)
    assert len(ids("huggingface")) == 9, "release_v3"


def test_a_filter_does_not_poison_the_cache(hub: FakeHub) -> None:
    """Defect 9: what a filtered load had fetched passed for the whole data set afterwards."""
    none = Filters(platforms=frozenset({"leetcode"}), positions=(1, 1))
    for closed in (0, 3):
        close(hub, closed)
        with pytest.raises(InputError, match="no problem is left"):
            select(open_source("huggingface:v1").infos(), none)
        assert len(ids("huggingface:v1")) == 3, "from the cache, the second time"


def test_the_cache_does_without_the_hub(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    open_source("huggingface:v1")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    asked = len(hub.requests)
    assert len(ids("huggingface:v1")) == 3
    assert len(hub.requests) == asked


@pytest.mark.parametrize(
    ("closed", "found", "way", "instead_of"),
    [
        (0, "test.jsonl-0", RAW, []),
        (1, "own", OWN, [RAW]),
        (2, "made", MADE, [RAW, OWN]),
        (3, "shown", SHOWN, [RAW, OWN, MADE]),
    ],
)
def test_the_first_way_that_is_open(
    hub: FakeHub, caplog: pytest.LogCaptureFixture, closed: int, found: str, way: str,
    instead_of: list[str],
) -> None:  # fmt: skip
    close(hub, closed)
    with caplog.at_level(logging.WARNING):
        source = open_source("huggingface:v1")
    assert next(iter(source.infos())).id == found
    (problem,) = source.instances([found])
    assert problem.published == date(2024, 8, 1)
    assert len(problem.tests) == 1
    for entry in source.provenance():
        assert (entry["from"], entry["instead_of"]) == (way, instead_of)
    assert all(each in caplog.text for each in instead_of)


def test_a_revision_is_upstream_s_or_none(hub: FakeHub) -> None:
    source = open_source(f"huggingface:v1@{hub.commit}")
    assert source.provenance()[0]["from"] == f"hf:{sources.REPO}@{hub.commit}"
    assert len(list(source.infos())) == 3
    with pytest.raises(InputError, match="or not at this revision"):
        open_source("huggingface:v1@no/such")
    assert not any(sources.MIRROR in path for path in hub.requests)


def test_every_way_is_closed(hub: FakeHub) -> None:
    close(hub, 4)
    with pytest.raises(InputError) as raised:
        open_source("huggingface:v1")
    assert all(way in str(raised.value) for way in (RAW, OWN, MADE, SHOWN))
    hub.faults["503"] = 1000
    with pytest.raises(InfraFault, match="503"):
        open_source("huggingface:v1")


def test_a_row_that_the_viewer_cuts_is_no_problem_with_fewer_tests(hub: FakeHub) -> None:
    close(hub, 3)
    hub.viewers[sources.MIRROR, "v1"].cut = {0}
    with pytest.raises(InputError, match=r"cuts metadata of row 0 \(shown\)"):
        open_source("huggingface:v1")


def test_the_beginning_of_a_conversion_is_not_it(hub: FakeHub) -> None:
    close(hub, 2)
    hub.sets[CONVERTED] = {"v1/partial-test/0000.parquet": parquet(["made"])}
    assert ids("huggingface:v1") == ["shown"]


def test_without_pyarrow(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:  # fmt: skip
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    close(hub, 1)
    assert ids("huggingface:v1") == ["shown"]
    assert not any("parquet" in path for path in hub.requests), "nothing is fetched in vain"
    hub.viewers.clear()
    hub.faults["503"] = 1000  # what is in the cache will do
    assert ids("huggingface:v1") == ["shown"]
    monkeypatch.setenv("PROCTOR_CACHE_DIR", str(tmp_path / "another"))
    with pytest.raises(InfraFault, match=r"pip install 'proctor\[parquet\]'"):
        open_source("huggingface:v1")
    table = tmp_path / "table.parquet"
    table.write_bytes(parquet(["local"]))
    with pytest.raises(UnsupportedPlatform, match=r"pyarrow: pip install 'proctor\[parquet\]'"):
        ids(str(table))


def test_a_data_set_that_changes_is_fetched_anew(hub: FakeHub) -> None:
    before = open_source("huggingface:v1")
    hub.sets[sources.REPO]["test.jsonl"] = lines(["new"])
    assert len(ids("huggingface:v1")) == 3, "a commit does not change"
    hub.commit = "d" * 40
    after = open_source("huggingface:v1")
    assert [info.id for info in after.infos()] == ["new"]
    assert len(list(before.infos())) == 3, "what a run was begun with is still there"
    assert before.provenance() != after.provenance()


def test_a_run_goes_on_with_what_it_was_begun_with(
    hub: FakeHub, proctor: Proctor, tmp_path: Path
) -> None:
    files = hub.sets[sources.REPO]
    close(hub, 1)
    replay = write_rows(tmp_path / "replay.jsonl", [{"question_id": "own", "code": "print(1)"}])
    done = proctor("eval", "livecodebench", "--source", "huggingface:v1", "--model",
                   f"replay:{replay}", "--mode", "standard", "--out", tmp_path / "run",
                   env={"PROCTOR_CACHE_DIR": str(tmp_path / "cache")})  # fmt: skip
    assert done.returncode == 0, done.stderr
    hub.sets[sources.REPO] = files
    hub.commit = "d" * 40
    again = proctor("rejudge", tmp_path / "run", "--json",
                    env={"PROCTOR_CACHE_DIR": str(tmp_path / "cache")})  # fmt: skip
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["standard"]["passed"] == 1
