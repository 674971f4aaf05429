"""Packages of every format whose authors want the host's files, time, memory or terminal."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from package_changes import copied, edit, refused
from proctor import json_values
from proctor.errors import InputError
from proctor.formats.packages import documents
from proctor.formats.packages.files import Tree
from proctor.formats.packages.package import load
from proctor.problem import Problem

MAIN = {
    "wordcount": "problem.toml", "agreed": "problem.yaml", "pairsum": "problem.json",
    "dosage": "problem.json", "climb": "task.yaml", "cubes": "task.yaml", "nearest": "problem.xml",
    "splitsum": "problem.xml", "onroad": "init.yml",
}  # fmt: skip
"""The main file of a package in each format."""
SECONDS = {
    "wordcount": 'cpu = "500ms"', "agreed": "time_limit: 2", "pairsum": '"time_limit": 0.5',
    "dosage": '"time_limit": 1000', "climb": "time_limit: 0.5",
    "nearest": "<time-limit>500<", "splitsum": "<![CDATA[1.500]]",
}  # fmt: skip
BYTES = {
    "wordcount": 'memory = "256M"', "agreed": "memory: 256", "pairsum": '"memory_limit": 268435456',
    "dosage": '"memory_limit": 256', "climb": "memory_limit: 64",
    "nearest": "<memory-limit>268435456<", "splitsum": "<![CDATA[128]]",
}  # fmt: skip
POINTS = {
    "wordcount": ("problem.toml", "points = 40"), "pairsum": ("subtasks/01-small.json", '"score": 40'), "dosage": ("problem.json", '"score": 20'),
    "cubes": ("task.yaml", "[40, 1]"), "nearest": ("problem.xml", 'points="40"'),
    "onroad": ("init.yml", "points: 10"),
}  # fmt: skip
NUMBERS = [
    "1e308", "1e400", "NaN", ".nan", ".inf", "-1", "0", str(2**63), str(2**64), "9" * 5000, "1e-320",
]  # fmt: skip


def loaded(package: Path) -> Problem | InputError:
    """Load a package, or return the error that refuses it, which is short and names a file."""
    try:
        return load(package).problem
    except InputError as error:
        found = error
    assert found.file is not None
    assert len(str(found)) < 25_000
    return found


def with_number(text: str, number: str) -> str:
    """Put another number for the one in a piece of a file, and for its unit."""
    digits = [at for at, each in enumerate(text) if each.isdigit()]
    end = digits[-1] + 1
    while end < len(text) and text[end] in "msM":
        end += 1
    return text[: digits[0]] + number + text[end:]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize(("name", "piece"), [*SECONDS.items(), *BYTES.items()])
def test_limits_are_sensible_or_refused_by_file_and_field(
    name: str, piece: str, number: str, tmp_path: Path
) -> None:
    package = copied(tmp_path, name)
    edit(package / MAIN[name], piece, with_number(piece, number))
    found = loaded(package)
    if isinstance(found, InputError):
        assert found.field is not None or found.line is not None or "broken" in found.message
    else:
        assert 1e-6 <= found.test_limits.cpu <= 1e7
        assert found.test_limits.memory <= 1 << 60


@pytest.mark.sampled(4)
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize(("name", "place"), POINTS.items())
def test_points_are_sensible_or_refused(
    name: str, place: tuple[str, str], number: str, tmp_path: Path
) -> None:
    package, (file, piece) = copied(tmp_path, name), place
    if piece not in (package / file).read_text():
        pytest.fail(f"{file} of {name} has no {piece!r}")
    text = (package / file).read_text()
    first = piece[: next(at for at, each in enumerate(piece) if each.isdigit())]
    last = piece.removeprefix(first).lstrip("0123456789")
    (package / file).write_text(text.replace(piece, first + number + last, 1))
    found = loaded(package)
    if isinstance(found, Problem):
        assert all(0 <= each.points <= 1e12 for each in found.subtasks)


def link(target: str) -> Callable[[Path], object]:
    return lambda file: os.symlink(target, file)


def sparse(file: Path) -> None:
    with file.open("wb") as opened:
        opened.truncate(1 << 40)


FILES: dict[str, Callable[[Path], object]] = {
    "a link out": link("/etc/passwd"), "an endless device": link("/dev/zero"),
    "a link to itself": lambda file: os.symlink(file.name, file), "a pipe": os.mkfifo,
    "a directory": Path.mkdir, "a terabyte": sparse,
    "no text": lambda file: file.write_bytes(b"\xff\xfe\0\xe9" * 100),
    "UTF-16": lambda file: file.write_bytes("id = 1\n".encode("utf-16")),
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("name", MAIN)
def test_a_main_file_is_a_file(name: str, kind: str, tmp_path: Path) -> None:
    package = copied(tmp_path, name)
    (package / MAIN[name]).unlink()
    FILES[kind](package / MAIN[name])
    assert "root:" not in str(refused(package))


DEEP = {
    "brackets": b"[" * 200_000, "objects": b'{"a":' * 100_000, "dashes": b"- " * 100_000,
    "flow": b"{a: " * 50_000, "keys": b"a" + b".a" * 50_000 + b"=1", "elements": b"<a>" * 300_000,
    "array": b"a=" + b"[" * 50_000, "questions": b"? " * 50_000, "digits": b"a: " + b"9" * 100_000,
    "aliases": b"a: &a [x]\nb: &b [*a,*a]\nc: [*b,*b]\n", "code": b"!!python/object/apply:os.abort []",
    "entities": b'<!DOCTYPE a [<!ENTITY b "c"><!ENTITY d "&b;&b;">]><problem>&d;</problem>',
    "outside": b'<!DOCTYPE a SYSTEM "file:///etc/passwd"><problem/>',
    "encoding": b'<?xml version="1.0" encoding="utf-1e9"?><problem/>',
    "many keys": b"".join(b"k%d: 1\n" % number for number in range(20_000)),
    "long": b"#" + b"x" * (33 << 20),
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", DEEP)
@pytest.mark.parametrize("name", MAIN)
def test_a_main_file_that_is_a_bomb_is_refused(name: str, kind: str, tmp_path: Path) -> None:
    package = copied(tmp_path, name)
    (package / MAIN[name]).write_bytes(DEEP[kind])
    assert len(str(refused(package))) < 25_000


ODD_NAMES = ["a\nb.in", "\x1b[31m.in", "a\x7f.in", "a\u2028b.in", os.fsdecode(b"\xff.in")]


@pytest.mark.parametrize("odd", ODD_NAMES)
@pytest.mark.parametrize("name", ["agreed", "pairsum", "dosage", "wordcount"])
def test_a_test_s_name_holds_no_control_character(name: str, odd: str, tmp_path: Path) -> None:
    package = copied(tmp_path, name)
    tests = next(each.parent for each in sorted(package.rglob("*.in")))
    for ending in (".in", ".ans", ".out"):
        (tests / odd.replace(".in", ending)).write_text("1\n")
    found = loaded(package)
    texts = [found.message] if isinstance(found, InputError) else found.tests_by_name()
    assert all(each.isprintable() for each in texts)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("countdown", 'name = "1"', 'name = "a\\nb"'),
        ("countdown", 'name = "1"', 'name = "\\u0000"'),
        ("splitsum", 'test_input name="least"', 'test_input name="le&#10;ast"'),
        ("wordcount", 'id = "wordcount"', 'id = "word\\u001bcount"'),
    ],
)
def test_a_name_in_a_main_file_holds_no_control_character(
    name: str, old: str, new: str, tmp_path: Path
) -> None:
    package = copied(tmp_path, name)
    main = package / MAIN.get(name, "problem.toml")
    main.write_text(
        main.read_text().replace(old, new).replace('tput name="least"', 'tput name="le&#10;ast"')
    )
    error = refused(package)
    assert "control characters" in error.message
    assert error.field in {"tests", "id"}


def test_more_tests_than_can_be_judged_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proctor.formats.packages.package.MOST_TESTS", 1)
    error = refused(copied(tmp_path, "countdown"))
    assert (error.field, "more than 1" in error.message) == ("tests", True)


@pytest.mark.parametrize("decimals", [-400, 16, 10**12])
@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("wordcount", 'id = "', 'precision = {}\nid = "'),
        ("climb", "score_precision: 1", "score_precision: {}"),
        ("pairsum", '"score_precision": 2', '"score_precision": {}'),
    ],
)
def test_points_are_rounded_to_decimals_that_there_are(
    name: str, old: str, new: str, decimals: int, tmp_path: Path
) -> None:
    package = copied(tmp_path, name)
    edit(package / MAIN[name], old, new.format(decimals))
    assert refused(package).field == "precision"


@pytest.mark.parametrize("count", ["-1", str(2**64), "1000000"])
def test_a_number_of_tests_that_cannot_be_is_refused(count: str, tmp_path: Path) -> None:
    package = copied(tmp_path, "cubes")
    edit(package / "task.yaml", "n_input: 3", f"n_input: {count}")
    assert refused(package).field in {"n_input", "score_type_parameters"}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", ["..", "/", "."])
@pytest.mark.parametrize("name", MAIN)
def test_links_to_directories_above_are_followed_to_an_end(
    name: str, target: str, tmp_path: Path
) -> None:
    package = copied(tmp_path, name)
    for place in [package, *(each for each in package.rglob("*") if each.is_dir())]:
        os.symlink(target, place / "more")
    found = loaded(package)
    if isinstance(found, InputError):
        assert "leads out of the package" in found.message or "not a file name" in found.message


def test_names_that_differ_in_case_are_two_names(tmp_path: Path) -> None:
    package = copied(tmp_path, "pairsum")
    (package / "tests" / "1-01.IN").write_text("1")
    assert "1-01" in load(package).problem.tests_by_name()


def test_notes_have_an_end(tmp_path: Path) -> None:
    tree = Tree.at(tmp_path)
    for number in range(5000):
        tree.notes(str(number))
    assert len(tree.notes.found) == 1000


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("wordcount", "tests/1-1.in"), ("wordcount", "tests/1-1.ans"),
        ("agreed", "data/secret/1.ans"), ("climb", "input/input4.txt"),
    ],
)  # fmt: skip
def test_a_file_of_no_blocks_is_not_read_into_memory(name: str, file: str, tmp_path: Path) -> None:
    package = copied(tmp_path, name)
    os.truncate(package / file, 1 << 36)
    assert "has more than 512 MiB" in str(refused(package))


@pytest.mark.parametrize(
    ("name", "file"), [("nearest", "problem.xml"), ("splitsum", "problem.xml")]
)
def test_xml_has_a_number_of_elements(
    name: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """32 MiB of them, or of attributes, took more than a gigabyte."""
    package = copied(tmp_path, name)
    monkeypatch.setattr(documents, "_MOST_ELEMENTS", 3)
    error = loaded(package)
    assert isinstance(error, InputError)
    assert "more than 3 elements" in error.message
    assert error.line


def test_json_has_a_number_of_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_values, "MOST_VALUES", 3)
    error = loaded(copied(tmp_path, "pairsum"))
    assert isinstance(error, InputError)
    assert "more than 3 JSON values" in error.message
