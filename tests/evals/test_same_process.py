"""Tests in the program's own process: the kind of grading, and the benchmarks that are graded so."""

import json
import shutil
import sqlite3
import subprocess
from contextlib import closing
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from benchmark_files import fenced, replies, write
from proctor_command import Proctor, report
from same_process_replies import ATTACKS, PYTHON_ATTACKS, RIGHT_REPLIES

from proctor.errors import InputError
from proctor.evals.benchmark_file.loading import load
from proctor.evals.benchmark_file.same_process import SameProcessTests
from proctor.evals.settings import Settings
from proctor.languages import registry

FILE = """
[rows]
file = "rows.jsonl"
[prompt]
user = "{{ asked }}"
[program]
function = "'f'"
[grading]
kind = "same-process"
source = '''
{{ program }}
{{ tests }}
print("\\n{{ passed }}")
'''
solution = "solution|default('')"
"""
ROW = {"id": 1, "asked": "Double it.", "tests": "assert f(3) == 6"}
RIGHT = "def f(x): return 2 * x"


def graded(
    proctor: Proctor, directory: Path, *command: str | Path, mode: str = "official"
) -> dict[str, int]:
    """Return the numbers of verdicts of a run."""
    run = directory / "run"
    shutil.rmtree(run, ignore_errors=True)
    found = report(proctor("eval", *command, "--out", run, "--json"))
    counted: dict[str, int] = found[mode]["verdicts"]
    return counted


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "verdict"),
    [
        (RIGHT, "AC"),
        (f"{RIGHT}\nprint('a line', end='')", "AC"),
        ("def f(x): return x", "RE"),
        (f"{RIGHT}\nimport sys; sys.exit(0)", "WA"),  # the tests do not run
        (f"{RIGHT}\nimport os; os._exit(0)", "WA"),
        (f"{RIGHT}\nprint('{'0' * 32}'); raise SystemExit", "WA"),
        ("def f(x):", "CE"),
        ("while True: pass", "TLE"),
    ],
)
def test_program_must_reach_the_end_of_its_tests(
    proctor: Proctor, tmp_path: Path, program: str, verdict: str
) -> None:
    path = write(tmp_path, FILE, [ROW])
    model = replies(tmp_path, ("1", fenced(program)))
    assert graded(proctor, tmp_path, path, "--model", model, "--test-timeout", "1") == {verdict: 1}


def test_no_other_program_has_the_line_by_heart(proctor: Proctor, tmp_path: Path) -> None:
    """The line that one program must print passes no other, and is the same in every run."""
    path = write(tmp_path, FILE, [ROW])
    (task,) = load(path).open_source(Settings()).instances(["1"])
    tests = task.graded["official"]
    assert isinstance(tests, SameProcessTests)
    assert tests.made(RIGHT) == tests.made(RIGHT)
    learnt = str(tests.made(RIGHT)[0].tests[0].output)
    assert learnt in tests.made(RIGHT)[1]
    told = f"{RIGHT}\nprint('{learnt}')\nraise SystemExit"
    model = replies(tmp_path, ("1", fenced(told)))
    assert graded(proctor, tmp_path, path, "--model", model) == {"WA": 1}


def test_tests_that_their_own_solution_fails(proctor: Proctor, tmp_path: Path) -> None:
    wrong = ROW | {"id": 2, "tests": "assert f(3) == 7", "solution": RIGHT}
    right = ROW | {"id": 3, "solution": RIGHT}
    path = write(tmp_path, FILE, [ROW, wrong, right])
    program = fenced("def f(x): return x")
    model = replies(tmp_path, *((name, program) for name in "123"))
    assert graded(proctor, tmp_path, path, "--model", model) == {"RE": 2, "TASK_FAULT": 1}


def test_a_reply_without_a_program(proctor: Proctor, tmp_path: Path) -> None:
    path = write(tmp_path, FILE, [ROW])
    model = replies(tmp_path, ("1", "I cannot."))
    assert graded(proctor, tmp_path, path, "--model", model) == {"NC": 1}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("{{ passed }}", "x"), "does not print `passed`"),
        (("{{ tests }}", "{{ hidden }}"), "'hidden' is undefined"),
        (("source = ", "other = "), "unknown field `other`"),
        (("{{ program }}", "{% if %}"), "is not a template"),
    ],
)
def test_a_source_that_is_of_no_use(tmp_path: Path, change: tuple[str, str], words: str) -> None:
    path = write(tmp_path, FILE.replace(*change), [ROW])
    with pytest.raises(InputError, match=words):
        list(load(path).open_source(Settings()).infos())


