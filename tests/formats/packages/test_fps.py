"""FPS files: what is read as what, which problem is meant, and what is refused."""

from collections.abc import Callable
from pathlib import Path

import pytest

from package_changes import PACKAGES, copied, edit, refused, remove, replaced
from proctor.errors import InputError
from proctor.formats.contest_rows import load_contest_problem, load_contest_submissions
from proctor.formats.packages.package import load, load_some
from proctor.grading import Checker, Comparison, Convention
from proctor.judging.environment import open_environment
from proctor.judging.judge import judge
from proctor.limits import MIB
from proctor.problem import Interactive
from proctor.program import Program
from proctor.verdict import Verdict

FILE = "problem.xml"
PLAIN = """<item><title>Double</title>
  <time_limit unit="ms">500</time_limit><memory_limit unit="KB">65536</memory_limit>
  <sample_input>1</sample_input><sample_output>2</sample_output>
  <test_input>2</test_input><test_output>4</test_output>
  <test_input>3</test_input><test_output>6</test_output>
  <solution language="Python3">print(2 * int(input()))</solution>
</item>"""
NO_INPUT = """<item><title>Greet</title>
  <time_limit>1</time_limit><memory_limit>64</memory_limit>
  <sample_input></sample_input><sample_output>hello</sample_output>
</item>"""


def file_of(tmp_path: Path, *items: str, root: str = '<fps version="1.1">') -> Path:
    path = tmp_path / "export.xml"
    path.write_text(f'<?xml version="1.0"?>\n{root}\n{"".join(items)}</fps>\n')
    return path


def test_what_is_read() -> None:
    package = load(PACKAGES / "splitsum")
    problem = package.problem
    assert (problem.id, problem.title, package.format) == ("splitsum", "Split a Sum", "fps")
    assert "whose sum is n" in problem.statement
    assert problem.limits is not None
    assert (problem.limits.cpu, problem.limits.memory) == (1.5, 128 * MIB)
    assert [test.name for test in problem.tests] == ["sample", "least", "most"]
    assert [test.name for test in problem.tests if test.public] == ["sample"]
    assert problem.tests_by_name()["least"].output == "1 1\n"
    assert isinstance(problem.grading, Checker)
    assert problem.grading.convention is Convention.HUSTOJ
    assert problem.grading.program.language == "cpp17"
    assert problem.stubs["python"].before.startswith("def read")
    assert problem.stubs["python"].after == "print(*pair)\n"
    assert [each.program.language for each in package.submissions] == ["c", "cpp17", "python"]
    assert all(each.complete for each in package.submissions)
    assert package.notes == ()


def test_a_file_of_any_name_and_of_version_1_1(tmp_path: Path) -> None:
    package = load(file_of(tmp_path, PLAIN))
    problem = package.problem
    assert problem.id == "export"
    assert problem.limits is not None
    assert (problem.limits.cpu, problem.limits.memory) == (0.5, 64 * MIB)
    assert [test.name for test in problem.tests] == ["sample", "test0", "test1"]
    assert problem.grading == Comparison()


def test_one_of_several_is_chosen_by_its_number(tmp_path: Path) -> None:
    path = file_of(tmp_path, PLAIN, NO_INPUT)
    error = refused(path)
    assert "there are 2 problems; say which with --problem-id: 1 (Double), 2 (Greet)" in str(error)
    greet = load(path, "2").problem
    assert (greet.id, greet.title, [test.output for test in greet.tests]) == (
        "2", "Greet", ["hello"],
    )  # fmt: skip
    assert load_contest_problem(path, (), "1").title == "Double"
    with pytest.raises(InputError, match=r"no problem '3' \(there are: 1 \(Double\), 2 \(Greet\)"):
        load(path, "3")
    found, titles = load_some(path)
    assert (found, titles) == ({}, {"1": "Double", "2": "Greet"})


def test_submissions_that_are_rows_name_their_problem(tmp_path: Path) -> None:
    path = file_of(tmp_path, PLAIN, NO_INPUT)
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"problem_id": "2", "language": "python", "code": "print(1)"}\n')
    problems, submissions = load_contest_submissions(path, rows)
    assert [problems[each.problem] for each in submissions] == [load(path, "2").problem]
    rows.write_text('{"language": "python", "code": "print(1)"}\n')
    with pytest.raises(InputError, match="is missing, and there are several problems"):
        load_contest_submissions(path, rows)


def test_programs_that_grade(tmp_path: Path) -> None:
    package = copied(tmp_path, "splitsum")
    edit(package / FILE, '<spj language="C++">', '<tpj language="C++">')
    edit(package / FILE, "</spj>", "</tpj>")
    grading = load(package).problem.grading
    assert isinstance(grading, Checker)
    assert grading.convention is Convention.TESTLIB
    edit(package / FILE, '<tpj language="C++">', '<interactor language="C++">')
    edit(package / FILE, "</tpj>", "</interactor>")
    running = load(package).problem.running
    assert isinstance(running, Interactive)
    assert running.convention is Convention.TESTLIB
    edit(package / FILE, "#include <cstdio>", "#include <cstdio>\n#include &quot;testlib.h&quot;")
    edit(package / FILE, "&quot;testlib.h&quot;", '"testlib.h"')
    assert "put that beside the XML file" in refused(package).message
    (package / "testlib.h").write_text("// here\n")
    running = load(package).problem.running
    assert isinstance(running, Interactive)
    assert running.interactor.files == {"testlib.h": b"// here\n"}


