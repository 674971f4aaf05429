import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command import COMMAND, environment, proctor

import ioi_task
from fake_hub import FakeHub, serving
from waiting import PATIENCE, until


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    return ioi_task.write_tasks(tmp_path / "tasks")


def score(
    tasks: Path, rows: list[dict[str, Any]], *more: str | Path
) -> subprocess.CompletedProcess[bytes]:
    submissions = ioi_task.write(tasks.parent / "submissions.jsonl", rows)
    return proctor("ioi", "score", "--tasks", tasks, "--submissions", submissions, *more)


def results(out: Path) -> dict[str, dict[str, Any]]:
    lines = (out / "results.jsonl").read_text().splitlines()
    return {row["row"]: row for row in map(json.loads, lines)}


@pytest.mark.compiler
def test_rows_in_the_published_shape(tasks: Path, tmp_path: Path) -> None:
    rows = [
        ioi_task.submission(name, prompt="kept")
        for name in ("right", "small", "wrong", "crash", "broken")
    ]
    rows[1] |= {"target_subtask": "2-all", "code_compiles": "theirs"}
    rows.append(
        {"uuid": "g", "year": 2023, "problem_id": "guess", "code": ioi_task.GUESSES["above"]}
    )
    rows.append(
        {"uuid": "talk", "problem_id": "double", "generation": "I cannot.", "subtask": "1-small"}
    )
    done = score(tasks, rows, "--out", tmp_path / "out", "--json")
    assert done.returncode == 0, done.stderr
    got = results(tmp_path / "out")
    assert {
        key: (row["verdict"], row["points"], row["code_compiles"]) for key, row in got.items()
    } == {
        "right/0": ("AC", 100, True),
        "small/0": ("PA", 40, True),
        "wrong/0": ("WA", 0, True),
        "crash/0": ("RE", 0, True),
        "broken/0": ("CE", 0, False),
        "g/0": ("PA", 50, True),
        "talk/0": ("NC", 0, False),
    }
    small = got["small/0"]
    assert (
        small["target_subtask"],
        small["target_subtask_score"],
        small["target_subtask_status"],
    ) == ("2-all", 0.0, "WA")
    assert small["all_subtasks_points"] == 40
    assert [(each["subtask"], each["status"], each["weighted_score"]) for each in small["all_subtasks_results"]] == [
        ("0-samples", "AC", 0), ("1-small", "AC", 40), ("2-all", "WA", 0),
    ]  # fmt: skip
    assert small["extra"]["code_compiles"] == "theirs"
    assert small["prompt"] == "kept"
    assert "error" in got["broken/0"]["compiler_output"]
    assert {each["status"] for each in got["broken/0"]["all_subtasks_results"]} == {"CE"}
    assert got["talk/0"]["target_subtask_status"] == "SKIPPED"
    summary = json.loads(done.stdout)
    assert summary["submissions"] == 7
    assert [(each["problem_id"], each["points"]["best"], each["points"]["union"]) for each in summary["tasks"]] == [
        ("guess", 50, 50), ("double", 100, 100),
    ]  # fmt: skip


@pytest.mark.compiler
def test_only_the_target(tasks: Path, tmp_path: Path) -> None:
    done = score(
        tasks,
        [ioi_task.submission("small", subtask="1-small")],
        "--out",
        tmp_path / "out",
        "--target",
    )
    assert done.returncode == 0, done.stderr
    (row,) = results(tmp_path / "out").values()
    assert [each["subtask"] for each in row["all_subtasks_results"]] == ["1-small"]
    assert (row["target_subtask_score"], row["points"], row["of"], row["all_subtasks_points"]) == (
        1.0,
        40,
        40,
        None,
    )


@pytest.mark.slow
def test_extraction_and_repair(tasks: Path, tmp_path: Path) -> None:
    reply = "So:\n```cpp\nlong long twice(long long n) { vector<int> v; return 2 * n; }\n```\n"
    rows = [{"uuid": "u", "problem_id": "double", "code": "nonsense", "generation": reply}]
    options = ("--always-extract-code", "--repair-includes", "--out", tmp_path / "out")
    assert score(tasks, rows, *options).returncode == 0
    assert results(tmp_path / "out")["u/0"]["verdict"] == "AC"
    without = score(tasks, rows, "--always-extract-code", "--out", tmp_path / "other")
    assert without.returncode == 0
    assert results(tmp_path / "other")["u/0"]["verdict"] == "CE"


