"""Rows of results files, judged again by the real command: the same, or why not."""

import json
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from command import problem, write_rows
from command import proctor as command
from proctor_command import Done, Proctor

import ioi_task
from proctor.evals.programs import digest_of
from proctor.formats.livecodebench import load_problems
from proctor.formats.programs import read_programs
from proctor.formats.results import Digests, ResultsFile, read_results
from proctor.formats.sidecar import Sidecar
from proctor.signatures import signature

pytestmark = pytest.mark.compiler

PROBLEMS = [
    problem("sum", [("3 4\n", "7\n"), ("1 2\n", "3\n")]),
    problem("pairs", [("[1, 2]\n[3]", "[1, 2, 3]")], metadata={"func_name": "joined"}),
]
CPP = "#include <iostream>\nint main() { long long a, b; std::cin >> a >> b; std::cout << a %s b; }"
PROGRAMS = [
    ("AC", {"code": "a, b = map(int, input().split())\nprint(a + b)\n", "model": "m"}),
    ("WA", {"code": "print(7)"}),
    ("TLE", {"code": "while True: pass"}),
    ("RE", {"code": "1 / 0"}),
    ("CE", {"code": "print("}),
    ("NC", {"code": ""}),
    ("WA", {"question_id": "pairs", "code": "def joined(a, b):\n    return b + a\n"}),
    ("AC", {"language": "cpp17", "code": CPP % "+"}),
    ("WA", {"language": "cpp17", "code": CPP % "*"}),
    ("CE", {"language": "cpp17", "code": "int main() {"}),
]
OFFICIAL = [("AC", None), ("WA", -2), ("TLE", -3), ("RE", -4), ("RE", -4), ("RE", -4), ("WA", -2)]
"""Verdicts on the first of them, with lcb_runner's codes."""


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with input files, and results of both modes and of the fast path."""
    place = tmp_path_factory.mktemp("judged")
    rows = [{"question_id": "sum"} | row for _, row in PROGRAMS]
    inputs = ("--problems", write_rows(place / "problems.jsonl", PROBLEMS))
    for name, options, given in (
        ("standard", ("--stop", "never"), rows),
        ("official", ("--mode", "official"), rows[: len(OFFICIAL)]),
        ("fast", ("--fast", "--tolerance", "0.1"), rows[:3]),
    ):
        programs = write_rows(place / f"{name}-programs.jsonl", given)
        done = command("judge", *inputs, "--programs", programs, "--timeout", "500ms", *options,
                       "--out", place / f"{name}.jsonl")  # fmt: skip
        assert done.returncode == 0, done.stderr
    return place


@pytest.fixture
def copied(judged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the files in standard mode, whose origins are those of the copy."""
    for name in ("standard.jsonl", "standard.jsonl.settings.json", "problems.jsonl",
                 "standard-programs.jsonl"):  # fmt: skip
        shutil.copy(judged / name, tmp_path)
    edit_sidecar(tmp_path, lambda text: signed(text.replace(str(judged), str(tmp_path))))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def signed(text: str) -> str:
    """Sign the origins anew, as if they had been written as they are."""
    settings = json.loads(text)
    for each in settings["origins"]:
        each["signature"] = signature("origin", each["files"])
    return json.dumps(settings)


def edit_sidecar(place: Path, edit: Callable[[str], str]) -> None:
    file = place / "standard.jsonl.settings.json"
    file.write_text(edit(file.read_text()))


def same(done: Done) -> dict[str, Any]:
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    assert found["same"]
    assert found["said"] == f"same verdict: {found['then']['verdict']}"
    return found


@pytest.mark.sampled(4)
@pytest.mark.parametrize("row", range(len(PROGRAMS)))
def test_a_row_of_standard_mode(proctor: Proctor, judged: Path, row: int) -> None:
    found = same(proctor("replay", f"{judged}/standard.jsonl#{row}", "--json"))
    verdict, program = PROGRAMS[row]
    (now,) = found["now"]
    assert (found["then"]["verdict"], now["verdict"]) == (verdict, verdict)
    assert found["program"]["sha256"] == sha256(program["code"].encode()).hexdigest()
    assert found["settings"] == found["settings"] | {"mode": "standard", "stop": "never"}
    assert found["limits"]["cpu"] == 0.5
    for name in ("proctor", "python", "system", "cpu"):
        assert found["then"][name] == now[name] != ""
    assert bool(now["tools"]) == (program.get("language") == "cpp17")
    ran = verdict not in {"CE", "NC"}
    assert now["isolation"] == found["then"]["isolation"]
    assert bool(found["then"]["tests"]) == ran
    for test in (*found["then"]["tests"], *now["tests"]):
        assert set(test) >= {"verdict", "cpu", "wall", "memory"}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("row", range(len(OFFICIAL)))
