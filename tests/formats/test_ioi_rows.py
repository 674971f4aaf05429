import json
from pathlib import Path
from typing import Any

import pytest

import ioi_task
from proctor.errors import InputError
from proctor.formats.ioi_rows import IoiTask, load_tasks, task_keys
from proctor.formats.tables import columns_of, read_table, table_files
from proctor.grading import Checker, Comparison, Convention, Match
from proctor.problem import Communication, OutputOnly


def load(tmp_path: Path, rows: list[dict[str, Any]], tests: list[Any] | None = None) -> IoiTask:
    subtasks = ioi_task.write(tmp_path / "subtasks.jsonl", rows)
    cases = ioi_task.write(
        tmp_path / "tests.jsonl", ioi_task.test_rows() if tests is None else tests
    )
    return next(iter(load_tasks([subtasks], [cases]).values()))


def test_a_batch_task(tmp_path: Path) -> None:
    task = load(tmp_path, ioi_task.subtask_rows())
    problem = task.problem
    assert task.key == (2024, "double")
    assert problem.points == 100
    assert [(each.name, each.points, each.tests) for each in problem.subtasks] == [
        ("0-samples", 0, ("0-1",)),
        ("1-small", 40, ("1-1", "1-2")),
        ("2-all", 60, ("1-1", "1-2", "2-1")),
    ]
    assert problem.tests_by_name()["2-1"].input_bytes() == b"1000000000000\n"
    assert problem.tests_by_name()["2-1"].output is not None
    assert problem.tests_by_name()["2-1"].output_bytes() == b"2000000000000\n"
    assert (problem.limits.cpu, problem.limits.memory, problem.limits.stack) == (
        0.5,
        256 << 20,
        256 << 20,
    )
    assert problem.grading == Comparison(Match.LINES)
    stub = problem.stubs["cpp"]
    assert (stub.name, stub.flags, sorted(stub.files)) == (
        "double.cpp",
        ("-DEVAL",),
        ["double.h", "grader.cpp"],
    )


def test_a_communication_task(tmp_path: Path) -> None:
    problem = load(tmp_path, [ioi_task.guess_row()]).problem
    running = problem.running
    assert isinstance(running, Communication)
    assert (running.processes, running.fifo_io, running.manager_args) == (2, False, ("extra",))
    assert sorted(running.manager.files) == ["guess.h"]
    assert sorted(problem.stubs["cpp"].files) == ["guess.h", "stub.cpp"]


def test_a_checker_has_the_files_beside_it_and_those_of_graders_not(tmp_path: Path) -> None:
    files = [
        ["checker/checker.cpp", "int main() {}"],
        ["checker/testlib.h", "//"],
        ["graders/testlib.h", "//"],
    ]
    problem = load(tmp_path, ioi_task.subtask_rows(grader_files=files)).problem
    assert isinstance(problem.grading, Checker)
    assert problem.grading.convention is Convention.SCORE
    assert sorted(problem.grading.program.files) == ["testlib.h"]
    assert problem.stubs["cpp"].name == "double.cpp"  # testlib.h names nothing


def test_an_output_only_task(tmp_path: Path) -> None:
    assert (
        load(tmp_path, ioi_task.subtask_rows(task_type="OutputOnly")).problem.running
        == OutputOnly()
    )


def test_large_texts_are_files(tmp_path: Path) -> None:
    big = "7" * 100_000
    rows = [*ioi_task.test_rows()]
    rows[0] = rows[0] | {"test_input": big}
    subtasks = ioi_task.write(tmp_path / "s.jsonl", ioi_task.subtask_rows())
    cases = ioi_task.write(tmp_path / "t.jsonl", rows)
    spool = tmp_path / "spool"
    spool.mkdir()
    tests = load_tasks([subtasks], [cases], spool=spool)[2024, "double"].problem.tests_by_name()
    assert isinstance(tests["0-1"].input, Path)
    assert tests["0-1"].input_bytes() == big.encode()
    assert tests["1-1"].input == b"0\n"


def test_rows_may_carry_their_tests(tmp_path: Path) -> None:
    rows = [
        row | {"test_cases": [[f"{name}\n", "1\n"] for name in row["test_names"]]}
        for row in ioi_task.subtask_rows()
    ]
    tests = load(tmp_path, rows, tests=[]).problem.tests_by_name()
    assert tests["1-2"].input_bytes() == b"1-2\n"


