"""`proctor eval ioi`: what is asked, how it is judged with a real compiler, what it adds up to."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from proctor_command import Done, Proctor
from stub import Call, serving

import ioi_task
from proctor.evals.ioi.prompts import messages
from proctor.formats.ioi_rows import IoiTask, load_tasks
from proctor.sandbox.machine import tools

DATA = Path(os.environ.get("PROCTOR_TEST_DATA", "/nowhere")) / "ioi"


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    return ioi_task.write_tasks(tmp_path / "tasks")


def reply(code: str) -> str:
    """As models talk: a first draft, the program, a command to compile it."""
    return (
        "First try:\n```cpp\nint main() {}\n```\nBetter:\n\n"
        f"~~~c++17\n{code}~~~\n\n```sh\ng++ a.cpp\n```\n"
    )


def recorded(path: Path, replies: dict[str, list[str]]) -> str:
    rows = [{"question_id": name, "output_list": made} for name, made in replies.items()]
    ioi_task.write(path, rows)
    return f"replay:{path}"


def double(*names: str) -> list[str]:
    return [reply(ioi_task.SOLUTIONS[name]) for name in names]


def evaluated(done: Done) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def exported(proctor: Proctor, run: Path) -> dict[str, dict[str, Any]]:
    done = proctor("export", run, "--format", "ioi")
    assert done.returncode == 0, done.stderr
    return {row["row"]: row for row in map(json.loads, done.stdout.splitlines())}


def task(tmp_path: Path, **changes: Any) -> IoiTask:
    rows = ioi_task.write(tmp_path / "s.jsonl", ioi_task.subtask_rows(**changes))
    tests = ioi_task.write(tmp_path / "t.jsonl", ioi_task.test_rows())
    (found,) = load_tasks([rows], [tests]).values()
    return found


@pytest.mark.compiler
def test_a_right_model_gets_all_points(proctor: Proctor, tasks: Path, tmp_path: Path) -> None:
    def answer(call: Call) -> None:
        prompt = call.body["messages"][-1]["content"]
        solution = ioi_task.GUESSES["exact"] if "guess.h" in prompt else ioi_task.SOLUTIONS["right"]
        call.reply(reply(solution))

    with serving(answer) as stub:
        done = proctor("eval", "ioi", "--source", tasks, "--model", "stub", "--base-url", stub.url,
                       "--n", "2", "--out", tmp_path / "run", "--json")  # fmt: skip
        found = evaluated(done)
        # Nobody is asked to solve the samples, which are worth nothing.
        assert stub.calls.total() == 3 * 2
    assert (found["standard"]["passed"], found["standard"]["scored"]) == (6, 6)
    assert "official" not in found
    points = {each["problem_id"]: each["points"] for each in found["points"]["tasks"]}
    # Each program is judged on its own subtask only; together they have them all.
    assert points == {
        "double": {"best": 60, "union": 100},
        "guess": {"best": 100, "union": 100},
    }


@pytest.mark.slow
def test_the_fixture(proctor: Proctor, tmp_path: Path) -> None:
    """Adding up one by one is fast enough for the first subtask only."""
    slow = """#include "seedlings.h"
long long rows(long long n) {
    long long sum = 0;
    for (long long width = 1; width <= n; ++width) sum += n / width;
    return sum;
}
"""
    fast = """#include "seedlings.h"