def test_a_row_of_official_mode(proctor: Proctor, judged: Path, row: int) -> None:
    found = same(proctor("replay", f"{judged}/official.jsonl#{row}", "--json"))
    assert found["then"]["verdict"] == OFFICIAL[row][0]
    rows = list(read_results(judged / "official.jsonl"))
    assert {each["row"]: each["error_code"] for each in rows}[row] == OFFICIAL[row][1]
    if row == 1:  # what upstream's own report has
        assert (found["test"]["expected"]["text"], found["test"]["got"]["text"]) == ("3\n", "7\n")


@pytest.mark.parametrize("row", range(3))
def test_a_row_of_the_fast_path(proctor: Proctor, judged: Path, row: int) -> None:
    found = same(proctor("replay", f"{judged}/fast.jsonl#{row}", "--json"))
    assert found["settings"] == found["settings"] | {"fast": True, "tolerance": 0.1}


def test_the_first_failing_test_is_shown(proctor: Proctor, judged: Path) -> None:
    done = proctor("replay", f"{judged}/standard.jsonl#sum:1")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    shown = lines[lines.index("test 1") :]
    assert [line.strip() for line in shown] == [
        "test 1", "input (4 bytes):", "1 2", "expected (2 bytes):", "3", "got (2 bytes):", "7", "",
        "same verdict: WA",
    ]  # fmt: skip
    calls = json.loads(proctor("replay", f"{judged}/standard.jsonl#6", "--json").stdout)
    assert calls["test"]["got"]["text"] == "[3, 1, 2]"
    native = json.loads(proctor("replay", f"{judged}/standard.jsonl#8", "--json").stdout)
    assert native["test"]["got"]["text"] == "12"


def test_a_long_output_is_shown_where_it_differs(proctor: Proctor, tmp_path: Path) -> None:
    right = "".join(f"{n}\n" for n in range(2000))
    problems = write_rows(
        tmp_path / "problems.jsonl", [problem("long", [("\x1b[2J" * 500, right)])]
    )
    code = "for n in range(2000): print(n if n != 1500 else '\\x1b[31m')"
    programs = write_rows(tmp_path / "programs.jsonl", [{"question_id": "long", "code": code}])
    command("judge", "--problems", problems, "--programs", programs, "--out", tmp_path / "r.jsonl")
    found = same(proctor("replay", f"{tmp_path}/r.jsonl#0", "--json"))
    for name in ("input", "expected", "got"):
        assert len(found["test"][name]["text"]) <= 400
    start = found["test"]["got"]["start"]
    assert start == found["test"]["expected"]["start"] > 6000
    assert "1499\n1500\n" in found["test"]["expected"]["text"]
    shown = proctor("replay", f"{tmp_path}/r.jsonl#0").stdout
    assert "\x1b[31m" not in shown
    assert "\x1b[2J" not in shown
    assert f"bytes {start} to {start + 400}" in shown


def flip(file: Path, row: int, **changes: Any) -> None:
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    for each in rows:
        if each["row"] == row:
            each.update(changes)
    file.write_text("".join(json.dumps(each) + "\n" for each in rows))


def test_another_verdict_is_told(proctor: Proctor, copied: Path) -> None:
    flip(copied / "standard.jsonl", 0, verdict="WA", passed=False)
    done = proctor("replay", "standard.jsonl#0")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "differs: AC, was WA"
    found = json.loads(proctor("replay", "standard.jsonl#0", "--json", "--times", "2").stdout)
    assert not found["same"]
    assert found["differences"] == ["AC, was WA"]
    assert found["said"] == "differs 2 times of 2 (AC 2): AC, was WA"


