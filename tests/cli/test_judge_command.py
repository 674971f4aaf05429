"""`proctor judge`: verdicts, and bad input told by file, line and field."""

import json
from pathlib import Path
from typing import Any

import pytest
from command import problem, proctor, write_rows

SUMS = problem("sums", [("1 2\n", "3\n"), ("3 4\n", "7\n")], platform="atcoder", difficulty="easy")
RIGHT, WRONG = "print(sum(map(int, input().split())))", "print(3)"


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "problems.jsonl", [SUMS, problem("empty", [])])


def judge(problems: Path, programs: Path, *options: str | Path) -> tuple[int, str, str]:
    done = proctor("judge", "--problems", problems, "--programs", programs, *options)
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("options", [[], ["--fast"], ["--mode", "official"], ["--jobs", "1"]])
def test_good_input(options: list[str], problems: Path, tmp_path: Path) -> None:
    programs = write_rows(
        tmp_path / "programs.jsonl",
        [{"question_id": "sums", "code": code} for code in (RIGHT, WRONG, "1 / 0", "")],
    )
    out = tmp_path / "out.jsonl"
    code, shown, said = judge(problems, programs, "--json", "--out", out, *options)
    assert (code, said) == (0, "")
    verdicts = {row["row"]: row["verdict"] for row in rows(out)}
    assert [verdicts[n] for n in range(3)] == ["AC", "WA", "RE"]
    assert not any(row["passed"] for row in rows(out) if row["row"] != 0)
    assert json.loads(shown)["total"] == 4


def test_a_problem_without_tests_is_a_task_fault_and_never_a_pass(
    problems: Path, tmp_path: Path
) -> None:
    programs = write_rows(
        tmp_path / "programs.jsonl",
        [{"question_id": "empty", "code": code} for code in (RIGHT, "", "import os; os._exit(0)")],
    )
    for mode in ("standard", "official"):
        out = tmp_path / f"{mode}.jsonl"
        code, shown, _ = judge(problems, programs, "--out", out, "--mode", mode, "--json")
        assert code == 0
        for row in rows(out):
            assert (row["verdict"], row["passed"], row["score"]) == ("TASK_FAULT", False, 0.0)
        figures = json.loads(shown)
        assert figures["task_faults"] == 3
        assert (figures["scored"], figures["passed"]) == (0, 0), "a fault is not a wrong answer"