def test_rows_and_configurations_of_a_language(proctor: Proctor, tmp_path: Path) -> None:
    """Rows and templates know a language by the tag that the file gives it."""
    text = FILE.replace("function = \"'f'\"", 'languages = { python = "py", bash = "sh" }').replace(
        'file = "rows.jsonl"', 'file = "rows.jsonl"\nwhere = "tag == run.tag"'
    )
    text = text.replace('print("\\n{{ passed }}")', 'echo "{{ passed }}"')
    rows = [
        ROW | {"tag": "py"},
        ROW | {"id": 2, "tag": "sh", "tests": '[ "$(f 3)" = 6 ] || exit 1'},
    ]
    path = write(tmp_path, text, rows)
    model = replies(tmp_path, ("2", fenced("f() { echo $((2 * $1)); }", "bash")))
    options = ("--language", "bash", "--model", model)
    assert graded(proctor, tmp_path, path, *options) == {"AC": 1}
    done = proctor("eval", path, "--language", "perl", "--model", model)
    assert done.returncode == 2
    assert "--language is one of python, bash" in done.stderr


# How a model goes on with the prompt of the sample row, in each language of MultiPL-E.
MIDDLE = {
    "cpp17": "    return max(min(a, b), min(max(a, b), c));".replace("m", "std::m"),
    "java": "        return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));\n    }\n",
    "csharp": "        return Math.Max(Math.Min(a, b), Math.Min(Math.Max(a, b), c));\n    }\n",
    "javascript": "  return [a, b, c].sort((x, y) => x - y)[1];\n}\n",
    "typescript": "  return [a, b, c].sort((x, y) => x - y)[1];\n}\n",
    "php": "    $all = [$a, $b, $c];\n    sort($all);\n    return $all[1];\n}\n",
    "bash": "    printf '%s\\n' \"$@\" | sort -n | sed -n 2p",
    "go": "    if a > b {\n        a, b = b, a\n    }\n    if c > b {\n        return b\n    }\n"
    "    if c < a {\n        return a\n    }\n    return c\n}\n",
    "lua": "    local all = {a, b, c}\n    table.sort(all)\n    return all[2]\nend\n",
    "perl": "    my @all = sort { $::a <=> $::b } ($a, $b, $c);\n    return $all[1];\n}\n",
    "ruby": "  [a, b, c].sort[1]\nend\n",
    "rust": "    a.min(b).max(a.max(b).min(c))",
}
LEAVE = {
    "cpp17": "    exit(0);", "java": "        System.exit(0); return 0;\n    }\n",
    "csharp": "        Environment.Exit(0); return 0;\n    }\n",
    "javascript": "  process.exit(0);\n}\n", "typescript": "  return process.exit(0);\n}\n",
    "php": "    exit(0);\n}\n", "go": "    panic(\"no\")\n}\n", "lua": "    os.exit(0)\nend\n",
    "perl": "    exit 0;\n}\n", "ruby": "  exit! 0\nend\n", "rust": "    std::process::exit(0)",
}  # fmt: skip
LIBRARIES = {
    "lua": ("lua5.4", "-e", "require('luaunit')"),
    "perl": ("perl", "-MTest::Deep", "-e", "1"),
    "ruby": ("ruby", "-rtest/unit", "-e", "Test::Unit::AutoRunner.need_auto_run = false"),
}
CLOSED = {"cpp17": "\n}\n", "bash": "\n}\n", "rust": "\n}\n", "java": "}\n", "csharp": "}\n"}


def rows_of(name: str) -> list[dict[str, Any]]:
    text = (files("proctor") / "bundled" / name).read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def need(language: str) -> None:
    """Skip if a language, or the library that its tests use, is not here. Raises NoLanguage."""
    registry.find(registry.get(language))
    command = LIBRARIES.get(language)
    if command and (
        not shutil.which(command[0]) or subprocess.run(command, check=False).returncode
    ):
        pytest.skip(f"not installed: the library of {language} that tests use")


