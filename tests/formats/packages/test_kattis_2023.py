"""What the Kattis format has since 2023-07: constants, files beside tests, talks of several passes."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from package_changes import PACKAGES, appended, copied, linked, refused, replaced, write
from proctor.formats.packages.package import load
from proctor.problem import Interactive, content_bytes


def test_constants_stand_where_the_specification_says() -> None:
    package = load(PACKAGES / "memo")
    running = package.problem.running
    assert isinstance(running, Interactive)
    assert 'finish(43, "?")' in running.interactor.source
    assert running.flags == ("most", "10"), "from test_group.yaml"
    assert "at most 10 letters" in package.problem.statement
    for family in ("cpp", "python"):
        assert package.problem.stubs[family].files["memo.h"] == b"enum { LONGEST = 10 };\n"
    sources = {each.name: each.program.source for each in package.submissions}
    assert '"010b"' in sources["submissions/accepted/binary.py"]


def test_constants_stand_nowhere_else(tmp_path: Path) -> None:
    package = copied(tmp_path, "memo")
    write("data/secret/zero.in", "{{longest}}\n")(package)
    write("data/secret/zero.yaml", 'args: ["{{longest}}"]\n')(package)
    write("statement/problem.en.md", "{{longest}} {{longer}} {{ longest }} {longest}")(package)
    problem = load(package).problem
    test = problem.tests_by_name()["secret/zero"]
    assert test.input_bytes() == b"{{longest}}\n"
    assert test.args == ("{{longest}}",)
    assert problem.statement == "10 {{longer}} {{ longest }} {longest}"


@pytest.mark.parametrize(
    ("value", "written"),
    [("7", "7"), ("0.25", "0.25"), ('"1e9"', "1e9"), ('"{{longest}}"', "{{longest}}"), ('""', "")],
)
def test_values_of_constants(value: str, written: str, tmp_path: Path) -> None:
    package = copied(tmp_path, "memo")
    appended("problem.yaml", f"  other: {value}\n")(package)
    write("statement/problem.en.md", "<{{other}}>")(package)
    assert load(package).problem.statement == f"<{written}>"


def test_files_beside_a_test_go_with_it() -> None:
    tests = load(PACKAGES / "memo").problem.tests_by_name()
    assert list(tests) == ["sample/1", "secret/large", "secret/zero"]
    files = {name: list(test.files or ()) for name, test in tests.items()}
    assert files["sample/1"] == ["key.txt"]
    assert files["secret/large"] == ["deep/key.txt"]
    assert content_bytes((tests["secret/large"].files or {})["deep/key.txt"]) == b"512\n"


def rename_files(package: Path) -> None:
    shutil.move(package / "data/secret/zero.files", package / "data/secret/none.files")


@pytest.mark.parametrize(
    ("name", "change", "file", "field"),
    [
        ("memo", rename_files, "data/secret/none.files", None),
        ("memo", linked("data/secret/zero.files/x", "/etc/hostname"),
         "data/secret/zero.files/x", None),
        ("meanvalue", write("data/secret/1-whole.files/x", ""), "data/secret/1-whole.files", None),
        ("meanvalue", appended("problem.yaml", "constants: {a: 1}\n"), "problem.yaml", "constants"),
        ("memo", appended("problem.yaml", "  2nd: 1\n"), "problem.yaml", "constants.2nd"),
        ("memo", appended("problem.yaml", "  no: 1\n"), "problem.yaml", "constants.False"),
        ("memo", appended("problem.yaml", "  a: [1]\n"), "problem.yaml", "constants.a"),
        ("memo", appended("problem.yaml", "  a: true\n"), "problem.yaml", "constants.a"),
        ("memo", appended("problem.yaml", "  a: .inf\n"), "problem.yaml", "constants.a"),
        ("memo", replaced("problem.yaml", "multi-pass]", "submit-answer]"), "problem.yaml", "type"),
    ],
)  # fmt: skip
def test_what_is_refused(
    name: str, change: Callable[[Path], None], file: str, field: str | None, tmp_path: Path
) -> None:
    package = copied(tmp_path, name)
    change(package)
    error = refused(package)
    assert error.file == str(package.resolve() / file), str(error)
    assert error.field == field, str(error)
