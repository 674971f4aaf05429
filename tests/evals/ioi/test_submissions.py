from pathlib import Path
from typing import Any

import pytest

import ioi_task
from proctor.errors import InputError
from proctor.evals.ioi.submissions import IoiSubmission, check_targets, read_submissions


def read(
    tmp_path: Path, *rows: dict[str, Any], always_extract: bool = False
) -> list[IoiSubmission]:
    path = ioi_task.write(tmp_path / "s.jsonl", list(rows))
    return list(read_submissions([path], always_extract=always_extract))


def test_a_row(tmp_path: Path) -> None:
    row = {"uuid": "u", "year": 2023, "problem_id": "p", "code": "x", "language": "C++", "solution_number": 7,
           "target_subtask": "1", "model_kwargs": {"model": "m"}, "odd": [1]}  # fmt: skip
    (got,) = read(tmp_path, row)
    assert (got.key, got.task, got.code, got.language, got.target) == (
        "u/7",
        (2023, "p"),
        "x",
        "cpp17",
        "1",
    )
    assert got.fields == row


def test_defaults(tmp_path: Path) -> None:
    first, second, third = read(
        tmp_path,
        {"uuid": "u", "problem_id": "p", "code": "x"},
        {"uuid": "u", "problem_id": "p", "code": "y"},
        {"problem_id": "p", "code": "y"},
    )
    assert (first.year, first.language, first.target) == (2024, "cpp17", None)
    assert (first.key, second.key) == ("u/0", "u/1")
    (again,) = read(tmp_path, {"problem_id": "p", "code": "y"})
    assert again.key == third.key != second.key


def test_another_field_names_it(tmp_path: Path) -> None:
    rows = [
        {"uuid": "u", "label": "a.cpp", "problem_id": "p", "code": "x"},
        {"uuid": "u", "label": 7, "problem_id": "p", "code": "y"},
    ]
    path = ioi_task.write(tmp_path / "s.jsonl", rows)
    named = list(read_submissions([path], id_column="label"))
    assert [each.key for each in named] == ["a.cpp/0", "7/0"]
    with pytest.raises(InputError, match="line 1, field `name`: is missing; --id-column"):
        list(read_submissions([path], id_column="name"))
    path = ioi_task.write(tmp_path / "s.jsonl", [rows[0] | {"label": ["a"]}])
    with pytest.raises(InputError, match="field `label`: is not a name"):
        list(read_submissions([path], id_column="label"))


def test_where_the_code_comes_from(tmp_path: Path) -> None:
    reply = "```cpp\nfrom the reply\n```"
    both = {"problem_id": "p", "code": "given", "generation": reply}
    assert read(tmp_path, both)[0].code == "given"
    assert read(tmp_path, both, always_extract=True)[0].code == "from the reply\n"
    assert read(tmp_path, both | {"code": " \n"})[0].code == "from the reply\n"
    assert read(tmp_path, {"problem_id": "p", "generation": reply})[0].code == "from the reply\n"
    assert read(tmp_path, {"problem_id": "p", "generation": "I do not know"})[0].code is None
    assert read(tmp_path, {"problem_id": "p", "code": ""})[0].code is None


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"code": "x"}, "line 1, field `problem_id`: is missing"),
        ({"problem_id": "p"}, "line 1, field `code`: is missing"),
        ({"problem_id": "p", "code": 1}, "line 1, field `code`"),
        (
            {"problem_id": "p", "code": "x", "language": "klingon"},
            "field `language`: 'klingon' is not a language",
        ),
        ({"problem_id": "p", "code": "x", "year": "then"}, "field `year`"),
    ],
)
def test_bad_rows(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, row)
    assert said in str(caught.value)


def test_two_of_one_name(tmp_path: Path) -> None:
    row = {"uuid": "u", "solution_number": 0, "problem_id": "p", "code": "x"}
    with pytest.raises(
        InputError, match=r"line 2, field `solution_number`: u/0 is there already, in line 1"
    ):
        read(tmp_path, row, row)


def test_targets_are_checked(tmp_path: Path) -> None:
    known = {(2024, "p"): ["a", "b"]}
    with_target, without = read(
        tmp_path, {"problem_id": "p", "code": "x", "subtask": "c"}, {"problem_id": "p", "code": "x"}
    )
    with pytest.raises(InputError, match="p has no subtask 'c'; it has a, b"):
        check_targets([with_target], known, needed=False)
    check_targets([without], known, needed=False)
    with pytest.raises(InputError, match="line 2, field `subtask`: is missing"):
        check_targets([without], known, needed=True)
