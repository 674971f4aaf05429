"""Reading programs: JSONL and lcb_runner's custom output, good rows before a bad one."""

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import InputError
from proctor.formats.livecodebench import problem_ids
from proctor.formats.programs import SubmittedProgram, load_programs, read_programs

IDS = ["b", "a", "abc301_c"]


def lines(path: Path, *rows: Any) -> Path:
    file = path / "programs.jsonl"
    file.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows))
    return file


def array(path: Path, content: Any, **options: Any) -> Path:
    file = path / "programs.json"
    file.write_text(json.dumps(content, **options))
    return file


def good(file: Path) -> list[SubmittedProgram]:
    submissions, error = load_programs(file, IDS)
    assert error is None
    return submissions


def bad(file: Path) -> tuple[list[SubmittedProgram], InputError]:
    submissions, error = load_programs(file, IDS)
    assert error is not None
    assert error.file == str(file)
    return submissions, error


def test_one_program_a_line(tmp_path: Path) -> None:
    file = lines(
        tmp_path,
        {"question_id": "a", "code": "print(1)", "model": "m", "n": [1]},
        "",
        {"question_id": "b", "code": ""},
        {"question_id": "a", "code": " \n"},
    )
    assert good(file) == [
        SubmittedProgram(0, "a", 0, "print(1)", {"model": "m", "n": [1]}),
        SubmittedProgram(1, "b", 0, ""),
        SubmittedProgram(2, "a", 1, " \n"),
    ]


def test_code_lists_expand_and_count_on(tmp_path: Path) -> None:
    file = lines(
        tmp_path,
        {"question_id": "a", "code_list": ["x", "y"], "model": "m"},
        {"question_id": "b", "code": "z"},
        {"question_id": "a", "code_list": ["w"]},
    )
    found = [(s.row, s.question_id, s.index, s.code) for s in good(file)]
    assert found == [(0, "a", 0, "x"), (1, "a", 1, "y"), (2, "b", 0, "z"), (3, "a", 2, "w")]
    assert good(file)[1].extra == {"model": "m"}


@pytest.mark.parametrize("indent", [None, 2])
def test_custom_output_of_objects(tmp_path: Path, indent: int | None) -> None:
    content = [
        {"question_id": "b", "code_list": ["x", "y"], "seed": 1},
        {"question_id": "a", "code": "z"},
    ]
    assert good(array(tmp_path, content, indent=indent)) == [
        SubmittedProgram(0, "b", 0, "x", {"seed": 1}),
        SubmittedProgram(1, "b", 1, "y", {"seed": 1}),
        SubmittedProgram(2, "a", 0, "z"),
    ]


def test_custom_output_of_lists_is_in_the_order_of_ids(tmp_path: Path) -> None:
    file = array(tmp_path, [["for a"], ["for abc301_c", "2"], ["for b"]])
    found = [(s.question_id, s.index, s.code) for s in good(file)]
    assert found == [
        ("a", 0, "for a"),
        ("abc301_c", 0, "for abc301_c"),
        ("abc301_c", 1, "2"),
        ("b", 0, "for b"),
    ]


def test_lists_need_one_per_problem(tmp_path: Path) -> None:
    submissions, error = bad(array(tmp_path, [["x"], ["y"]]))
    assert submissions == []
    assert "2 lists for 3 problems" in error.message


@pytest.mark.parametrize(
    ("line", "field", "words"),
    [
        ('{"question_id": "a", "code": "x"', None, "broken JSON: it breaks off"),
        ("half a line", None, "broken JSON"),
        ("3", None, "expected `object`, got `int`"),
        ({"code": "x"}, "question_id", "is missing"),
        ({"question_id": 5, "code": "x"}, "question_id", "expected `str`, got `int`"),
        ({"question_id": "a"}, "code", "is missing; give `code` or `code_list`"),
        ({"question_id": "a", "code": None}, "code", '"" where there is none'),
        ({"question_id": "a", "code": 5}, "code", "expected `str`, got `int`"),
        ({"question_id": "a", "code_list": "x"}, "code_list", "expected `array`, got `str`"),
        (
            {"question_id": "a", "code_list": ["", "", "", 7]},
            "code_list[3]",
            "expected `str`, got `int`",
        ),
        ({"question_id": "a", "code_list": []}, "code_list", "is empty"),
        ({"question_id": "a", "code": "", "code_list": [""]}, "code_list", "only one of them"),
        ({"question_id": "abc301_d", "code": "x"}, "question_id", "did you mean 'abc301_c'?"),
        ({"question_id": "zzzz", "code": "x"}, "question_id", "there is no problem 'zzzz'"),
    ],
)
def test_a_bad_line_keeps_the_good_ones_before_it(
    tmp_path: Path, line: Any, field: str | None, words: str
) -> None:
    first = {"question_id": "a", "code_list": ["x", "y"]}
    submissions, error = bad(lines(tmp_path, first, "", line, first))
    assert [s.code for s in submissions] == ["x", "y"]
    assert (error.line, error.field) == (3, field)
    assert words in error.message
    assert error.exit_code == 2


@pytest.mark.parametrize(
    ("content", "before", "field", "words"),
    [
        ([{"question_id": "a", "code": "x"}, 3], 1, "[1]", "expected `object`"),
        (
            [{"question_id": "a", "code": "x"}, {"question_id": "b", "code_list": ["", None]}],
            1,
            "[1].code_list[1]",
            "expected `str`, got `null`",
        ),
        ([["x"], ["y", 3], ["z"]], 1, "[1][1]", "expected `str`, got `int`"),
        ([["x"], [], ["z"]], 1, "[1]", "is empty"),
        ([["x"], {"question_id": "a"}, ["z"]], 1, "[1]", "expected `array`"),
        (["x"], 0, "[0]", "expected `object`, got `str`"),
    ],
)
def test_a_bad_item_of_an_array(
    tmp_path: Path, content: Any, before: int, field: str, words: str
) -> None:
    submissions, error = bad(array(tmp_path, content))
    assert len(submissions) == before
    assert (error.line, error.field) == (None, field)
    assert words in error.message


def test_a_broken_array_says_the_line(tmp_path: Path) -> None:
    file = lines(tmp_path, "[", "", '  {"question_id": "a", "code": "x"},', "  oops", "]")
    _, error = bad(file)
    assert error.line == 4


def test_nothing_is_read_ahead(tmp_path: Path) -> None:
    file = lines(tmp_path, {"question_id": "a", "code": "x"}, "broken")
    programs = read_programs(file, IDS)
    assert next(programs).code == "x"
    with pytest.raises(InputError, match="line 2"):
        next(programs)


def test_empty_and_absent_files(tmp_path: Path) -> None:
    assert good(lines(tmp_path)) == []
    assert good(lines(tmp_path, "", " ")) == []
    assert good(array(tmp_path, [])) == []
    _, error = bad(tmp_path / "absent")
    assert "No such file" in error.message


def test_lone_surrogates_in_a_program(tmp_path: Path) -> None:
    file = lines(tmp_path, '{"question_id": "a", "code": "print(\'\\ud800\')"}')
    assert good(file)[0].code == "print('\ud800')"


def test_real_programs(test_data: Path) -> None:
    data = test_data / "livecodebench"
    submissions, error = load_programs(
        data / "programs.jsonl", problem_ids(data / "problems.jsonl")
    )
    assert error is None
    assert [s.row for s in submissions] == list(range(942))
    assert {s.index for s in submissions} == {0, 1}
    assert set(submissions[0].extra) == {"model", "leaderboard_passed", "leaderboard_metadata"}
