"""What is written of timetables elsewhere: the reference page and the schemas."""

import json
import random
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
from timetable_worlds import make

from proctor.errors import InputError
from proctor.timetable.checking import KINDS
from proctor.timetable.instance import instance
from proctor.timetable.reading import BaseKind
from proctor.timetable.reference import FAMILIES, table
from waiting import PATIENCE

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "timetable-kinds.md"


def schema(name: str) -> Any:
    text = files("proctor.timetable").joinpath(name).read_text("utf-8")
    found = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(found)
    return jsonschema.Draft202012Validator(found)


def test_the_page_is_what_the_registry_says() -> None:
    asked = [sys.executable, str(ROOT / "tools" / "build_timetable_kinds.py"), "--check"]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert PAGE.read_text("utf-8").endswith(table())


def test_every_kind_has_a_row_that_says_what_it_means() -> None:
    assert {each.family for each in KINDS.values()} == set(FAMILIES)
    for kind in KINDS.values():
        assert kind.meaning.endswith(".")
        assert kind.unit
        assert table().count(f"| `{kind.name}` |") == 1


def test_every_base_check_is_on_the_page() -> None:
    page = PAGE.read_text("utf-8")
    assert [each for each in get_args(BaseKind) if f"`{each}`" not in page] == []


@pytest.mark.parametrize("seed", range(5))
def test_the_input_schema_takes_what_the_validator_takes(seed: int) -> None:
    data = make(random.Random(seed)).data
    schema("input.schema.json").validate(data)
    instance(data)


@pytest.mark.parametrize(
    "change",
    [
        {"days": []},
        {"periods": ["1"]},
        {"periods": [2**60]},
        {"classes": None},
        {"classes": ["a", "a"]},
        {"assignments": [{"id": 1, "subject": "s", "teacher": None}]},
        {"assignments": [{"id": 1, "subject": "s", "weeklyPeriods": 1}]},
        {"assignments": [{"id": 1, "subject": "s", "teacher": None, "weeklyPeriods": -1}]},
        {"constraints": [{"id": 1, "kind": "x", "severity": "harsh"}]},
        {"constraints": [{"id": 1, "kind": "x", "severity": "soft", "weight": -1}]},
        {"constraints": [{"id": 1, "kind": "x", "severity": "soft", "params": []}]},
        {"constraints": [{"id": None, "kind": "x", "severity": "soft"}]},
        {"rooms": [{"id": "R"}]},
        {"sessions": [{"id": "S"}]},
        {"periodsByDay": [1]},
        {"warmStartSchedule": ["a"]},
    ],
    ids=str,
)
def test_the_input_schema_refuses_what_the_validator_refuses(change: dict[str, Any]) -> None:
    data = {**make(random.Random(1)).data, **change}
    with pytest.raises(InputError):
        instance(data)
    assert not schema("input.schema.json").is_valid(data)


@pytest.mark.parametrize(
    ("result", "fine"),
    [
        ({"status": "OPTIMAL", "schedule": []}, True),
        ({"status": "feasible", "schedule": [3], "objective": None, "bound": 1.5}, True),
        ({"status": "FEASIBLE"}, False),
        ({"status": "Optimal"}, False),
        ({"status": "INFEASIBLE"}, True),
        ({"status": "INFEASIBLE", "schedule": {}}, False),
        ({"status": 4, "schedule": []}, False),
        ({"schedule": []}, False),
        ({"status": "OPTIMAL", "schedule": [], "objective": "low"}, False),
        ({"status": "OPTIMAL", "schedule": [], "unsupportedSoftKinds": [1]}, False),
        ({"status": "OPTIMAL", "schedule": [], "incumbents": [{"t": 1, "objective": 3}]}, True),
        ({"status": "OPTIMAL", "schedule": [], "anything": {"else": 1}}, True),
        ([], False),
    ],
)
def test_the_result_schema(result: Any, fine: bool) -> None:
    assert schema("result.schema.json").is_valid(result) == fine