@pytest.mark.slow
def test_strategies_and_medals(tasks: Path, tmp_path: Path) -> None:
    medals = tmp_path / "medals.toml"
    medals.write_text("[2024]\ngold = 101\nsilver = 40\n")
    rows = [ioi_task.submission("small"), ioi_task.submission("right")]
    done = score(
        tasks, rows, "--strategy", "first:1", "--strategy", "union", "--medals", medals, "--json"
    )
    (total,) = json.loads(done.stdout)["totals"]
    assert total["points"] == {"first:1": 40, "union": 100}
    assert total["medals"] == {"first:1": "silver", "union": "silver"}
    assert (total["of"], total["full"]) == (100, 600)
    table = score(tasks, rows, "--medals", medals)
    assert b"40 silver" not in table.stdout
    assert b"100 silver" in table.stdout


@pytest.mark.slow
@pytest.mark.compiler
def test_subtasks_and_pages(tasks: Path, tmp_path: Path) -> None:
    rows = [
        ioi_task.submission("small", model="<b>|"), ioi_task.submission("right", model="<b>|")
    ]  # fmt: skip
    page = tmp_path / "points.md"
    done = score(tasks, rows, "--out", tmp_path, "--by-subtask", "--report", page)
    assert b"2-all        60  60   1 of 2" in done.stdout
    assert "| 1-small | 40 | 40 | 2 of 2 |" in page.read_text()
    assert "## &lt;b&gt;\\| 2024 double" in page.read_text()
    page = tmp_path / "points.html"
    again = proctor("ioi", "report", "--tasks", tasks, "--results", tmp_path / "results.jsonl",
                    "--report", page, "--json")  # fmt: skip
    assert json.loads(again.stdout)["tasks"][0]["subtasks"][-1] == {
        "subtask": "2-all", "of": 60, "best": 60, "full": 1, "judged": 2
    }  # fmt: skip
    assert "<h2>&lt;b&gt;| 2024 double</h2>" in page.read_text()
    wrong = score(tasks, rows, "--out", tmp_path / "none", "--report", tmp_path / "points.pdf")
    assert (wrong.returncode, b"neither .md nor .html" in wrong.stderr) == (2, True)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (
            {"problem_id": "duble", "code": "x"},
            "line 1, field `problem_id`: there is no task 'duble' of 2024; did you",
        ),
        ({"problem_id": "double", "code": "x", "year": 2019}, "there is no task 'double' of 2019"),
        ({"problem_id": "double", "code": "x", "subtask": "9"}, "double has no subtask '9'"),
        ({"problem_id": "double"}, "field `code`: is missing"),
    ],
)
def test_bad_rows_end_with_2(tasks: Path, row: dict[str, Any], said: str) -> None:
    done = score(tasks, [row])
    assert done.returncode == 2
    assert said in done.stderr.decode()


@pytest.mark.slow
def test_a_language_without_a_grader_is_a_compile_error(tasks: Path, tmp_path: Path) -> None:
    rows = [{"uuid": "u", "problem_id": "double", "code": "print(1)", "language": "python"}]
    assert score(tasks, rows, "--out", tmp_path / "out").returncode == 0
    assert results(tmp_path / "out")["u/0"]["verdict"] == "CE"