GOOD = {"question_id": "sums", "code": RIGHT}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bad", "field", "said"),
    [
        ("{broken", None, "broken JSON"),
        ('["not", "an object"]', None, "object"),
        ({"question_id": "sums", "code": 5}, "code", "a program is a string"),
        ({"question_id": "sums", "code": None}, "code", "a program is a string"),
        ({"question_id": "sums", "code_list": ["x", 5]}, "code_list[1]", "a program is a string"),
        ({"question_id": "sums", "code_list": []}, "code_list", "is empty"),
        ({"question_id": "sums"}, "code", "is missing"),
        (
            {"question_id": "sum", "code": ""},
            "question_id",
            "no problem 'sum'; did you mean 'sums'",
        ),
        ({"question_id": 5, "code": ""}, "question_id", ""),
        ({"code": ""}, "question_id", "is missing"),
    ],
)
def test_a_bad_program_row_is_named_and_the_good_ones_are_kept(
    bad: Any, field: str | None, said: str, problems: Path, tmp_path: Path
) -> None:
    programs = write_rows(
        tmp_path / "programs.jsonl", [GOOD, {"question_id": "sums", "code": WRONG}, bad, GOOD]
    )
    out = tmp_path / "out.jsonl"
    code, _, message = judge(problems, programs, "--out", out)
    assert code == 2, message
    assert f"{programs}, line 3" in message
    if field is not None:
        assert f"field `{field}`" in message
    assert said in message
    kept = sorted((row["row"], row["verdict"]) for row in rows(out))
    assert kept == [(0, "AC"), (1, "WA")], "what stands before the bad row is judged and kept"
    # Repaired, the same command goes on from there.
    write_rows(programs, [GOOD, {"question_id": "sums", "code": WRONG}, GOOD])
    before = out.read_text()
    code, _, message = judge(problems, programs, "--out", out)
    assert (code, message) == (0, "")
    assert out.read_text().startswith(before)
    assert sorted(row["row"] for row in rows(out)) == [0, 1, 2]


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("{broken", "broken JSON"),
        ("[]", "object"),
        ({"question_id": "b", "public_test_cases": 5}, "field `public_test_cases`"),
        ({"question_id": "b", "public_test_cases": "no JSON!"}, "field `public_test_cases`"),
        ({"question_id": "b", "private_test_cases": "gASVBQ=="}, "field `private_test_cases`"),
        ({"question_id": "b", "public_test_cases": '[{"input": ""}]'}, "output"),
        (
            {"question_id": "b", "metadata": '{"func_name": "no name"}'},
            "field `metadata.func_name`",
        ),
        ({"question_id": "b", "contest_date": "yesterday"}, "field `contest_date`"),
        ({"question_id": 7}, "field `question_id`"),
        ({"title": "x"}, "field `question_id`: is missing"),
        (SUMS, "already the id of line 1"),
    ],
)
def test_a_bad_problem_row_is_named(bad: Any, said: str, tmp_path: Path) -> None:
    problems = write_rows(tmp_path / "problems.jsonl", [SUMS, bad])
    programs = write_rows(tmp_path / "programs.jsonl", [GOOD, {"question_id": "b", "code": ""}])
    code, _, message = judge(problems, programs)
    assert code == 2, message
    assert f"{problems}, line 2" in message
    assert said in message


@pytest.mark.parametrize("missing", ["problems", "programs"])
def test_a_missing_file_is_named(missing: str, problems: Path, tmp_path: Path) -> None:
    programs = write_rows(tmp_path / "programs.jsonl", [GOOD])
    gone = tmp_path / "gone.jsonl"
    files = {"problems": problems, "programs": programs} | {missing: gone}
    code, _, message = judge(files["problems"], files["programs"])
    assert code == 2
    assert f"{gone}: cannot be read: No such file or directory" in message


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--timeout", "-1s"], "--timeout: '-1s' is not a duration"),
        (["--timeout", "0"], "proctor: --timeout: must be more than zero"),
        (["--memory", "-1G"], "--memory: '-1G' is not a size"),
        (["--memory", "0"], "proctor: --memory: must be more than zero"),
        (["--tolerance", "-1"], "tolerance is a number from 0 to below 1, not -1"),
        (["--tolerance", "nan"], "tolerance is a number"),
        (["--jobs", "0"], "at least 1, not 0"),
        (["--jobs", "-2"], "at least 1, not -2"),
        (["--k", "0"], "--k"),
        (["--k", "one"], "--k"),
        (["--mode", "strict"], "mode is standard or official, not 'strict'"),
        (["--stop", "later"], "stop is first or crash or never"),
        (["--mode", "official", "--fast"], "official mode"),
        (["--mode", "official", "--tolerance", "0.1"], "official mode"),
        (["--out", "/nowhere/out.jsonl"], "/nowhere/out.jsonl: cannot be created"),
        (["--out", "/dev/null"], "/dev/null: is not a regular file"),
    ],
)
def test_settings_that_make_no_sense_are_refused_before_anything_runs(
    options: list[str], said: str, problems: Path, tmp_path: Path
) -> None:
    programs = write_rows(tmp_path / "programs.jsonl", [GOOD])
    out = tmp_path / "out.jsonl"
    extra = [] if "--out" in options else ["--out", out]
    code, shown, message = judge(problems, programs, *options, *extra)
    assert code == 2, message
    assert said in message
    assert shown == ""
    assert not out.exists() or out.read_text() == ""


