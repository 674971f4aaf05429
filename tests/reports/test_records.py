"""Files of records that somebody else made up: told by file and line, and read within bounds."""

import json
import os
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from proctor.cli.eval_settings import _file as settings_file
from proctor.errors import InputError
from proctor.evals.ioi.report import load_thresholds
from proctor.evals.prices import read_prices
from proctor.reports.contamination import MOST_MONTHS, largest_step
from proctor.reports.errata import read_errata
from proctor.reports.figures import figures
from proctor.reports.html.page import render
from proctor.reports.published import read_published
from proctor.reports.records import (
    PROVENANCE_SUFFIX,
    RunRecords,
    SampleRecord,
    read_run,
    write_provenance,
)
from proctor.reports.tallies import Mode, tally
from proctor.solver.profile import _read as load_profile
from proctor.verdict import Verdict

DEEP = "[" * 100_000 + "]" * 100_000


def written(directory: Path, **more: Any) -> Path:
    place = directory / "records.jsonl"
    place.write_text(json.dumps({"problem_id": "p", "sample": 0, "standard": "AC", **more}) + "\n")
    return place


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("prompt_tokens", 10**30), ("completion_tokens", (1 << 63) - 1), ("turns", 1 << 62),
        ("slowest_share", 1e308), ("judge_cpu", 1e308), ("cost", -1), ("sample", -1),
    ],
)  # fmt: skip
def test_a_number_that_no_sample_has(tmp_path: Path, name: str, value: float) -> None:
    with pytest.raises(InputError, match=f"line 1: .*{name}"):
        read_run(written(tmp_path, **{name: value}))


def test_what_is_too_deep(tmp_path: Path) -> None:
    place = tmp_path / "records.jsonl"
    place.write_text(f'{{"problem_id": "p", "sample": 0, "detail": {DEEP}}}\n')
    with pytest.raises(InputError, match="line 1: no sample record"):
        read_run(place)
    place = written(tmp_path)
    Path(f"{place}{PROVENANCE_SUFFIX}").write_text(f'{{"a": {DEEP}}}')
    with pytest.raises(InputError, match="no JSON object"):
        read_run(place)


@pytest.mark.parametrize(
    "read", [read_published, read_errata, load_thresholds, read_prices, load_profile, settings_file]
)
def test_tables_that_are_too_deep(tmp_path: Path, read: Callable[[Path], Any]) -> None:
    place = tmp_path / "table.toml"
    place.write_text(f"a = {DEEP}")
    with pytest.raises(InputError):
        read(place)


def test_a_provenance_that_is_no_plain_file(tmp_path: Path) -> None:
    place = written(tmp_path)
    beside = Path(f"{place}{PROVENANCE_SUFFIX}")
    os.mkfifo(beside)
    with pytest.raises(InputError, match="not a regular file"):
        read_run(place)
    beside.unlink()
    beside.touch()
    os.truncate(beside, 1 << 36)
    with pytest.raises(InputError, match="has 68719476736 bytes, more than"):
        read_run(place)


def released(*days: date) -> RunRecords:
    records = [
        SampleRecord(f"p{at}", 0, published=day, standard=Verdict.AC if at % 2 else Verdict.WA)
        for at, day in enumerate(days)
    ]
    return RunRecords("made up", records)


def test_years_of_fewer_than_four_digits() -> None:
    found = figures(released(date(1, 1, 1), date(987, 6, 5), date(2024, 1, 1)), Mode.STANDARD)
    assert list(found.months) == ["0001-01", "0987-06", "2024-01"]
    assert "0987-06" in "".join(render([found]))


def test_more_months_than_a_step_is_looked_for_in() -> None:
    days = [date(1 + at // 12, 1 + at % 12, 1) for at in range(MOST_MONTHS + 1)]
    assert largest_step(tally(released(*days[1:]).records, Mode.STANDARD)) is not None
    assert largest_step(tally(released(*days).records, Mode.STANDARD)) is None


def test_provenance_behind_a_link_is_not_read(tmp_path: Path) -> None:
    place = tmp_path / "run.jsonl"
    place.write_text('{"problem_id": "a", "sample": 0}\n')
    private = tmp_path / "config.json"
    private.write_text('{"auths": {"registry": "secret"}}')
    beside = Path(f"{place}{PROVENANCE_SUFFIX}")
    for target in (private, tmp_path / "absent"):
        beside.symlink_to(target)
        with pytest.raises(InputError, match="cannot be read: it is a link"):
            read_run(place)
        with pytest.raises(InputError, match="is a link"):
            write_provenance(place, {"a": 1})
        beside.unlink()
    assert private.read_text() == '{"auths": {"registry": "secret"}}'


def test_provenance_has_so_many_levels(tmp_path: Path) -> None:
    place = tmp_path / "run.jsonl"
    place.write_text('{"problem_id": "a", "sample": 0}\n')
    beside = Path(f"{place}{PROVENANCE_SUFFIX}")
    beside.write_text('{"judge": ' + "[" * 330 + "]" * 330 + "}")
    with pytest.raises(InputError, match="has more than 64 levels") as caught:
        read_run(place)
    assert (caught.value.file, caught.value.field) == (str(beside), "judge")
