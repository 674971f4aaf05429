"""Benchmarks that are files: files, rows and options that cannot be used, and say why."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from benchmark_files import ADD, ANSWER, QUESTIONS, STDIO, SUB, prompt_of, replies, write
from proctor_command import Proctor

from proctor.errors import InputError
from proctor.evals.benchmark_file.loading import load
from proctor.evals.settings import Settings


def test_links_lead_nowhere_else(proctor: Proctor, tmp_path: Path) -> None:
    path = write(tmp_path / "given", ANSWER, QUESTIONS)
    secret = tmp_path / "secret.csv"
    secret.write_text(QUESTIONS)
    (path.parent / "rows.csv").unlink()
    (path.parent / "rows.csv").symlink_to(secret)
    done = proctor("eval", path, "--dry-run")
    assert (done.returncode, "rows.csv leads out of" in done.stderr) == (2, True)
    path.write_text(ANSWER.replace("rows.csv", str(secret)))
    done = proctor("eval", path, "--dry-run")
    assert (done.returncode, "not a plain relative path" in done.stderr) == (2, True)
    assert proctor("eval", path, "--dry-run", "--source", secret).returncode == 0


def test_a_row_that_cannot_be_used_is_left_out_and_told(
    proctor: Proctor, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Here for its prompt and for its tests; it refused the whole file."""
    path = write(tmp_path, STDIO, [SUB | {"task": None}, ADD, SUB | {"name": "odd", "hidden": [1]}])
    done = proctor(
        "eval", path, "--model", replies(tmp_path, ("add", "print(sum(map(int, input().split())))")),
        "--out", tmp_path / "run", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["left_out"] == {"unusable": 2}
    (warning,) = caplog.messages
    assert "rows.jsonl, line 1: a value is null" in warning
    assert warning.endswith("; this row is left out, with 1 more that cannot be used")


def test_every_prompt_is_tried_before_a_run_begins(proctor: Proctor, tmp_path: Path) -> None:
    path = write(tmp_path, STDIO, [SUB | {"task": None}])
    run = tmp_path / "run"
    done = proctor("eval", path, "--model", replies(tmp_path, ("add", "print(1)")), "--out", run)
    assert done.returncode == 2
    assert "rows.jsonl, line 1: a value is null" in done.stderr
    assert not run.exists()
    write(tmp_path, STDIO.replace('id = "name"', 'id = "name"\nwhere = "level is none"'), [ADD])
    assert "no row, or none that `where` takes" in proctor("eval", path, "--dry-run").stderr


@pytest.mark.parametrize(
    ("tests", "says"),
    [
        ("[]", "holds no test"),
        ("3", "tests are a list, not int"),
        ("'{'", "broken JSON"),
        ("[1]", "a test has an input and an output, and is not '1'"),
        ("[{'input': '1'}]", "a test has no output"),
        ("{'input': ['1', '2'], 'output': ['1']}", "there are 2 inputs and 1 outputs"),
        ("{'input': '1', 'output': '1'}", "a list of inputs and one of outputs"),
        ("[{'input': 1, 'output': '1'}]", "is a text, not int"),
        ("absent", "'absent' is undefined; there are name, level"),
        ("task.__class__", "__class__"),
        ("range(10 ** 9)|list", "Range too big"),
    ],
)
def test_tests_that_cannot_be_used(tmp_path: Path, tests: str, says: str) -> None:
    path = write(tmp_path, STDIO.replace('"hidden"', f'"{tests}"'), [ADD | {"shown": []}])
    with pytest.raises(InputError, match="rows.jsonl, line 1") as caught:
        prompt_of(path)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("[rows]", "[rows]\nfiel = 'x'"), "field `rows`: object contains unknown field `fiel`"),
        (('kind = "answer"', 'kind = "math"'), "field `grading.kind`: invalid value 'math'; it is"),
        (('output = "right"', ""), "field `grading.output`: is missing"),
        (('output = "right"', 'output = "right +"'), "field `grading.output`: 'right +' is no"),
        (('output = "right"', 'output = "right"\ncompare = {match = "fuzzy"}'),
         "field `grading.compare.match`"),
        (("{{ question }}", "{{ question"), "field `prompt.user`: is not a template"),
        (("{{ question }}", "{% include '../rows.csv' %}"), "includes ../rows.csv, which is no"),
        (('file = "rows.csv"', ""), "field `rows`: needs `file`, or `hub`"),
        (('file = "rows.csv"', 'file = "x.csv"'), "field `rows.file`: there is no"),
        (("[rows]", "name = 'humaneval'\n[rows]"), "is the name of a benchmark that comes with"),
        (("[rows]", "name = 'a b'\n[rows]"), "'a b' is not a name"),
        (("[rows]", "[settings]\nbase_url = 'http://x'\n[rows]"),
         "field `settings.base_url`: is for the command line"),
        (("[rows]", "[modes]\nofficial = 'x'\n[rows]"), "field `modes.official`"),
        (("[rows]", "[program]\nlanguages = ['cobol']\n[rows]"), "`program.languages`: must be left"),
        (("[rows]", "[extraction]\nbest = 'x'\n[rows]"), "field `extraction.best`: is not one of"),
        (("[rows]", "[let]\nrow = 'id'\n[rows]"), "field `let.row`: is not a name, or one"),
        (("[rows]", "[program]\nhead = 'id'\n[rows]"), "field `program.head`: is for Python alone"),
        (("[rows]", "[extraction]\nauto = '{{ reply.spilt() }}'\n[rows]"), "no attribute 'spilt'"),
        (("[rows]", "[extraction]\nauto = '{{ last(\"(\", reply) }}'\n[rows]"), "unterminated"),
        (("{{ question }}", "{% include '.env' %}"), "includes .env, which is not a text file"),
        (("{{ question }}", "{% include question %}"), "is included by its name in quotes"),
        (('output = "right"', 'output = "right"\ncompare = {absolute = inf}'),
         "field `grading.compare.absolute`: must be a number from 0 on"),
        (('output = "right"', 'output = "right"\nchecker = {file = "x.py"}'),
         "field `grading.checker.file`: there is no"),
        (("[rows]", "[rows]\nhub = '../x'"), "field `rows.hub`: is not an OWNER/NAME"),
        (("user =", "text = 'x'\nuser ="), "field `prompt`: needs one of these: `user`, perhaps"),
        (("[rows]", "[rows"), "broken TOML"),
    ],
)  # fmt: skip
def test_files_that_cannot_be_used(
    proctor: Proctor, tmp_path: Path, change: tuple[str, str], says: str
) -> None:
    path = write(tmp_path, ANSWER.replace(*change), QUESTIONS)
    done = proctor("eval", path, "--dry-run")
    assert done.returncode == 2, done.stdout
    assert says in done.stderr
    assert str(path) in done.stderr