@pytest.mark.parametrize(
    "option",
    [
        ["--timeout", "6s"], ["--mode", "standard"], ["--codes", "upstream"], ["--k", "1,5,10"],
        ["--stop", "first"], ["--memory", "1G"], ["--tolerance", "0"], ["--out", ""],
    ],
)  # fmt: skip
def test_an_option_given_is_meant_if_it_equals_the_default(
    option: list[str], tmp_path: Path
) -> None:
    """`--timeout 6s` of a contest problem was ignored, since 6 s is also the default."""
    package = tmp_path / "sum"
    package.mkdir()
    (package / "1.in").write_text("3 4\n")
    (package / "1.ans").write_text("7\n")
    (package / "problem.toml").write_text(
        'id = "sum"\ntest = [{name = "1", input = "1.in", answer = "1.ans"}]\n'
    )
    program = tmp_path / "add.py"
    program.write_text(RIGHT)
    done = proctor("judge", package, program, *option)
    assert done.returncode == 2, done.stdout.decode()
    assert f"{option[0]}: not with PROBLEM" in done.stderr.decode()


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (["--language", "python"], "--language: only with PROBLEM"),
        (["--subtask", "all"], "--subtask: only with PROBLEM"),
        (["--all-tests"], "--all-tests: only with PROBLEM"),
        (["--codes", "upstream"], "error codes exist in official mode only"),
    ],
)
def test_options_that_would_do_nothing_are_refused(
    option: list[str], said: str, problems: Path, tmp_path: Path
) -> None:
    programs = write_rows(tmp_path / "programs.jsonl", [GOOD])
    code, _, message = judge(problems, programs, *option)
    assert (code, said in message) == (2, True), message


@pytest.mark.slow
def test_other_settings_do_not_go_into_the_same_file(problems: Path, tmp_path: Path) -> None:
    programs = write_rows(tmp_path / "programs.jsonl", [GOOD])
    out = tmp_path / "out.jsonl"
    assert judge(problems, programs, "--out", out)[0] == 0
    before = out.read_text()
    code, _, message = judge(problems, programs, "--out", out, "--timeout", "1s")
    assert code == 2
    assert "timeout: was 6.0, is now 1.0" in message
    assert out.read_text() == before


@pytest.mark.slow
def test_a_changed_program_is_not_taken_for_the_judged_one(problems: Path, tmp_path: Path) -> None:
    programs = write_rows(tmp_path / "programs.jsonl", [GOOD])
    out = tmp_path / "out.jsonl"
    assert judge(problems, programs, "--out", out)[0] == 0
    write_rows(programs, [{"question_id": "sums", "code": WRONG}])
    code, _, message = judge(problems, programs, "--out", out)
    assert code == 2
    assert "another program" in message


@pytest.mark.slow
def test_official_mode_writes_what_lcb_runner_would(problems: Path, tmp_path: Path) -> None:
    programs = write_rows(
        tmp_path / "programs.jsonl",
        [{"question_id": "sums", "code": code} for code in (RIGHT, WRONG, "1 / 0")],
    )
    out = tmp_path / "out.jsonl"
    assert judge(problems, programs, "--mode", "official", "--out", out)[0] == 0
    results = {row["row"]: (row["results"], row["error_code"]) for row in rows(out)}
    assert results == {0: ([True, True], None), 1: ([True, -2], -2), 2: ([-4], -4)}


def test_fields_of_the_programs_come_along(problems: Path, tmp_path: Path) -> None:
    row = GOOD | {"model": "m", "nested": {"a": [1]}, "verdict": "mine"}
    programs = write_rows(tmp_path / "programs.jsonl", [row])
    out = tmp_path / "out.jsonl"
    assert judge(problems, programs, "--out", out)[0] == 0
    (kept,) = rows(out)
    assert (kept["model"], kept["nested"], kept["verdict"]) == ("m", {"a": [1]}, "AC")
    assert kept["extra"] == {"verdict": "mine"}
