"""Inputs that kept the host busy for minutes or for ever, each found by looking for more."""

import gzip
import shlex
from pathlib import Path

import pytest

from proctor import bounded_lines, json_values
from proctor.errors import InputError
from proctor.evals.extraction import extract
from proctor.formats import livecodebench
from proctor.formats.hub_configs import choose_files
from proctor.formats.results import read_results
from proctor.integrations.rows import task_of
from proctor.languages.python_text import matching
from proctor.reports.records import read_run
from proctor.service.http.judge0 import request as judge0
from proctor.service.http.judge0.languages import Judge0Language
from proctor.service.http.judge0.settings import Judge0Settings
from proctor.service.http.piston.semver import satisfies, version_in
from proctor.service.http.sandbox_fusion.convert import run_request
from proctor.service.http.sandbox_fusion.schema import RunCodeRequest

pytestmark = pytest.mark.usefixtures("ends")


@pytest.mark.slow
def test_a_reply_whose_program_is_slow_to_parse() -> None:
    program = "import a" + ".a" * 120_000
    found = extract(f"```python\n{program}\n```\n\n```\nx\n```\n")
    assert found.code == program + "\n"
    assert extract(program).code == ""


def test_a_reply_that_nearly_holds_its_program_everywhere() -> None:
    program = "b" + "a" * 300_000 + "\n"
    reply = f"```python\n{program}```\n" + "a" * 3_000_000
    assert extract(reply).code == program


def test_a_version_of_a_million_terms() -> None:
    assert satisfies((1, 0, 0), "1 " * 100)
    assert not satisfies((1, 0, 0), "1 " * 10_000_000)
    assert version_in("gcc " + "9" * 5000) == (999_999_999, 0, 0)


def test_long_arguments_are_not_split(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        shlex, "split", lambda text: pytest.fail("split") if len(text) > 512 else []
    )
    offered = {71: Judge0Language(71, "Python", "python", "script.py")}
    body = {"source_code": "x", "language_id": 71, "command_line_arguments": "'" * 10_000_000}
    with pytest.raises(judge0.InvalidSubmission) as error:
        judge0.parsed(body, offered, Judge0Settings(), base64=False)
    assert "too long" in str(error.value.errors)


def card(files: str) -> str:
    return f"---\nconfigs:\n- config_name: a\n  data_files: {files}\n---\n"


@pytest.mark.parametrize(
    ("glob", "fits"),
    [
        ("**", True), ("data/*.jsonl", False), ("data/**/b-?.jsonl", True), ("**/b-*", True),
        ("data/*/b-1.jsonl", True), ("data/x/b-1.jsonl", True), ("*/b-1.jsonl", False),
        ("data/x**1.jsonl", True), ("data/x/b-??.jsonl", False), ("data/*b-1.jsonl", False),
        ("*", False), ("**/*.jsonl", True), ("data/**/x/b-1.jsonl", True), ("?ata/**", True),
    ],
)  # fmt: skip
def test_globs(glob: str, fits: bool) -> None:
    path = "data/x/b-1.jsonl"
    if fits:
        assert choose_files(card(f"'{glob}'"), [path], "a", "it") == [path]
    else:
        with pytest.raises(InputError, match="no table"):
            choose_files(card(f"'{glob}'"), [path], "a", "it")


def test_a_glob_of_many_wildcards() -> None:
    paths = ["a" * 200 + ".jsonl"]
    for wild in ("*", "**", "**/"):
        with pytest.raises(InputError, match="no table"):
            choose_files(card("'" + f"{wild}a" * 60 + "b'"), paths, "a", "it")


def test_a_card_that_unfolds_without_end() -> None:
    lists = ["&a0 [x, x]", *(f"&a{n + 1} [*a{n}, *a{n}]" for n in range(40))]
    with pytest.raises(InputError, match="aliases"):
        choose_files(card("[" + ", ".join(lists) + "]"), ["x.jsonl"], "a", "it")


@pytest.mark.slow
def test_a_regular_expression_that_never_ends() -> None:
    assert matching("(a+)+$", ["a" * 60 + "b"]) is None
    assert matching("(", ["a"]) is None
    assert matching("(" * 50_000 + ")" * 50_000, ["a"]) is None
    assert matching("a+", ["aab", "b", "a"]) == ["aab", "a"]


def test_a_packed_line_without_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_lines, "LONGEST_LINE", 1000)
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(b"x" * 1000 + b"\n" + b" " * 1001))
    read = livecodebench.read_lines(path)
    with pytest.raises(InputError, match="longer than 1000") as error:
        list(read)
    assert error.value.line == 1
    path.write_bytes(gzip.compress(b"x" * 999 + b"\n" + b"y" * 1000))
    assert [len(line) for _, line in livecodebench.read_lines(path)] == [1000, 1000]


def test_lines_without_an_end_in_what_proctor_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results and records were read by whole lines, however long."""
    monkeypatch.setattr(bounded_lines, "LONGEST_LINE", 1000)
    path = tmp_path / "records.jsonl"
    path.write_bytes(b"\n" + b" " * 1001)
    for read in (read_results, read_run):
        with pytest.raises(InputError, match="longer than 1000") as error:
            list(read(path))  # type: ignore[call-overload]
        assert (error.value.file, error.value.line) == (str(path), 2)


def test_a_line_of_many_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """50 packed kilobytes of `{},` took more than a gigabyte, and a megabyte twenty."""
    monkeypatch.setattr(json_values, "MOST_VALUES", 100)
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(b"[" + b"1," * 99 + b"1]\n[" + b"{}," * 99 + b"{}]\n"))
    with pytest.raises(InputError, match="more than 100 JSON values") as error:
        list(livecodebench.read_lines(path))
    assert (error.value.file, error.value.line) == (str(path), 2)
    with pytest.raises(InputError, match="more than 100 JSON values"):
        livecodebench.parse_json('["' + "a" * 99 + '"' + ",1" * 101 + "]")
    assert livecodebench.parse_json('["' + "," * 999 + '"]') == ["," * 999]


def test_tests_within_tests_without_end() -> None:
    cases: object = []
    for _ in range(100_000):
        cases = {"test_cases": cases}
    with pytest.raises(InputError, match="test_cases"):
        task_of({"test_cases": cases})


@pytest.mark.parametrize("line", ["\n", " \n", "# \n", "extern \n"])
def test_a_program_in_c_sharp_of_nothing_but_lines(line: str) -> None:
    data = RunCodeRequest("x" + line * 400_000 + "!", "csharp")
    assert run_request(data, loopback=False).program.source.endswith("\n!")
    kept = run_request(RunCodeRequest(" \n #  define A\n", "csharp"), loopback=False)
    assert kept.program.source == " \n #  define A\n"