long long rows(long long n) {
    long long sum = 0;
    for (long long from = 1, to; from <= n; from = to + 1) {
        to = n / (n / from);
        sum += n / from * (to - from + 1);
    }
    return sum;
}
"""
    names = ("2000-seedlings-01-small", "2000-seedlings-02-full")
    model = recorded(
        tmp_path / "replies.jsonl", {name: [reply(slow), reply(fast)] for name in names}
    )
    run = tmp_path / "run"
    found = evaluated(proctor("eval", "ioi", "--model", model, "--out", run, "--json"))
    rows = exported(proctor, run)
    assert [rows[f"{name}/{number}"]["verdict"] for name in names for number in (0, 1)] == [
        "AC", "AC", "TLE", "AC",
    ]  # fmt: skip
    assert found["points"]["totals"][0]["points"] == {"best": 70, "union": 100}


@pytest.mark.slow
def test_partial_scores_and_rows_for_the_pipeline(
    proctor: Proctor, tasks: Path, tmp_path: Path
) -> None:
    model = recorded(
        tmp_path / "replies.jsonl",
        {
            "2024-double-1-small": [*double("small", "broken"), "I cannot."],
            "2024-double-2-all": double("small", "slow"),
            "2023-guess-1-all": [reply(ioi_task.GUESSES["above"])],
        },
    )
    run = tmp_path / "run"
    found = evaluated(
        proctor("eval", "ioi", "--source", tasks, "--model", model, "--out", run, "--json")
    )
    assert found["standard"]["verdicts"] == {"AC": 1, "PA": 1, "WA": 1, "TLE": 1, "CE": 1, "NC": 1}
    rows = exported(proctor, run)
    assert {name: (row["verdict"], row["points"], row["code_compiles"]) for name, row in rows.items()} == {
        "2024-double-1-small/0": ("AC", 40, True),
        "2024-double-1-small/1": ("CE", 0, False),
        "2024-double-1-small/2": ("NC", 0, False),
        "2024-double-2-all/0": ("WA", 0, True),
        "2024-double-2-all/1": ("TLE", 0, True),
        "2023-guess-1-all/0": ("PA", 50, True),
    }  # fmt: skip
    partial = rows["2023-guess-1-all/0"]
    assert (partial["target_subtask"], partial["target_subtask_score"]) == ("1-all", 0.5)
    assert partial["model_kwargs"] == {"model": model}
    jsonl = proctor("export", run, "--format", "jsonl").stdout.splitlines()
    (kept,) = [row for row in map(json.loads, jsonl) if row["problem_id"] == "2023-guess-1-all"]
    assert kept["judgements"]["standard"]["score"] == 0.5

    file = ioi_task.write(tmp_path / "rows.jsonl", list(rows.values()))
    report = evaluated(proctor("ioi", "report", "--tasks", tasks, "--results", file, "--json",
                               "--strategy", "first:1", "--strategy", "union"))  # fmt: skip
    assert {(each["problem_id"], each["points"]["union"]) for each in report["tasks"]} == {
        ("double", 40), ("guess", 50),
    }  # fmt: skip
    # The same rows as submissions: all their subtasks are judged now.
    again = evaluated(
        proctor("ioi", "score", "--tasks", tasks, "--submissions", file, "--json",
                "--strategy", "union")
    )  # fmt: skip
    assert again["verdicts"] == {"PA": 3, "CE": 1, "NC": 1, "TLE": 1}
    assert [total["points"]["union"] for total in again["totals"]] == [50, 40]


@pytest.mark.compiler
def test_all_subtasks_and_medals(proctor: Proctor, tasks: Path, tmp_path: Path) -> None:
    medals = tmp_path / "medals.toml"
    medals.write_text("[2024]\ngold = 100\nbronze = 40\n")
    model = recorded(
        tmp_path / "replies.jsonl",
        {"2024-double-1-small": double("right"), "2024-double-2-all": double("small")},
    )
    run = tmp_path / "run"
    done = proctor("eval", "ioi", "--source", tasks, "--years", "2024", "--model", model, "--out",
                   run, "--all-subtasks", "--medals", medals, "--json")  # fmt: skip
    found = evaluated(done)
    # Passed is who solved what was asked for; points are those of all subtasks.
    assert (found["standard"]["passed"], found["standard"]["scored"]) == (1, 2)
    (total,) = found["points"]["totals"]
    assert total["points"] == {"best": 100, "union": 100}
    assert total["medals"] == {"best": "gold", "union": "gold"}
    rows = exported(proctor, run)
    assert rows["2024-double-1-small/0"]["all_subtasks_points"] == 100
    assert rows["2024-double-2-all/0"]["all_subtasks_points"] == 40
    shown = proctor("resume", run).stdout
    assert "100 gold" in shown


@pytest.mark.compiler
def test_only_generated(proctor: Proctor, tasks: Path, tmp_path: Path) -> None:
    model = recorded(tmp_path / "replies.jsonl", {"2024-double-2-all": double("right")})
    run = tmp_path / "run"
    done = proctor("eval", "ioi", "--source", tasks, "--model", model, "--out", run,
                   "--no-run-tests", "--json")  # fmt: skip
    assert "points" not in evaluated(done)
    file = ioi_task.write(tmp_path / "rows.jsonl", list(exported(proctor, run).values()))
    refused = proctor("ioi", "report", "--tasks", tasks, "--results", file)
    assert refused.returncode == 2
    assert "this is not a judged solution" in refused.stderr
    scored = evaluated(proctor("ioi", "score", "--tasks", tasks, "--submissions", file, "--json",
                               "--strategy", "best"))  # fmt: skip
    assert scored["totals"][0]["points"] == {"best": 100}


@pytest.mark.compiler
def test_a_fault_of_the_task_is_no_failure(proctor: Proctor, tmp_path: Path) -> None:
    rows = ioi_task.subtask_rows()
    for row in rows:
        row["grader_files"].append(["checker/checker.cpp", "int main( {"])
    (tmp_path / "tasks").mkdir()
    ioi_task.write(tmp_path / "tasks" / "subtasks.jsonl", rows)
    ioi_task.write(tmp_path / "tasks" / "test_cases.jsonl", ioi_task.test_rows())
    model = recorded(tmp_path / "replies.jsonl", {"2024-double-2-all": double("right")})
    done = proctor("eval", "ioi", "--source", tmp_path / "tasks", "--model", model, "--out",
                   tmp_path / "run", "--json")  # fmt: skip
    found = json.loads(done.stdout)
    assert found["standard"]["task_faults"] == 1
    assert found["standard"]["scored"] == 0


def test_what_cannot_be(proctor: Proctor, tasks: Path, tmp_path: Path) -> None:
    model = recorded(tmp_path / "replies.jsonl", {"2024-double-2-all": double("right")})
    run = tmp_path / "run"

    def refused(*arguments: str | Path) -> str:
        done = proctor("eval", "ioi", "--model", model, "--out", run, *arguments)
        assert done.returncode == 2, done.stderr
        assert not run.exists()
        return done.stderr

    assert "there is no such file" in refused("--source", tmp_path / "nowhere")
    assert "there is no task of 1999; there are 2023, 2024" in refused(
        "--source", tasks, "--years", "1999"
    )
    assert "'soon' is not a year" in refused("--source", tasks, "--years", "soon")
    assert "has no prompt of its own" in refused(
        "--source", tasks, "--prompt", "dataset", "--dry-run"
    )
    assert "no problem '2024-double-0-samples'" in refused(
        "--source", tasks, "--sample-id", "2024-double-0-samples"
    )
    ioi_task.write(tasks / "more.jsonl", ioi_task.subtask_rows())
    assert "2024-double-1-small" in refused("--source", tasks)


def test_without_a_compiler_nobody_is_asked(
    proctor: Proctor, tasks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tools, "find", lambda _names, _seen: None)
    with serving(lambda call: call.reply("I cannot.")) as stub:
        done = proctor("eval", "ioi", "--source", tasks, "--model", "stub", "--base-url", stub.url,
                       "--out", tmp_path / "run")  # fmt: skip
        assert done.returncode == 125
        assert "there is no g++" in done.stderr
        assert stub.calls.total() == 0


@pytest.mark.compiler
def test_tests_that_have_changed_end_a_run(proctor: Proctor, tasks: Path, tmp_path: Path) -> None:
    model = recorded(tmp_path / "replies.jsonl", {"2024-double-2-all": double("right")})
    run = tmp_path / "run"
    evaluated(proctor("eval", "ioi", "--source", tasks, "--model", model, "--out", run, "--json"))
    rows = ioi_task.test_rows()
    rows[0]["test_output"] = "7\n"
    ioi_task.write(tasks / "test_cases.jsonl", rows)
    done = proctor("rejudge", run)
    assert done.returncode == 2
    assert "is not what it was" in done.stderr


def test_the_prompt_has_all_that_a_contestant_gets(tmp_path: Path) -> None:
    found = task(
        tmp_path, statement="Double a number.", starting_code="long long twice(long long n) {}"
    )
    system, user = messages(found, "1-small")
    assert "fenced cpp block" in system.content
    for part in (
        "Double a number.", "Subtask 1-small, worth 40 points", "0.5 s", "256 MiB",
        "`double.h`:\n\n```cpp\nlong long twice(long long n);\n```", "no main",
        "Start from this:\n\n```cpp\nlong long twice(long long n) {}\n```",
    ):  # fmt: skip
        assert part in user.content
    assert "scanf" not in user.content  # the grader is the judge's
    (both,) = messages(found, "1-small", "user-only")
    assert both.content == f"{system.content}\n\n{user.content}"


def test_a_row_may_bring_its_own_prompt(tmp_path: Path) -> None:
    (asked,) = messages(task(tmp_path, problem="Solve it."), "2-all", "dataset")
    assert (asked.role, asked.content) == ("user", "Solve it.")


def test_a_program_of_its_own_main(tmp_path: Path) -> None:
    _, user = messages(task(tmp_path, grader_files=[]), "2-all")
    assert "Write a whole program, with main." in user.content


def test_processes_are_told_of(tasks: Path) -> None:
    found = load_tasks([tasks / "subtasks.jsonl"], [tasks / "test_cases.jsonl"])
    _, user = messages(found[2023, "guess"], "1-all")
    assert "2 processes of your program run at once." in user.content


@pytest.mark.slow
@pytest.mark.data("ioi")
def test_a_task_of_the_ioi(proctor: Proctor, tmp_path: Path) -> None:
    """A + B of 2024's practice: its model solution, and one that solves the second subtask only."""
    with (DATA / "solutions.jsonl").open() as file:
        programs = {
            row["file"]: row["code"]
            for row in map(json.loads, file)
            if row["problem_id"] == "aplusb"
        }
    subtasks = ("01-smallAB", "02-bZero", "03-full")
    made = [reply(programs[name] + "\n") for name in ("solution.cpp", "solution-b-zero.cpp")]
    model = recorded(tmp_path / "r.jsonl", {f"2024-aplusb-{name}": made for name in subtasks})
    found = evaluated(proctor("eval", "ioi", "--source", DATA, "--model", model, "--out",
                              tmp_path / "run", "--json"))  # fmt: skip
    rows = exported(proctor, tmp_path / "run")
    assert {name: rows[f"2024-aplusb-{name}/0"]["verdict"] for name in subtasks} == dict.fromkeys(
        subtasks, "AC"
    )
    partly = {name: rows[f"2024-aplusb-{name}/1"]["verdict"] for name in subtasks}
    assert partly == {"01-smallAB": "WA", "02-bZero": "AC", "03-full": "WA"}
    (scored,) = found["points"]["tasks"]
    assert scored["points"] == {"best": 50, "union": 100}


@pytest.mark.slow
@pytest.mark.compiler
def test_tables_that_are_gone(proctor: Proctor, tasks: Path, tmp_path: Path) -> None:
    """What was found is shown all the same, and the exit code says that going on was not possible."""
    model = recorded(tmp_path / "replies.jsonl", {"2024-double-2-all": double("right")})
    run = tmp_path / "run"
    evaluated(proctor("eval", "ioi", "--source", tasks, "--model", model, "--out", run, "--json"))
    (tasks / "subtasks.jsonl").unlink()
    done = proctor("resume", run, "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["standard"]["passed"] == 1
    assert "points are not added up" in done.stderr