TAGS = {
    "cpp17": "cpp", "csharp": "cs", "javascript": "js", "typescript": "ts", "bash": "sh",
    "go": "go_test.go", "perl": "pl", "ruby": "rb", "rust": "rs",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("language", MIDDLE)
def test_multipl_e(proctor: Proctor, tmp_path: Path, language: str) -> None:
    """A right continuation and a right reply pass, a wrong one and one that leaves do not."""
    need(language)
    tag = TAGS.get(language, language)
    prompt = next(row["prompt"] for row in rows_of("multipl-e.jsonl") if row["language"] == tag)
    name, right = "Sample_0_middle", MIDDLE[language]
    wrong = right.replace("min", "max").replace("Min", "Max").replace("[1]", "[0]")
    wrong = wrong.replace("2p", "1p").replace("[2]", "[1]").replace("a > b", "a < b")
    common = ("multipl-e", "--language", language, "--test-timeout", "20")
    for continuation, passes in ((right, True), (wrong, False), (LEAVE.get(language, ""), False)):
        model = replies(tmp_path, (name, continuation))
        found = graded(proctor, tmp_path, *common, "--prompt", "completion", "--model", model)
        assert (found == {"AC": 1}) == passes, found
        assert not found.keys() & {"TASK_FAULT", "INFRA_FAULT"}
        whole = fenced(prompt + continuation + CLOSED.get(language, ""), language)
        model = replies(tmp_path, (name, whole))
        found = graded(proctor, tmp_path, *common, "--model", model)
        assert (found == {"AC": 1}) == passes, found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "tag"),
    [
        ("python", "Python"),
        pytest.param("cpp17", "CPP", marks=pytest.mark.language("cpp")),
        pytest.param("java", "Java", marks=pytest.mark.language("java")),
        pytest.param("javascript", "JavaScript", marks=pytest.mark.language("javascript")),
    ],
)
def test_humanevalfix(proctor: Proctor, tmp_path: Path, language: str, tag: str) -> None:
    name = f"{tag}/0"
    row = next(each for each in rows_of("humanevalfix.jsonl") if each["task_id"] == name)
    for what, passes in (("canonical_solution", True), ("buggy_solution", False)):
        model = replies(tmp_path, (name, fenced(row["declaration"] + row[what], language)))
        found = graded(proctor, tmp_path, "humanevalfix", "--language", language, "--model", model)
        assert (found == {"AC": 1}) == passes, found
        assert not found.keys() & {"TASK_FAULT", "INFRA_FAULT"}


@pytest.mark.slow
def test_bigcodebench(proctor: Proctor, tmp_path: Path) -> None:
    rows = rows_of("bigcodebench.jsonl")
    right = {row["task_id"]: row["complete_prompt"] + row["canonical_solution"] for row in rows}
    model = replies(tmp_path, *((name, fenced(code)) for name, code in right.items()))
    assert graded(proctor, tmp_path, "bigcodebench", "--model", model) == {"AC": 2}
    model = replies(tmp_path, *((row["task_id"], row["canonical_solution"]) for row in rows))
    command = ("bigcodebench", "--prompt", "completion", "--model", model)
    assert graded(proctor, tmp_path, *command) == {"AC": 2}
    wrong = [("Sample/0", fenced("def task_func(directory): return {}"))]
    left = [("Sample/1", fenced("import os\ndef task_func(path, pairs): os._exit(0)"))]
    model = replies(tmp_path, *wrong, *left)
    assert graded(proctor, tmp_path, "bigcodebench", "--model", model) == {"WA": 2}
    with closing(sqlite3.connect(tmp_path / "run" / "run.db")) as store:
        said = [message for (message,) in store.execute("SELECT message FROM judged")]
    assert any("the last line is 'failed: test_" in message for message in said), said


def test_libraries_of_a_benchmark(proctor: Proctor, tmp_path: Path) -> None:
    """A package that the host has is not there for programs, and one of `--packages` is."""
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "doubling.py").write_text("def double(x): return 2 * x\n")
    path = write(tmp_path, FILE, [ROW])
    model = replies(tmp_path, ("1", fenced("from doubling import double as f")))
    assert graded(proctor, tmp_path, path, "--model", model) == {"RE": 1}
    command = (path, "--model", model, "--packages", packages)
    assert graded(proctor, tmp_path, *command) == {"AC": 1}
    named = packages.rename(tmp_path / "a:b")
    done = proctor("eval", path, "--model", model, "--packages", named, "--out", tmp_path / "no")
    assert done.returncode == 2
    assert "has a colon in its name" in done.stderr
    named.rename(packages)
    done = proctor("eval", *command, "--preload", "doubling")
    assert done.returncode == 2
    assert "--preload means nothing for sums" in done.stderr


@pytest.mark.slow
def test_classeval(proctor: Proctor, tmp_path: Path) -> None:
    (row,) = rows_of("classeval.jsonl")
    right = row["solution_code"]
    static = "    def describe():\n        return 'a shelf'\n"  # gets the decorator that it lacks
    cases = ((right, "AC"), (right + static, "AC"), (right.replace("return True", ""), "WA"))
    for code, verdict in cases:
        model = replies(tmp_path, ("Sample_0", fenced(code)))
        assert graded(proctor, tmp_path, "classeval", "--model", model) == {verdict: 1}