@pytest.mark.slow
def test_it_goes_on_and_judges_nothing_twice(tasks: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    rows = [ioi_task.submission(name) for name in ("right", "small", "wrong")]
    assert score(tasks, rows[:1], "--out", out).returncode == 0
    before = (out / "results.jsonl").read_bytes()
    with (out / "results.jsonl").open("ab") as file:
        file.write(b'{"row": "small/0", "digest": "torn')
    assert score(tasks, rows[::-1], "--out", out).returncode == 0
    after = (out / "results.jsonl").read_bytes()
    assert after.startswith(before)
    assert sorted(results(out)) == ["right/0", "small/0", "wrong/0"]
    other = score(tasks, rows, "--out", out, "--repair-includes")
    assert other.returncode == 2
    assert b"begun with other settings" in other.stderr
    changed = score(
        tasks, [ioi_task.submission("right", code=ioi_task.SOLUTIONS["wrong"])], "--out", out
    )
    assert changed.returncode == 2
    assert b"judged from another program" in changed.stderr


@pytest.fixture
def working(tasks: Path, tmp_path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A run that has kept some results and is far from its end."""
    rows = [ioi_task.submission("slow" if n % 3 else "right", uuid=str(n)) for n in range(300)]
    submissions = ioi_task.write(tmp_path / "many.jsonl", rows)
    running = subprocess.Popen(
        [COMMAND, "ioi", "score", "--tasks", tasks, "--submissions", submissions, "--out", tmp_path / "out", "--jobs", "1"],
        env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    kept = tmp_path / "out" / "results.jsonl"
    until(
        lambda: (
            running.poll() is not None or (kept.exists() and kept.read_bytes().count(b"\n") >= 2)
        )
    )
    yield running
    if running.poll() is None:
        running.kill()
    running.communicate()


@pytest.mark.slow
def test_killed_it_loses_nothing(
    working: "subprocess.Popen[bytes]", tasks: Path, tmp_path: Path
) -> None:
    working.kill()
    working.communicate(timeout=PATIENCE)
    kept = [
        line
        for line in (tmp_path / "out/results.jsonl").read_bytes().splitlines(True)
        if line.endswith(b"\n")
    ]
    assert len(kept) >= 2
    few = ioi_task.write(
        tmp_path / "few.jsonl",
        [ioi_task.submission("slow" if n % 3 else "right", uuid=str(n)) for n in range(6)],
    )
    done = proctor(
        "ioi", "score", "--tasks", tasks, "--submissions", few, "--out", tmp_path / "out"
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/results.jsonl").read_bytes().startswith(b"".join(kept))
    assert {str(n) + "/0" for n in range(6)} <= results(tmp_path / "out").keys()


@pytest.mark.slow
@pytest.mark.compiler
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_says_what_is_kept(working: "subprocess.Popen[bytes]", number: int) -> None:
    working.send_signal(number)
    _, said = working.communicate(timeout=PATIENCE)
    assert working.returncode == 130
    assert b"the same command goes on from there" in said


@pytest.mark.slow
def test_a_runner_of_ours(tasks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere_runner.py").write_text(
        "def run(problem, test_input, submission, test_output):\n"
        "    if 'crash' in submission:\n"
        "        raise OSError('no sandbox')\n"
        "    return ('0.5', 'half') if len(test_input) > 3 else ('1', 'fine')\n"
    )
    rows = [ioi_task.submission("right"), ioi_task.submission("right", uuid="c", code="// crash")]
    submissions = ioi_task.write(tmp_path / "s.jsonl", rows)
    command = ("ioi", "score", "--tasks", tasks, "--submissions", submissions, "--out", tmp_path / "out",
               "--runner", "elsewhere_runner:run", "--json")  # fmt: skip
    monkeypatch.chdir(tmp_path)  # where modules are looked for, too
    done = proctor(*command)
    assert done.returncode == 125
    assert b"no sandbox" in done.stderr
    (row,) = results(tmp_path / "out").values()
    assert (row["uuid"], row["points"], row["verdict"]) == ("right", 70, "PA")
    assert "elsewhere_runner:run" in row["integrity"]
    (tmp_path / "elsewhere_runner.py").write_text("def run(*_):\n    return '1', ''\n")
    again = proctor(*command)
    assert again.returncode == 0
    assert {key: row["points"] for key, row in results(tmp_path / "out").items()} == {
        "right/0": 70,
        "c/0": 100,
    }


def validate(
    tasks: Path, rows: list[dict[str, Any]], *more: str
) -> subprocess.CompletedProcess[bytes]:
    solutions = ioi_task.write(tasks.parent / "solutions.jsonl", rows)
    return proctor("ioi", "validate", "--tasks", tasks, "--solutions", solutions, *more)


LABELS = {
    "right": "correct", "small": "partially_correct", "wrong": "incorrect", "crash": "runtime_error",
    "slow": "time_limit", "broken": "compile_error",
}  # fmt: skip


@pytest.mark.slow
def test_labels_that_hold(tasks: Path) -> None:
    rows = [
        {
            "problem_id": "double",
            "file": f"{name}.cpp",
            "label": label,
            "code": ioi_task.SOLUTIONS[name],
        }
        for name, label in LABELS.items()
    ]
    done = validate(tasks, rows, "--json")
    content = json.loads(done.stdout)
    assert (done.returncode, content["solutions"], content["differing"]) == (0, 6, 0)
    assert [each["points"] for each in content["results"]] == [100, 40, 0, 0, 0, 0]


@pytest.mark.compiler
def test_labels_that_do_not(tasks: Path) -> None:
    rows = [
        {"problem_id": "double", "file": "a.cpp", "label": "correct", "code": ioi_task.SOLUTIONS["small"]},
        {"problem_id": "double", "file": "b.cpp", "label": {"verdict": "partially_correct", "points": 39},
         "code": ioi_task.SOLUTIONS["small"]},
    ]  # fmt: skip
    done = validate(tasks, rows)
    assert done.returncode == 1
    said = " ".join(done.stdout.decode().split())
    assert "40 of 100 points" in said
    assert "40 points, where 39 are on record" in said
    assert "0 of 2 as their labels say" in said


def test_a_label_that_says_nothing(tasks: Path) -> None:
    done = validate(tasks, [{"problem_id": "double", "label": "nice", "code": "x"}])
    assert done.returncode == 2
    assert b"line 1, field `label`: 'nice' is not a known label" in done.stderr


@pytest.mark.slow
def test_real_solutions(test_data: Path, tmp_path: Path) -> None:
    """All of A+B, and those of Message that are decided soon."""
    rows = [
        json.loads(line) for line in (test_data / "ioi/solutions.jsonl").read_text().splitlines()
    ]
    soon = ("kostka_from_statement.cpp", "mruxim-101day.cpp", "mruxim-wa-noanswer.cpp", "mruxim-pv-exit.cpp",
            "misbehaving1.cpp")  # fmt: skip
    chosen = [row for row in rows if row["problem_id"] == "aplusb" or row["file"] in soon]
    solutions = ioi_task.write(tmp_path / "solutions.jsonl", chosen)
    done = proctor(
        "ioi",
        "validate",
        "--tasks",
        test_data / "ioi/subtasks.jsonl",
        "--solutions",
        solutions,
        "--json",
    )
    assert done.returncode == 0, done.stdout
    assert json.loads(done.stdout)["solutions"] == 9


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    with serving(FakeHub(ioi_task.hub_sets())) as running:
        yield running


@pytest.mark.slow
def test_all_from_the_hub_and_then_without_it(hub: FakeHub, tmp_path: Path) -> None:
    command = ("ioi", "score", "--tasks", "hf:us/ioi", "--submissions", "hf:us/solutions", "--json")
    caches = {"HF_ENDPOINT": hub.url, "PROCTOR_CACHE_DIR": str(tmp_path / "cache")}
    first = proctor(*command, env=caches)
    assert first.returncode == 0, first.stderr
    assert json.loads(first.stdout)["tasks"][0]["points"]["union"] == 100
    hub.requests.clear()
    again = proctor(*command, env=caches | {"HF_HUB_OFFLINE": "1"})
    assert (again.returncode, again.stdout) == (0, first.stdout)
    assert hub.requests == []
    nowhere = proctor(
        *command, env=caches | {"HF_HUB_OFFLINE": "1", "PROCTOR_CACHE_DIR": str(tmp_path / "other")}
    )
    assert nowhere.returncode == 2
    assert b"is not in the cache" in nowhere.stderr


def test_no_jobs_at_once_is_not_the_default(tmp_path: Path) -> None:
    """`--jobs 0` was one per CPU, where a runner judges."""
    for command, rows in (("score", "--submissions"), ("validate", "--solutions")):
        done = proctor("ioi", command, "--tasks", tmp_path, rows, tmp_path, "--jobs", "0",
                       "--runner", "json:loads")  # fmt: skip
        assert done.returncode == 2
        assert b"--jobs must be at least 1, not 0" in done.stderr, done.stderr
