"""Origins of rows beside a results file: kept, found again, and no reason to refuse going on."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import InputError
from proctor.formats.results import ResultsFile
from proctor.formats.sidecar import InputFile, Origin, Sidecar, sidecar_of

SETTINGS = {"mode": "standard"}


def origin(cpu: str, *files: Path) -> Origin:
    return Origin.of({"problems": files}, {"cpu": cpu}, {"cpp17": "g++ 12"}, {"isolation": None})


def grown(path: Path, origin_: Origin | None, *rows: int) -> None:
    with ResultsFile(path, SETTINGS, origin_) as results:
        results.append_many({"row": row, "digest": "d"} for row in rows)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "results.jsonl"


def test_a_row_has_the_origin_under_which_it_was_written(path: Path) -> None:
    grown(path, origin("a"), 0, 1)
    grown(path, origin("a"))
    grown(path, origin("b"))  # which wrote nothing
    grown(path, origin("c"), 2)
    grown(path, origin("a"), 3)
    sidecar = Sidecar.of(path)
    assert sidecar.settings == SETTINGS
    assert [(each.rows, each.host["cpu"]) for each in sidecar.origins] == [
        (0, "a"), (2, "c"), (3, "a"),
    ]  # fmt: skip
    assert [sidecar.origin(row).host["cpu"] for row in range(4)] == ["a", "a", "c", "a"]


def test_rows_of_before_have_none(path: Path) -> None:
    grown(path, None, 0)
    before = sidecar_of(path).read_bytes()
    assert set(json.loads(before)) == {*SETTINGS, "signatures"}
    grown(path, None, 1)
    assert sidecar_of(path).read_bytes() == before
    grown(path, origin("a"), 2)
    sidecar = Sidecar.of(path)
    assert [sidecar.origin(row).host for row in range(3)] == [{}, {}, {"cpu": "a"}]


def test_a_half_written_row_is_not_counted(path: Path) -> None:
    grown(path, origin("a"), 0)
    with path.open("a") as file:
        file.write('{"row": 1, "dig')
    grown(path, origin("b"), 1)
    assert [each.rows for each in Sidecar.of(path).origins] == [0, 1]


def test_a_file_is_described_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "p.jsonl"
    file.write_bytes(b"abc")
    (tmp_path / "link").symlink_to(file)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    wanted = InputFile(str(file), 3, digest)
    assert origin("a", file, pipe, tmp_path / "link").files == {"problems": (wanted, wanted)}
    with pytest.raises(InputError, match="cannot be read"):
        InputFile.of(tmp_path / "gone")


@pytest.mark.parametrize(
    "origins", [1, [1], [{"rows": "x"}], [{"files": {"problems": [{"path": "p"}]}}]]
)
def test_broken_origins_are_said(path: Path, origins: Any) -> None:
    grown(path, None, 0)
    sidecar_of(path).write_text(json.dumps(SETTINGS | {"origins": origins}))
    with pytest.raises(InputError, match="cannot be read as settings"):
        Sidecar.of(path)
    with pytest.raises(InputError, match="cannot be read as settings"):
        ResultsFile(path, SETTINGS, origin("a"))


def test_origins_of_a_later_version_are_read(path: Path) -> None:
    grown(path, None, 0)
    later = [{"rows": 0, "host": {"cpu": "a"}, "more": [1]}]
    sidecar_of(path).write_text(json.dumps(SETTINGS | {"origins": later}))
    assert Sidecar.of(path).origin(0).host == {"cpu": "a"}


def test_settings_that_are_no_plain_file(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    beside = sidecar_of(results)
    os.mkfifo(beside)  # reading it would never end
    with pytest.raises(InputError, match="not a regular file"):
        Sidecar.of(results)
    beside.unlink()
    beside.touch()
    os.truncate(beside, 1 << 36)  # a file of no blocks
    with pytest.raises(InputError, match="more than"):
        Sidecar.of(results)
