from pathlib import Path

import pytest

from proctor.errors import InputError
from proctor.evals.ioi.report import load_thresholds, medal


def test_toml_and_json_say_the_same(tmp_path: Path) -> None:
    toml, json = tmp_path / "m.toml", tmp_path / "m.json"
    toml.write_text("[2024]\ngold = 300\nsilver = 200.5\nbronze = 100\n")
    json.write_text('{"2024": {"gold": 300, "silver": 200.5, "bronze": 100}}')
    assert (
        load_thresholds(toml)
        == load_thresholds(json)
        == {2024: {"gold": 300, "silver": 200.5, "bronze": 100}}
    )


def test_the_best_that_is_reached() -> None:
    limits = {"gold": 300.0, "silver": 200.5, "bronze": 100.0}
    assert [medal(points, limits) for points in (99.9, 100, 200.49, 200.5, 600)] == [
        None, "bronze", "bronze", "silver", "gold",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text", ["[2024\n", "gold = 1\n", "[then]\ngold = 1\n", '[2024]\ngold = "much"\n']
)
def test_bad_files(tmp_path: Path, text: str) -> None:
    path = tmp_path / "m.toml"
    path.write_text(text)
    with pytest.raises(InputError, match="m.toml"):
        load_thresholds(path)
    with pytest.raises(InputError, match="cannot be read"):
        load_thresholds(tmp_path / "none.toml")