def test_another_verdict_of_one_test_is_told(proctor: Proctor, copied: Path) -> None:
    rows = {each["row"]: each for each in read_results(copied / "standard.jsonl")}
    first, second = rows[1]["tests"]
    flip(copied / "standard.jsonl", 1, tests=[first | {"verdict": "RE"}, second])
    done = proctor("replay", "standard.jsonl#1", "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert found["said"] == "same verdict WA, but differs: test 0 AC, was RE"
    assert found["test"]["name"] == "0"


@pytest.mark.parametrize("changed", ["standard-programs.jsonl", "problems.jsonl"])
def test_a_changed_file_is_told(proctor: Proctor, copied: Path, changed: str) -> None:
    file = copied / changed
    file.write_text(file.read_text().replace("3", "8").replace("print(7)", "print(9)"))
    done = proctor("replay", "standard.jsonl#1")
    assert done.returncode == 2
    assert "was judged from another program, or against other tests" in done.stderr
    assert f"{file} has changed since: its SHA-256 was " in done.stderr
    assert done.stderr.count("has changed since") == 1


def test_a_file_that_was_added_to_is_no_change_for_a_row(proctor: Proctor, copied: Path) -> None:
    with (copied / "standard-programs.jsonl").open("a") as file:
        file.write('{"question_id": "sum", "code": "print(1)"}\n')
    same(proctor("replay", "standard.jsonl#1", "--json"))


def test_files_that_another_named_are_not_opened(proctor: Proctor, copied: Path) -> None:
    """Neither a path that was changed, nor results that somebody else has written."""
    for edit in (
        lambda text: text.replace("/problems.jsonl", "/standard-programs.jsonl"),
        lambda text: text.replace('"signature"', '"signed"'),
    ):
        kept = (copied / "standard.jsonl.settings.json").read_text()
        edit_sidecar(copied, edit)
        done = proctor("replay", "standard.jsonl#1")
        assert done.returncode == 2
        assert "is not as you wrote it on this machine" in done.stderr
        edit_sidecar(copied, lambda _, kept=kept: kept)  # type: ignore[misc]
    edit_sidecar(copied, lambda text: text.replace('"signature"', '"signed"'))
    same(proctor("replay", "standard.jsonl#1", "--json", "--problems", "problems.jsonl",
                 "--programs", "standard-programs.jsonl"))  # fmt: skip


@pytest.mark.parametrize(("name", "value"), [("packages", "/root"), ("preload", "antigravity")])
def test_packages_that_another_named_are_not_used(
    proctor: Proctor, copied: Path, name: str, value: str
) -> None:
    edit_sidecar(copied, lambda text: json.dumps(json.loads(text) | {name: [value]}))
    done = proctor("replay", "standard.jsonl#1")
    assert done.returncode == 2
    assert "is not as you wrote it" in done.stderr or "was judged from another" in done.stderr


def test_files_that_moved_are_named(proctor: Proctor, copied: Path) -> None:
    (copied / "problems.jsonl").rename("p.jsonl")
    gone = proctor("replay", "standard.jsonl#1")
    assert gone.returncode == 2
    assert f"{copied}/problems.jsonl: is gone; name the problems by --problems" in gone.stderr
    same(proctor("replay", "standard.jsonl#1", "--json", "--problems", "p.jsonl"))
    (copied / "standard-programs.jsonl").rename("s.jsonl")
    same(proctor("replay", "standard.jsonl#1", "--json", "--problems", "p.jsonl",
                 "--programs", "s.jsonl"))  # fmt: skip


def test_older_results_do_not_tell_their_files(proctor: Proctor, copied: Path) -> None:
    def without(text: str) -> str:
        settings = json.loads(text)
        del settings["origins"]
        return json.dumps(settings)

    edit_sidecar(copied, without)
    silent = proctor("replay", "standard.jsonl#1")
    assert silent.returncode == 2
    assert "standard.jsonl#1: does not tell its problems; name them by --problems" in silent.stderr
    found = same(proctor("replay", "standard.jsonl#1", "--json", "--problems", "problems.jsonl",
                         "--programs", "standard-programs.jsonl"))  # fmt: skip
    assert (found["then"]["system"], found["then"]["python"] != "") == ("", True)


def test_results_of_another_version(proctor: Proctor, copied: Path) -> None:
    """Its digests are of its own settings, which say the version."""
    settings = Sidecar.of(copied / "standard.jsonl").settings | {"proctor": "0.0.9"}
    problems, digests = load_problems("problems.jsonl"), Digests(settings)
    entries = {each.row: each for each in read_programs(Path("standard-programs.jsonl"), problems)}
    with ResultsFile(Path("older.jsonl"), settings) as results:
        for row in read_results(copied / "standard.jsonl"):
            entry = entries[row["row"]]
            digest = digest_of(digests, problems[entry.question_id], entry)
            results.append(row | {"digest": digest})
    files = ("--problems", "problems.jsonl", "--programs", "standard-programs.jsonl")
    found = same(proctor("replay", "older.jsonl#1", *files, "--json"))
    assert (found["then"]["proctor"], found["now"][0]["proctor"]) != ("0.0.9", "0.0.9")
    assert found["then"]["proctor"] == "0.0.9"
    flip(Path("older.jsonl"), 1, digest="of another kind")
    other = proctor("replay", "older.jsonl#1", *files)
    assert other.returncode == 2
    assert "or proctor 0.0.9, which wrote it, takes digests otherwise" in other.stderr
    sidecar = Path("older.jsonl.settings.json")
    sidecar.write_text(json.dumps({"proctor": "0.0.9"}))
    flip(Path("older.jsonl"), 1, digest=digest_of(
        Digests({"proctor": "0.0.9"}), problems["sum"], entries[1]))  # fmt: skip
    lacking = proctor("replay", "older.jsonl#1", *files)
    assert lacking.returncode == 2
    assert "was written by proctor 0.0.9: its settings lack 'mode'" in lacking.stderr


@pytest.mark.parametrize(
    ("record", "says"),
    [
        ("standard.jsonl#99", "has no row '99'; of 10 rows: "),
        ("standard.jsonl#sum:77", "has no row 'sum:77'"),
        ("standard.jsonl", "name a row of it, as FILE#ROW; of 10 rows: "),
        ("nothing.jsonl#1", "nothing.jsonl: there is no such file, run or bundle"),
        (".#1", "is neither a run nor a bundle, and has no results.jsonl"),
        ("problems.jsonl#1", "is not a result row"),
    ],
)
def test_a_row_that_is_not_there(
    proctor: Proctor, copied: Path, record: str, says: str
) -> None:  # fmt: skip
    assert copied.is_dir()
    done = proctor("replay", record)
    assert done.returncode == 2
    assert says in done.stderr


def test_options_that_are_for_others(proctor: Proctor, copied: Path) -> None:
    for more, says in (
        (("--tasks", "x"), "--tasks is not for results of `proctor judge`"),
        (("--there",), "--there is for jobs of servers: URL#JOB"),
        (("--bundle", "b", "--times", "2"), "--bundle judges nothing"),
        (("--ray", "x", "--on", "y"), "give either --ray or --on"),
        (("--times", "0"), "--times"),
    ):
        done = proctor("replay", f"{copied}/standard.jsonl#0", *more)
        assert done.returncode == 2
        assert says in done.stderr


def test_where_nothing_can_be_run(proctor: Proctor, copied: Path) -> None:
    done = proctor("replay", f"{copied}/standard.jsonl#0", "--isolation", "none")
    assert done.returncode == 125


def test_options_of_the_pool_are_those_of_then_or_given(proctor: Proctor, copied: Path) -> None:
    """A program that imports a package of its run's, and finds it again."""
    (copied / "packages").mkdir()
    (copied / "packages" / "adder.py").write_text("def add(a, b): return a + b\n")
    code = "from adder import add\nprint(add(*map(int, input().split())))"
    programs = write_rows(copied / "imports.jsonl", [{"question_id": "sum", "code": code}])
    command("judge", "--problems", copied / "problems.jsonl", "--programs", programs,
            "--packages", copied / "packages", "--out", copied / "p.jsonl")  # fmt: skip
    assert same(proctor("replay", "p.jsonl#0", "--json"))["then"]["verdict"] == "AC"
    (copied / "packages").rename("others")
    assert proctor("replay", "p.jsonl#0").returncode == 2
    same(proctor("replay", "p.jsonl#0", "--json", "--packages", copied / "others"))


IOI = {
    "right/0": "AC", "small/0": "PA", "wrong/0": "WA", "crash/0": "RE", "broken/0": "CE",
    "slow/0": "TLE", "none/0": "NC", "exact/0": "AC", "above/0": "PA",
}  # fmt: skip


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with tasks and results, of all subtasks and of the targets only."""
    place = tmp_path_factory.mktemp("scored")
    rows = [ioi_task.submission(name) for name in ioi_task.SOLUTIONS]
    rows[1] |= {"subtask": "1-small"}
    rows.append({"uuid": "none", "problem_id": "double", "generation": "I cannot."})
    rows += [
        {"uuid": name, "year": 2023, "problem_id": "guess", "code": ioi_task.GUESSES[name]}
        for name in ("exact", "above")
    ]
    submissions = ioi_task.write(place / "submissions.jsonl", rows)
    for out, more, given in (
        ("all", (), submissions),
        ("target", ("--target", "--repair-includes"),
         ioi_task.write(place / "one.jsonl", [rows[1] | {"code": rows[1]["code"].partition("\n")[2]}])),
    ):  # fmt: skip
        done = command("ioi", "score", "--tasks", ioi_task.write_tasks(place / "tasks"),
                       "--submissions", given, "--out", place / out, *more)  # fmt: skip
        assert done.returncode == 0, done.stderr
    return place


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("row", "verdict"), IOI.items())
def test_a_row_of_the_ioi(proctor: Proctor, scored: Path, row: str, verdict: str) -> None:
    found = same(proctor("replay", f"{scored}/all#{row}", "--json"))
    (now,) = found["now"]
    assert (found["then"]["verdict"], now["verdict"]) == (verdict, verdict)
    assert found["then"]["points"] == now["points"]
    assert now["tools"] == found["then"]["tools"] != ""
    assert len(found["then"]["subtasks"]) == len(now["subtasks"]) > 0
    if row == "small/0":
        assert found["test"]["name"] == "2-1"
        assert found["test"]["got"]["text"] == "0 \n"
    if row == "above/0":  # they talk: there is no output of its own
        assert found["test"]["got"] is None


def test_a_row_of_the_target_alone_with_its_headers(proctor: Proctor, scored: Path) -> None:
    found = same(proctor("replay", f"{scored}/target/results.jsonl#small/0", "--json"))
    assert found["subtasks"] == ["1-small"]
    assert found["then"]["points"] == found["now"][0]["points"] == 40


def test_changed_and_moved_tasks_of_the_ioi(proctor: Proctor, scored: Path, tmp_path: Path) -> None:
    moved = ioi_task.write_tasks(tmp_path / "moved")
    same(proctor("replay", f"{scored}/all#wrong/0", "--json", "--tasks", moved))
    ioi_task.write(moved / "subtasks.jsonl", ioi_task.subtask_rows(time_limit=0.7))
    done = proctor("replay", f"{scored}/all#wrong/0", "--tasks", moved)
    assert done.returncode == 2
    assert "against other tests, than" in done.stderr
    wrong = proctor("replay", f"{scored}/all#wrong/0", "--problems", moved)
    assert wrong.returncode == 2
    assert "--problems is not for results of `proctor ioi score`" in wrong.stderr


@pytest.mark.slow
def test_tasks_that_hold_their_tests_themselves(proctor: Proctor, tmp_path: Path) -> None:
    rows = ioi_task.subtask_rows()
    answers = {
        row["test_name"]: [row["test_input"], row["test_output"]] for row in ioi_task.test_rows()
    }
    for row in rows:
        row["test_cases"] = [answers[name] for name in row["test_names"]]
    tasks = ioi_task.write(tmp_path / "tasks.jsonl", rows)
    submissions = ioi_task.write(tmp_path / "s.jsonl", [ioi_task.submission("small")])
    done = command("ioi", "score", "--tasks", tasks, "--submissions", submissions,
                   "--out", tmp_path / "out")  # fmt: skip
    assert done.returncode == 0, done.stderr
    same(proctor("replay", f"{tmp_path}/out#small/0", "--json"))
    ioi_task.write(tasks, [row | {"time_limit": 0.7} for row in rows])
    changed = proctor("replay", f"{tmp_path}/out#small/0")
    assert changed.returncode == 2
    assert f"than {tasks} hold now; {tasks} has changed since" in changed.stderr


def test_points_that_differ_are_told(proctor: Proctor, scored: Path, tmp_path: Path) -> None:
    shutil.copytree(scored / "all", tmp_path / "all")
    file = tmp_path / "all" / "results.jsonl"
    flip(file, "small/0", points=60.0)  # type: ignore[arg-type]
    done = proctor("replay", f"{tmp_path}/all#small/0", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["said"] == "same verdict PA, but differs: 40 points, were 60"


def test_rows_of_another_runner_are_refused(proctor: Proctor, tmp_path: Path) -> None:
    settings = {"proctor": "0", "subtasks": "all", "runner": "piston:http://x"}
    with ResultsFile(tmp_path / "results.jsonl", settings) as results:
        results.append({"row": "a/0", "digest": "d", "verdict": "AC"})
    done = proctor("replay", f"{tmp_path}#a/0")
    assert done.returncode == 2
    assert "was judged by piston:http://x, not by proctor's own cells" in done.stderr