@pytest.mark.slow
def test_parquet_says_the_same(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    for name, rows in (("s", ioi_task.subtask_rows()), ("t", ioi_task.test_rows())):
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / f"{name}.parquet")
    subtasks, tests = tmp_path / "s.parquet", tmp_path / "t.parquet"
    loaded = load_tasks([subtasks], [tests])[2024, "double"]
    assert loaded.problem == load(tmp_path, ioi_task.subtask_rows()).problem
    assert "test_names" in columns_of(subtasks)
    assert task_keys([subtasks]) == {(2024, "double")}
    assert table_files(tmp_path)[0].suffix == ".parquet" or len(table_files(tmp_path)) == 4


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"time_limit": None}, "time_limit", "expected"),
        ({"time_limit": 0}, "limits.cpu", "more than zero"),
        ({"test_names": ["0-1", "9-9"]}, "test_names", "there is no test '9-9'"),
        ({"test_names": []}, "test_names", "at least one test"),
        ({"task_type": "TwoSteps"}, "task_type", "cannot be judged"),
        ({"task_type": "Communication"}, "grader_files", "manager.cpp is missing"),
        ({"grader_files": [["graders/grader_config.json", "{"]]}, "grader_files", "grader_config.json"),
        ({"grader_files": "none"}, "grader_files", "expected"),
        ({"test_cases": []}, "test_cases", "0 entries for 1 names"),
        ({"test_cases": [[]]}, "test_cases[0]", "is empty"),
        ({"grader_files": [["graders/grader_config.json", '{"a":' + "[" * 5000 + "]" * 5000 + "}"]]}, "grader_files", "recursion"),
        ({"score_precision": 10**12}, "score_precision", "from 0 to 15"),
        ({"score_precision": -400}, "score_precision", "from 0 to 15"),
    ],
)  # fmt: skip
def test_bad_rows(tmp_path: Path, changes: dict[str, Any], field: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path, ioi_task.subtask_rows(**changes))
    assert said in caught.value.message.lower() or said in caught.value.message
    assert (caught.value.field, caught.value.line) == (field, 1)
    assert caught.value.file == str(tmp_path / "subtasks.jsonl")


@pytest.mark.parametrize("count", [0, -1, 17, 1_000_000])
def test_processes_that_cannot_be_run_at_once(tmp_path: Path, count: int) -> None:
    row = ioi_task.guess_row()
    config = json.loads(row["grader_files"][-1][1])
    config["task_type_parameters_Communication_num_processes"] = count
    row["grader_files"][-1][1] = json.dumps(config)
    with pytest.raises(InputError, match=rf"line 1, field `grader_files`: .*1 to 16, not {count}"):
        load(tmp_path, [row])


def test_a_row_without_a_field(tmp_path: Path) -> None:
    rows = ioi_task.subtask_rows()
    del rows[1]["score"]
    with pytest.raises(InputError, match="line 2, field `score`: is missing"):
        load(tmp_path, rows)


def test_rows_that_contradict_each_other(tmp_path: Path) -> None:
    rows = ioi_task.subtask_rows()
    rows[2]["memory_limit"] = 1 << 20
    with pytest.raises(InputError, match="line 3, field `memory_limit`: differs"):
        load(tmp_path, rows)
    with pytest.raises(InputError, match="same name"):
        load(tmp_path, [rows[0], rows[0]])


def test_a_test_that_is_there_twice(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 7, field `test_name`: test '0-1' is there twice"):
        load(tmp_path, ioi_task.subtask_rows(), [*ioi_task.test_rows(), ioi_task.test_rows()[0]])


def test_a_task_that_is_not_there(tmp_path: Path) -> None:
    subtasks = ioi_task.write(tmp_path / "s.jsonl", ioi_task.subtask_rows())
    with pytest.raises(InputError, match="no task 'duble' of 2024; did you mean 'double'"):
        load_tasks([subtasks], [], only={(2024, "duble")})


def test_broken_tables(tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"a": 1}\n[1]\n')
    with pytest.raises(InputError, match="line 2: must be one JSON object"):
        list(read_table(bad))
    parquet = tmp_path / "bad.parquet"
    parquet.write_bytes(b"PAR1 no")
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        list(read_table(parquet))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no table"):
        table_files(tmp_path / "empty")


def test_real_rows(test_data: Path) -> None:
    tasks = load_tasks([test_data / "ioi/subtasks.jsonl"], [test_data / "ioi/test_cases.jsonl"])
    assert {key: (len(task.problem.tests), task.problem.points) for key, task in tasks.items()} == {
        (2024, "aplusb"): (17, 100.0),
        (2024, "message"): (28, 100.0),
    }
    running = tasks[2024, "message"].problem.running
    assert isinstance(running, Communication)
    assert running.processes == 2
    assert json.loads(
        dict(tasks[2024, "message"].rows["02-full"]["grader_files"])["graders/grader_config.json"]
    )
