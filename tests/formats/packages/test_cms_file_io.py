"""Batch tasks for CMS whose grader reads and writes files, exported by TPS and Italian."""

import json
from pathlib import Path

import pytest

from package_changes import copied, edit, refused, write
from proctor.formats.packages.package import load
from proctor.judging.judge import judge
from proctor.judging.verify import verify
from proctor.problem import Batch
from proctor.program import Program
from proctor.sandbox.pool import Pool

IN_FILES = {
    "task_type_parameters_Batch_compilation": "grader",
    "task_type_parameters_Batch_io_0_inputfile": "pairs.in",
    "task_type_parameters_Batch_io_1_outputfile": "pairs.out",
    "task_type_parameters_Batch_output_eval": "comparator",
}
JAVA_GRADER = """
import java.io.*;
import java.util.*;

public class grader {
    public static void main(String[] args) throws IOException {
        Scanner in = new Scanner(new File("input.txt"));
        int[] heights = new int[in.nextInt()];
        for (int i = 0; i < heights.length; i++) heights[i] = in.nextInt();
        try (PrintWriter out = new PrintWriter("output.txt")) {
            out.println(climb.climb(heights));
        }
    }
}
"""
JAVA = """
public class climb {
    static int climb(int[] heights) {
        int best = 0, here = 0;
        for (int i = 0; i < heights.length; i++) {
            here = i > 0 && heights[i] > heights[i - 1] ? here + 1 : 1;
            best = Math.max(best, here);
        }
        return best;
    }
}
"""


def test_an_export_with_files_is_judged_as_labelled(tmp_path: Path, contest_pool: Pool) -> None:
    package = copied(tmp_path, "pairsum")
    settings = json.loads((package / "problem.json").read_text())
    settings["task_type_params"] = json.dumps(IN_FILES)
    (package / "problem.json").write_text(json.dumps(settings))
    edit(package / "graders/grader.cpp", "int main() {",
         'int main() {\n    freopen("pairs.in", "r", stdin), freopen("pairs.out", "w", stdout);')  # fmt: skip
    loaded = load(package)
    assert loaded.problem.running == Batch("pairs.in", "pairs.out")
    checked, _ = verify(loaded, contest_pool)
    assert len(checked) == len(loaded.submissions)
    assert [(each.submission.name, each.differences) for each in checked if each.differences] == []


@pytest.mark.language("java")
def test_java_is_compiled_with_its_grader(tmp_path: Path, contest_pool: Pool) -> None:
    package = copied(tmp_path, "climb")
    write("sol/grader.java", JAVA_GRADER)(package)
    # Where no control group counts memory, a JVM does not start in an address space of 64 MiB.
    edit(package / "task.yaml", "memory_limit: 64", "memory_limit: 1024")
    problem = load(package).problem
    found = judge(problem, Program(JAVA, "java"), pool=contest_pool)
    assert (found.verdict, found.points) == ("AC", 100), found.message
    wrong = judge(problem, Program(JAVA.replace("+ 1", "+ 2"), "java"), pool=contest_pool)
    assert (wrong.verdict, wrong.points) == ("WA", 0)


def test_a_submission_that_writes_no_file_or_to_stdout(tmp_path: Path, contest_pool: Pool) -> None:
    package = copied(tmp_path, "coins")
    edit(package / "task.yaml", 'outfile: ""', "outfile: output.txt")
    problem = load(package).problem
    printed = judge(problem, Program("print(2, 0, 0)", "python"), pool=contest_pool)
    assert (printed.verdict, printed.points) == ("WA", 0)
    assert "output.txt" in printed.message
    written = "print(*divmod(int(input()), 7), 0, file=open('output.txt', 'w'))"
    assert judge(problem, Program(written, "python"), pool=contest_pool).points == 40  # two of four


@pytest.mark.parametrize("name", ["../pairs.in", "/etc/passwd", "a//b"])
def test_files_are_within_the_working_directory(tmp_path: Path, name: str) -> None:
    package = copied(tmp_path, "pairsum")
    settings = json.loads((package / "problem.json").read_text())
    settings["task_type_params"] = ["grader", [name, ""], "comparator"]
    (package / "problem.json").write_text(json.dumps(settings))
    error = refused(package)
    assert (error.file, error.field) == (str(package.resolve() / "problem.json"), "input_file")


def test_tests_that_were_not_generated(tmp_path: Path) -> None:
    package = copied(tmp_path, "relay")
    for file in package.glob("tests/*"):
        file.unlink()
    assert "generate them first" in refused(package).message


def test_keys_for_both_tps_and_cms(tmp_path: Path) -> None:
    package = copied(tmp_path, "relay")
    settings = json.loads((package / "problem.json").read_text())
    settings |= {"task_type": "Communication", "score_type": "GroupMin", "ignore_checker": True}
    settings |= {"min_submission_interval": 60, "max_submission_number": None, "title": "A relay"}
    (package / "problem.json").write_text(json.dumps(settings))
    loaded = load(package)
    assert (loaded.problem.title, loaded.notes) == ("A relay", ())


def test_two_programs_keep_the_names_that_the_stub_knows(
    tmp_path: Path, contest_pool: Pool
) -> None:
    package = copied(tmp_path, "relay")
    write("grader/python/stub.py", """
import sys

if sys.argv[1] == "0":
    from sender import send
    print(send(int(input())), flush=True)
else:
    from receiver import receive
    print(receive(input()), flush=True)
""")(package)  # fmt: skip
    write("solution/two/sender.py", "def send(x):\n    return f'{x:b}'\n")(package)
    write("solution/two/receiver.py", "def receive(s):\n    return int(s, 2)\n")(package)
    edit(package / "solutions.json", "{", '{"two": {"verdict": "correct"}, ')
    checked, _ = verify(load(package), contest_pool)
    found = next(each for each in checked if each.submission.name == "solution/two")
    assert found.differences == (), found.judgement.message
