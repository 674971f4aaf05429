"""Habits of CMS's own tasks: input.txt, several files, stubs beside graders, classes."""

from pathlib import Path

import pytest

from package_changes import copied, edit, write
from proctor.formats.packages.package import load
from proctor.judging.judge import judge
from proctor.judging.verify import verify
from proctor.problem import Problem, Test
from proctor.program import Program
from proctor.sandbox.pool import Pool


def differences(package: Path, pool: Pool, names: set[str]) -> list[tuple[str, object]]:
    loaded = load(package)
    checked, _ = verify(loaded, pool)
    assert {each.submission.name for each in checked} >= names, loaded.notes
    return [(each.submission.name, each.differences) for each in checked if each.differences]


@pytest.mark.slow
def test_a_manager_that_opens_its_input(tmp_path: Path, contest_pool: Pool) -> None:
    package = copied(tmp_path, "relay")
    edit(package / "grader/manager.cpp", "std::cin >> x", 'std::ifstream("input.txt") >> x')
    edit(package / "grader/manager.cpp", "#include <iostream>", "#include <fstream>")
    assert differences(package, contest_pool, {"solution/binary.cpp"}) == []


def test_a_submission_of_several_files(tmp_path: Path, contest_pool: Pool) -> None:
    package = copied(tmp_path, "relay")
    send, receives, receive = (package / "solution/binary.cpp").read_text().partition("int receive")
    write("solution/two/user1.cpp", send)(package)
    write("solution/two/user2.cpp", f'#include "relay.h"\n{receives}{receive}')(package)
    edit(package / "solutions.json", "{", '{"two": {"verdict": "correct"}, ')
    assert differences(package, contest_pool, {"solution/two"}) == []


def test_the_other_kind_of_stub_is_left_out(tmp_path: Path, contest_pool: Pool) -> None:
    package = copied(tmp_path, "relay")
    write("grader/cpp/grader.cpp", "int main() { return 1; }\n")(package)
    assert set(load(package).problem.stubs["cpp"].files) == {"stub.cpp", "relay.h"}
    batch = copied(tmp_path, "pairsum")
    before = set(load(batch).problem.stubs["cpp"].files)
    write("graders/stub.cpp", "int main() { return 1; }\n")(batch)
    assert set(load(batch).problem.stubs["cpp"].files) == before
    assert any(name.startswith("grader.") for name in before)


@pytest.mark.language("java")
@pytest.mark.parametrize("name", ["sum.java", "dir/sum.java", "Main.java", ""])
def test_java_is_named_by_its_public_class(name: str, contest_pool: Pool) -> None:
    source = "import java.util.*;\npublic class Main { public static void main(String[] a) { System.out.println(7); } }\n"
    found = judge(
        Problem("p", (Test(b"", b"7\n"),)), Program(source, "java", name), pool=contest_pool
    )
    assert found.verdict == "AC", found.message