def test_wrong_submissions_and_code_around_them() -> None:
    problem = load(PACKAGES / "splitsum").problem
    around = Program("n = read()\npair = (1, n - 1)")
    submissions = [
        (around, Verdict.AC),
        # What is in no template's language is a whole program.
        (Program("int main() { return 0; }", "c"), Verdict.PE),
        (Program('#include <cstdio>\nint main() { puts("1 1"); }', "cpp17"), Verdict.WA),
        (Program("n = read()\npair = (n,)"), Verdict.PE),
        (Program("pair = (0, read())"), Verdict.WA),
        (Program("pair = nothing"), Verdict.RE),
    ]
    with open_environment() as pool:
        found = [
            (program, judge(problem, program, pool=pool).verdict) for program, _ in submissions
        ]
    assert found == submissions


TEST = '<test_output name="most"><![CDATA[1 999999999\n]]></test_output>'
SPJ = '<spj language="C++">'
BROKEN: list[tuple[Callable[[Path], None], str]] = [
    (replaced(FILE, "</fps>", ""), "broken XML: no element found"),
    (replaced(FILE, "<item>", "<item>\x01"), "broken XML: not well-formed"),
    (replaced(FILE, "<![CDATA[5]]>", "&five;"), "the entity &five; is not known"),
    (
        replaced(FILE, '"http://hustoj.com/fps.current.dtd" >', '"x" [<!ENTITY five "5">]>'),
        "a document type is not read",
    ),
    (replaced(FILE, "<!DOCTYPE fps", "<!DOCTYPE html"), "a document type is not read"),
    (replaced(FILE, '<time_limit unit="s">', '<time_limit unit="h">'), "one of s, ms, not 'h'"),
    (replaced(FILE, "1.500", "soon"), "field `item[0].time_limit`: must be a number above 0"),
    (replaced(FILE, "memory_limit", "memory"), "field `item[0].memory_limit`: is missing"),
    (replaced(FILE, SPJ, '<spj language="Text">'), "submissions that are answers"),
    (replaced(FILE, SPJ, '<spj language="Cobol">'), "its language, 'Cobol', is not known"),
    (
        replaced(FILE, '<test_input name="most">', '<test_input name="least">'),
        "field `item[0].test_input[1]`: two tests are named 'least'",
    ),
]


@pytest.mark.parametrize(("change", "said"), BROKEN)
def test_broken_files_are_refused(
    tmp_path: Path, change: Callable[[Path], None], said: str
) -> None:
    package = copied(tmp_path, "splitsum")
    if "memory" in said:
        text = (package / FILE).read_text()
        (package / FILE).write_text(text.replace("memory_limit", "memory"))
    else:
        change(package)
    error = refused(package)
    assert said in str(error)
    assert str(package / FILE) in str(error)


def test_a_missing_output_is_refused_where_outputs_are_compared(tmp_path: Path) -> None:
    package = copied(tmp_path, "splitsum")
    edit(package / FILE, TEST, "")
    assert load(package).problem.tests_by_name()["most"].output is None
    path = file_of(tmp_path, PLAIN.replace("<test_output>6</test_output>", ""))
    assert "item[0].test_input`: there is no test_output of test 'test1'" in str(refused(path))


@pytest.mark.parametrize(
    ("item", "said"),
    [
        ("<item><title>A</title><time_limit>1</time_limit><memory_limit>64</memory_limit></item>",
         "a problem without tests cannot be judged"),
        (NO_INPUT.replace("</item>", "<remote_oj>pku</remote_oj></item>"),
         "there are no tests here: it is judged by 'pku'"),
        ("", "there is no <item> in it"),
    ],
)  # fmt: skip
def test_problems_without_tests(tmp_path: Path, item: str, said: str) -> None:
    assert said in refused(file_of(tmp_path, item)).message


def test_another_root_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.xml"
    path.write_text("<set/>")
    assert "the root must be <fps>, not <set>" in refused(path).message


def test_what_is_wrong_with_submissions_is_noted(tmp_path: Path) -> None:
    package = copied(tmp_path, "splitsum")
    edit(package / FILE, '<solution language="C">', '<solution language="Fortran">')
    edit(package / FILE, '<prepend language="Python">', '<prepend language="SQL(sqlite3)">')
    edit(package / FILE, '<test_input name="least">', '<test_input name="less">')
    loaded = load(package)
    assert len(loaded.submissions) == 2
    assert loaded.notes == (
        "test 'least': there is no test_input, so it is left out",
        "prepend: its language, 'SQL(sqlite3)', is not known",
        "solution 1 (Fortran): its language is not known",
    )


def test_polygon_keeps_its_main_file(tmp_path: Path) -> None:
    assert load(PACKAGES / "nearest" / FILE).format == "polygon"
    assert load(PACKAGES / "splitsum" / FILE).format == "fps"
    package = copied(tmp_path, "splitsum")
    (package / FILE).rename(package / "contest.xml")
    assert load(package / "contest.xml").problem.id == "contest"
    remove("contest.xml")(package)
    assert "not a problem package" in refused(package).message
