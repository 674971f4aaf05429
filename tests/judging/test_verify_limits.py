"""The limit that verifying works out, and what it is worked out from; faults of the package."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from package_changes import PACKAGES, copied, edit, write
from proctor.formats.packages.model import (
    ACCEPTED,
    CRASHED,
    SLOW,
    WRONG,
    Bound,
    Claim,
    bound,
)
from proctor.formats.packages.package import load
from proctor.judging.verify import verify
from proctor.sandbox.pool import Pool
from proctor.verdict import Verdict


def only_right(package: Path) -> None:
    edit(package / "problem.yaml", "  time_limit: 0.5\n", "")
    for directory in (package / "submissions").iterdir():
        if directory.name != "accepted":
            for path in directory.iterdir():
                path.unlink()


def test_a_limit_where_all_have_to_be_right(tmp_path: Path, contest_pool: Pool) -> None:
    package = copied(tmp_path, "meanvalue")
    only_right(package)
    checked, timed = verify(load(package), contest_pool)
    assert checked
    assert timed.slowest_right is not None
    assert timed.limit < 10  # the default, under which they are run
    assert timed.limit >= 5 * timed.slowest_right


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        (Claim(ACCEPTED), Bound.LOWER), (Claim(WRONG), Bound.LOWER), (Claim(SLOW), Bound.UPPER),
        (Claim(CRASHED), Bound.NONE), (Claim(frozenset({Verdict.MLE, Verdict.RE})), Bound.NONE),
        (Claim(frozenset({Verdict.CE})), Bound.NONE), (Claim(SLOW | CRASHED), Bound.NONE),
        (Claim(permitted=ACCEPTED | CRASHED, required=CRASHED), Bound.NONE),
        (Claim(permitted=ACCEPTED | WRONG, required=WRONG), Bound.LOWER),
    ],
)  # fmt: skip
def test_what_must_crash_says_nothing_of_the_limit(claim: Claim, expected: Bound) -> None:
    assert bound(claim) is expected


@pytest.mark.parametrize("directory", ["compile_error", "compiler_error"])
@pytest.mark.parametrize("name", ["meanvalue", "anypair"])
def test_directories_of_what_does_not_compile(tmp_path: Path, directory: str, name: str) -> None:
    package = copied(tmp_path, name)
    write(f"submissions/{directory}/bad.py", "print(")(package)
    (found,) = (each for each in load(package).submissions if each.name.endswith("bad.py"))
    assert (found.expected.verdicts, found.bound) == (frozenset({Verdict.CE}), Bound.NONE)


def proctor(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "proctor", *words], capture_output=True, text=True, check=False
    )


@pytest.mark.compiler
def test_a_fault_of_the_task_ends_with_2_and_is_told(tmp_path: Path) -> None:
    package = copied(tmp_path, "relay")
    edit(package / "grader/manager.cpp", "int main(int argc, char **argv) {",
         'int main(int argc, char **argv) {\n    fputs("lost my way", stderr); abort();')  # fmt: skip
    done = proctor("verify", str(package))
    assert done.returncode == 2, done.stdout
    assert "the manager was ended by signal 6" in done.stdout
    assert "lost my way" in done.stdout
    alone = proctor("judge", str(package), str(package / "solution/binary.cpp"))
    assert alone.returncode == 2
    assert "for the author of the problem:\nlost my way" in alone.stdout
    assert "the checker" not in alone.stdout + done.stdout


@pytest.mark.compiler
def test_a_manager_that_does_not_compile_is_named_once(tmp_path: Path) -> None:
    package = copied(tmp_path, "relay")
    write("grader/manager.cpp", "int main( {")(package)
    done = proctor("judge", str(package), str(package / "solution/binary.cpp"))
    assert done.returncode == 2
    assert "the manager of problem relay does not compile\n" in done.stderr
    assert "the program" not in done.stderr


@pytest.mark.compiler
def test_too_large_an_object_is_no_bug_of_the_compiler(tmp_path: Path) -> None:
    (tmp_path / "large.cpp").write_text("int a[300000000] = {1};\nint main() {}\n")
    done = proctor("judge", str(PACKAGES / "meanvalue"), str(tmp_path / "large.cpp"), "--json")
    found = json.loads(done.stdout)
    assert (found["verdict"], found["compiler_output"]) == ("CE", "")
    assert found["message"] == "compiling exceeded its limit on the size of a file"


@pytest.mark.parametrize("cut", ['{"id": "a", "x": "y', '{"id": "a",', '{"id": "a", "x": [1'])
def test_a_line_that_breaks_off_is_called_so(tmp_path: Path, cut: str) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(f'{{"id": "b"}}\n{cut}\n')
    done = proctor("judge", "--problems", str(rows), "--programs", str(rows))
    assert done.returncode == 2
    assert "column" not in done.stderr