def verdicts_of(
    proctor: Proctor, directory: Path, rows: list[dict[str, Any]], said: list[str], *options: str
) -> list[str]:
    """Return the verdict of each reply; each has a row of its own."""
    write(directory, "", rows)
    key = "name" if "name" in rows[0] else "task_id"
    pairs = zip((row[key] for row in rows), said, strict=True)
    model = replies(directory, *pairs)
    source = ("--source", directory / "rows.jsonl", "--out", directory / "run")
    report(proctor("eval", *options, *source, "--model", model, "--json"))
    with closing(sqlite3.connect(directory / "run" / "run.db")) as store:
        found = dict(store.execute("SELECT problem_id, verdict FROM judged").fetchall())
    return [found[row[key]] for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize("language", RIGHT_REPLIES)
def test_replies_of_many_shapes(proctor: Proctor, tmp_path: Path, language: str) -> None:
    """Right programs pass in whatever shape they are; attacks of one line do not."""
    need(language)
    tag = TAGS.get(language, language)
    row = next(row for row in rows_of("multipl-e.jsonl") if row["language"] == tag)
    said = [*RIGHT_REPLIES[language], *ATTACKS[language]]
    rows = [row | {"name": f"Sample_{n}"} for n in range(len(said))]
    options = ("multipl-e", "--language", language, "--test-timeout", "20")
    found = verdicts_of(proctor, tmp_path, rows, said, *options)
    right = len(RIGHT_REPLIES[language])
    assert found[:right] == ["AC"] * right
    assert not {"AC", "TASK_FAULT", "INFRA_FAULT"} & set(found[right:]), found[right:]


@pytest.mark.slow
def test_attacks_on_unit_tests(proctor: Proctor, tmp_path: Path) -> None:
    row = rows_of("bigcodebench.jsonl")[0]
    rows = [row | {"task_id": f"Sample/{n}"} for n in range(len(PYTHON_ATTACKS))]
    found = verdicts_of(proctor, tmp_path, rows, PYTHON_ATTACKS, "bigcodebench")
    assert not {"AC", "TASK_FAULT", "INFRA_FAULT"} & set(found), found


@pytest.mark.slow
def test_rows_that_cannot_be_graded(proctor: Proctor, tmp_path: Path) -> None:
    """Rows without tests are TASK_FAULT; one without a solution charges nobody."""
    row = rows_of("bigcodebench.jsonl")[0]
    right, wrong = (
        fenced(row["complete_prompt"] + row["canonical_solution"]),
        fenced("def task_func(directory): return {}"),
    )
    changes = ({"test": ""}, {"canonical_solution": None}, {"canonical_solution": "    return 5\n"})
    rows = [row | change for change in changes for _ in range(2)]
    rows = [each | {"task_id": f"Sample/{n}"} for n, each in enumerate(rows)]
    found = verdicts_of(proctor, tmp_path, rows, [right, wrong] * 3, "bigcodebench")
    assert found == ["TASK_FAULT", "TASK_FAULT", "AC", "WA", "TASK_FAULT", "TASK_FAULT"]


def test_replay_of_a_row_whose_solution_fails(proctor: Proctor, tmp_path: Path) -> None:
    row = ROW | {"tests": "assert f(3) == 7", "solution": RIGHT}
    path = write(tmp_path, FILE, [row])
    model = replies(tmp_path, ("1", fenced("def f(x): return x")))
    assert graded(proctor, tmp_path, path, "--model", model) == {"TASK_FAULT": 1}
    done = proctor("replay", f"{tmp_path / 'run'}#1:0")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "own solution fails the tests" in done.stdout + done.stderr


def test_rows_that_where_leaves_out_are_counted(proctor: Proctor, tmp_path: Path) -> None:
    path = write(tmp_path, FILE.replace("[prompt]", "where = \"asked != 'no'\"\n[prompt]"),
                 [ROW, ROW | {"id": 2, "asked": "no"}])  # fmt: skip
    model = replies(tmp_path, ("1", fenced(RIGHT)))
    done = proctor("eval", path, "--model", model, "--out", tmp_path / "run", "--json")
    assert report(done)["left_out"] == {"where": 1}


def test_summary_and_record_say_where_the_tests_ran(proctor: Proctor, tmp_path: Path) -> None:
    path = write(tmp_path, FILE, [ROW])
    model, run = replies(tmp_path, ("1", fenced(RIGHT))), tmp_path / "run"
    done = proctor("eval", path, "--model", model, "--out", run)
    words = "the publishers' tests, in the program's own process"
    assert f"\nofficial ({words}): " in done.stdout
    page = tmp_path / "page.html"
    assert proctor("report", run, "--out", page).returncode == 0
    assert "own process" in page.read_text()