@pytest.mark.parametrize("name", ["humaneval", "cruxeval", "livecodebench"])
def test_a_directory_in_the_way_changes_nothing(
    proctor: Proctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / name).mkdir()
    shutil.move(write(tmp_path, ANSWER, QUESTIONS), tmp_path / name / "benchmark.toml")
    monkeypatch.chdir(tmp_path)
    done = proctor("eval", name, "--dry-run")
    assert done.returncode == 0
    assert "of fixture" in done.stdout
    for place in ("./nowhere", f"./{name}"):
        done = proctor("eval", place, "--dry-run")
        assert done.returncode == 2


@pytest.mark.parametrize(
    ("test", "says"),
    [
        ({"input": [], "output": 5}, "a call without arguments cannot be tested so"),
        ({"input": "", "output": "5"}, "a call without arguments cannot be tested so"),
        ({"input": "foo", "output": "5"}, "broken JSON"),
        ({"input": "1", "output": "foo"}, "broken JSON"),
        ({"input": "1", "output": 5}, "a text, too"),
    ],
)
def test_calls_that_cannot_be_used(tmp_path: Path, test: dict[str, Any], says: str) -> None:
    text = STDIO.replace('kind = "stdio"', 'kind = "calls"').replace(
        'languages = ["python", "cpp"]', "function = \"'f'\""
    )
    path = write(tmp_path, text, [ADD | {"shown": [], "hidden": [test]}])
    with pytest.raises(InputError, match="line 1, field `hidden`") as caught:
        prompt_of(path)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("cpu", 10**400, "field `cpu`: must be a number from 0 on"),
        ("cpu", 0, "field `cpu`: must be more than 0 seconds"),
        ("cpu", "x", "field `cpu`: must be a number from 0 on, not 'x'"),
        ("memory", 10**30, "field `memory`: must be 4194304 bytes at least"),
        ("memory", "12Q", "field `memory`: unknown unit"),
    ],
)
def test_limits_that_cannot_be(tmp_path: Path, column: str, value: Any, says: str) -> None:
    path = write(tmp_path, STDIO + f'{column} = "{column}"\n', [ADD | {column: value}])
    with pytest.raises(InputError) as caught:
        prompt_of(path)
    assert says in str(caught.value)


def test_options_for_agents_and_cells(proctor: Proctor, tmp_path: Path) -> None:
    path = write(tmp_path, STDIO + '[prompts.base]\ntext = "{{ task }}"\n', [ADD])
    for options, says in (
        (["--agentic-mode", "--language", "cpp"], "agents write Python"),
        (["--agentic-mode", "--prompt", "base"], "is for base models"),
        (["--language", "cpp", "--preload", "math"], "--packages and --preload mean nothing"),
    ):
        done = proctor("eval", path, "--dry-run", *options)
        assert (done.returncode, says in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("id,question\n1\n", "line 2: has 1 values for 2 columns"),
        ("id,id\n1,2\n", "line 1: must give each column a name of its own"),
        ('id,question\n1,"2\n', "broken CSV"),
        ("id,question,right\n,2,3\n", "line 2, field `id`: is empty"),
        (
            "id,question,right\n1,2,3\n1,2,3\n",
            "line 3, field `id`: '1' is already the id of line 2",
        ),
    ],
)
def test_csv_that_cannot_be_used(tmp_path: Path, rows: str, says: str) -> None:
    source = load(write(tmp_path, ANSWER, rows)).open_source(Settings())
    with pytest.raises(InputError, match="rows.csv") as caught:
        list(source.infos())
    assert says in str(caught.value)


def test_options_that_mean_nothing(proctor: Proctor, tmp_path: Path) -> None:
    path = write(tmp_path, ANSWER, QUESTIONS)
    for options, says in (
        (["--prompt", "other"], "--prompt is plain for sums"),
        (["--language", "cpp"], "--language is one of python for sums"),
        (["--extraction", "upstream"], "says nothing of --extraction upstream"),
        (["--platforms", "moon"], "'moon' is not one of"),
        (["--mode", "official"], "graded standard, not official"),
        (
            ["--source", "huggingface"],
            "a source is fixture or hf:OWNER/NAME[@REVISION][:CONFIG] or a file",
        ),
    ):
        done = proctor("eval", path, "--dry-run", *options)
        assert (done.returncode, says in done.stderr) == (2, True), done.stderr
