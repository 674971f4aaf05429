"""Italian task directories: what is read, and what is wrong with broken ones."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from package_changes import PACKAGES, appended, copied, edit, refused, remove, replaced, write
from proctor.formats.packages.model import Bound, Package
from proctor.formats.packages.package import load
from proctor.grading import Checker, Comparison, Convention, Match
from proctor.limits import MIB
from proctor.problem import Aggregate, Batch, Communication, OutputOnly
from proctor.verdict import Verdict


def subtasks(package: Package) -> dict[str, tuple[float, tuple[str, ...], Aggregate]]:
    return {
        each.name: (each.points, each.tests, each.aggregate) for each in package.problem.subtasks
    }


def names(*numbers: int) -> tuple[str, ...]:
    return tuple(f"{number:03d}" for number in numbers)


def test_batch_with_graders_and_files() -> None:
    problem = load(PACKAGES / "climb").problem
    assert (problem.id, problem.title, problem.precision) == ("climb", "Longest climb", 1)
    assert problem.limits is not None
    assert (problem.limits.cpu, problem.limits.memory) == (0.5, 64 * MIB)
    assert problem.limits.stack == problem.limits.memory
    assert problem.running == Batch("input.txt", "output.txt")  # also where task.yaml says nothing
    assert problem.grading == Comparison(Match.LINES)
    assert {
        family: (set(stub.files), stub.name, stub.flags) for family, stub in problem.stubs.items()
    } == {
        "c": ({"grader.c", "climb.h"}, "climb.c", ("-DEVAL",)),
        "cpp": ({"grader.cpp", "climb.h"}, "climb.cpp", ("-DEVAL",)),
        "python": ({"grader.py"}, "climb.py", ()),
    }
    assert [test.name for test in problem.tests if test.public] == []  # all count for something
    assert "longest row" in problem.statement


def test_subtasks_of_gen_have_the_tests_of_those_that_they_depend_on() -> None:
    assert subtasks(load(PACKAGES / "climb")) == {
        "examples": (0, names(0, 1), Aggregate.MIN),
        "different": (40, names(0, 1, 2, 3), Aggregate.MIN),
        "any": (60, names(*range(7)), Aggregate.MIN),
    }


def test_gen_as_cms_reads_it(tmp_path: Path) -> None:
    package = copied(tmp_path, "climb")
    write(
        "gen/GEN",
        "# ST: 0\n#COPY: a.txt # why\n# COPY: b.txt\n\n#### #COPY: c.txt\n#ST:100\n1\n2 # x\n3\n4\n5",
    )(package)
    assert subtasks(load(package)) == {
        "subtask0": (0, names(0, 1), Aggregate.MIN),
        "subtask1": (100, names(2, 3, 4, 5, 6), Aggregate.MIN),
    }
    public = [test.name for test in load(package).problem.tests if test.public]
    assert public == ["000", "001"]


def test_subtasks_of_cases_gen_which_goes_before_gen(tmp_path: Path) -> None:
    package = copied(tmp_path, "mirror")
    write("gen/GEN", "1\n")(package)
    assert subtasks(load(package)) == {
        "examples": (0, names(0), Aggregate.MIN),
        "one-digit": (30, names(1), Aggregate.MIN),
        "more-digits": (70, names(1, 2, 3), Aggregate.MIN),
    }


def test_old_names_of_keys_and_no_subtasks() -> None:
    package = load(PACKAGES / "coins")
    problem = package.problem
    assert (problem.id, problem.title) == ("coins", "Few coins")
    assert problem.running == Batch(None, None)
    assert subtasks(package) == {"all": (80, names(0, 1, 2, 3), Aggregate.SUM)}
    assert isinstance(problem.grading, Checker)
    assert problem.grading.convention is Convention.SCORE
    assert [test.name for test in problem.tests if test.public] == ["000"]


def test_communication() -> None:
    problem = load(PACKAGES / "mirror").problem
    assert isinstance(problem.running, Communication)
    assert (problem.running.processes, problem.running.fifo_io) == (1, True)
    assert set(problem.stubs) == {"cpp", "python"}
    assert problem.tests[0].output is None


@pytest.mark.parametrize(
    ("setting", "stubbed", "fifo_io"),
    [
        ("", True, True),
        ("", False, False),
        ("user_io: std_io\n", True, False),
        ("user_io: fifo_io\n", False, True),
    ],
)
def test_pipes_are_usual_with_a_stub(
    tmp_path: Path, setting: str, stubbed: bool, fifo_io: bool
) -> None:
    package = copied(tmp_path, "mirror")
    appended("task.yaml", setting + "num_processes: 2\n")(package)
    if not stubbed:
        for stub in package.glob("sol/stub.*"):
            stub.unlink()
    running = load(package).problem.running
    assert isinstance(running, Communication)
    assert (running.processes, running.fifo_io) == (2, fifo_io)


def test_output_only_with_a_script_and_score_types_of_cms(tmp_path: Path) -> None:
    package = load(PACKAGES / "cubes")
    assert isinstance(package.problem.running, OutputOnly)
    assert isinstance(package.problem.grading, Checker)
    assert package.problem.grading.program.language == "python"
    assert subtasks(package) == {
        "subtask0": (40, names(0), Aggregate.MIN),
        "subtask1": (60, names(1, 2), Aggregate.MIN),
    }
    changed = copied(tmp_path, "cubes")
    edit(changed / "task.yaml", 'score_type: GroupMin\nscore_type_parameters: [[40, 1], [60, "00[12]"]]',
         "score_type: GroupMul\nscore_type_parameters:\n- [10, 2]\n- {max_score: 90, testcases: ['002']}")  # fmt: skip
    assert subtasks(load(changed)) == {
        "subtask0": (10, names(0, 1), Aggregate.PRODUCT),
        "subtask1": (90, names(2), Aggregate.PRODUCT),
    }
    edit(changed / "task.yaml", "GroupMul\nscore_type_parameters:\n- [10, 2]\n- {max_score: 90, testcases: ['002']}",
         "Sum\nscore_type_parameters: 20")  # fmt: skip
    assert subtasks(load(changed)) == {"all": (60, names(0, 1, 2), Aggregate.SUM)}


def test_checks_are_claims_about_subtasks() -> None:
    package = load(PACKAGES / "climb")
    found = {each.name.removeprefix("sol/"): each for each in package.submissions}
    assert found["solution.cpp"].expected.verdicts == {Verdict.AC}
    parts = {part.name: part.claim for part in found["not_lower.cpp"].expected.parts}
    assert parts["examples"].verdicts == parts["different"].verdicts == {Verdict.AC}
    assert parts["any"].required == {Verdict.WA, Verdict.PE}
    assert [part.name for part in found["bounds.py"].expected.parts] == [
        "examples",
        "different",
        "any",
    ]
    assert found["every_start.c"].bound is found["not_lower.cpp"].bound is Bound.LOWER
    assert found["spins_downhill.cpp"].bound is Bound.NONE  # right in one subtask, slow in another
    slow = next(
        each for each in load(PACKAGES / "mirror").submissions if each.name == "sol/spins.cpp"
    )
    assert slow.bound is Bound.UPPER


def test_what_is_not_known_of_a_solution_is_noted(tmp_path: Path) -> None:
    package = copied(tmp_path, "climb")
    write("sol/other.cpp", "int main() {}\n")(package)
    write(
        "sol/odd.cpp", "// @check-acepted: *\n// @check-accepted any\n// @check-zero: fast any\n"
    )(package)
    write("sol/notes.txt", "@check-accepted: *\n")(package)
    loaded = load(package)
    notes = "\n".join(loaded.notes)
    assert "sol/other.cpp: nothing says what is expected of it" in notes
    assert "sol/odd.cpp: line 1: @check-acepted is not a check; did you mean 'accepted'?" in notes
    assert "sol/odd.cpp: line 2: " in notes
    assert "sol/odd.cpp: line 3: there is no subtask 'fast'" in notes
    assert "notes.txt" not in notes
    odd = next(each for each in loaded.submissions if each.name == "sol/odd.cpp")
    assert [part.name for part in odd.expected.parts] == ["any"]


def test_settings_of_task_maker(tmp_path: Path) -> None:
    package = copied(tmp_path, "climb")
    (package / "task.yaml").rename(package / "task.yaml.orig")
    write("task.yaml", "name: [made\n")(package)
    edit(package / "task.yaml.orig", "name: climb", "name: other")
    problem = load(package).problem
    assert (problem.id, problem.running) == ("climb", Batch(None, None))  # its defaults are others
    assert load(package / "task.yaml.orig").problem.id == "climb"


def test_limits_that_are_missing(tmp_path: Path) -> None:
    package = copied(tmp_path, "coins")
    edit(package / "task.yaml", "timeout: 0.5\nmemlimit: 64\n", "")
    loaded = load(package)
    assert not loaded.timing.given
    assert any("memory_limit" in note for note in loaded.notes)


def test_tests_are_counted_where_nothing_says_how_many(tmp_path: Path) -> None:
    package = copied(tmp_path, "coins")
    (package / "gen/GEN").unlink()
    edit(package / "task.yaml", "n_input: 4\n", "")
    assert len(load(package).problem.tests) == 4
    appended("task.yaml", "n_input: 3\n")(package)
    loaded = load(package)
    assert len(loaded.problem.tests) == 3
    assert any("input3.txt" in note for note in loaded.notes)


def test_a_score_type_alone_is_of_no_matter(tmp_path: Path) -> None:
    package = copied(tmp_path, "climb")
    appended("task.yaml", "score_type: Sum\n")(package)
    loaded = load(package)
    assert subtasks(loaded)["any"][2] is Aggregate.MIN
    assert any("score_type" in note for note in loaded.notes)


def test_settings_beside_the_directory(tmp_path: Path) -> None:
    package = copied(tmp_path, "climb")
    shutil.move(package / "task.yaml", tmp_path / "climb.yaml")
    assert f"move {tmp_path.resolve() / 'climb.yaml'} to task.yaml" in refused(package).message


BROKEN = [
    ("climb", replaced("task.yaml", "time_limit", "time_limt"), "task.yaml", "time_limt"),
    ("climb", replaced("task.yaml", "0.5", "soon"), "task.yaml", "time_limit"),
    ("climb", replaced("task.yaml", "64", "-1"), "task.yaml", None),
    ("climb", replaced("task.yaml", "all", "0,7"), "task.yaml", "public_testcases"),
    ("climb", appended("task.yaml", "n_input: 8\n"), "task.yaml", "n_input"),
    ("climb", appended("task.yaml", "output_only_testcases: '0,7'\n"), "task.yaml",
     "output_only_testcases"),
    ("climb", appended("task.yaml", "infile: ../secret\n"), "task.yaml", "input_file"),
    ("climb", write("task.yaml", "[]"), "task.yaml", None),
    ("climb", replaced("gen/GEN", "#ST: 60", "#ST: many"), "gen/GEN", None),
    ("climb", replaced("gen/GEN", "#STNAME: any", "#STNAME: examples"), "gen/GEN", None),
    ("climb", replaced("gen/GEN", "#STDEP: examples", "#STDEP: exmples"), "gen/GEN", None),
    ("climb", replaced("gen/GEN", "# downhill", "#ST: 3"), "gen/GEN", None),
    ("climb", replaced("gen/GEN", "#ST: 0", "0\n#ST: 0"), "gen/GEN", None),
    ("climb", appended("gen/GEN", "#ST: 5\n"), "gen/GEN", None),
    ("climb", appended("gen/GEN", "7\n"), "input/input7.txt", None),
    ("climb", remove("input/input2.txt"), "input/input2.txt", None),
    ("climb", remove("input/input0.txt"), "input", None),
    ("climb", remove("output/output2.txt"), "output/output2.txt", None),
    ("mirror", replaced("gen/cases.gen", ": RUN", ": RUNN"), "gen/cases.gen", None),
    ("mirror", appended("task.yaml", "num_processes: 200\n"), "task.yaml", "num_processes"),
    ("mirror", appended("task.yaml", "user_io: pipes\n"), "task.yaml", "user_io"),
    ("mirror", write("check/controller.cpp", "int main() {}"), "check/controller", None),
    ("cubes", replaced("task.yaml", "GroupMin", "GroupThreshold"), "task.yaml", "score_type"),
    ("cubes", replaced("task.yaml", "[40, 1]", "[40, 4]"), "task.yaml", "score_type_parameters[0]"),
    ("cubes", replaced("task.yaml", "[40, 1]", "[many, 1]"), "task.yaml", "score_type_parameters[0]"),
    ("cubes", replaced("task.yaml", "00[12]", "(("), "task.yaml", "score_type_parameters[1]"),
    ("cubes", replaced("task.yaml", '[[40, 1], [60, "00[12]"]]', "5"), "task.yaml",
     "score_type_parameters"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "change", "file", "field"),
    BROKEN,
    ids=[f"{i}-{n}-{field or f}" for i, (n, _, f, field) in enumerate(BROKEN)],
)
def test_broken_italian_packages_name_file_and_field(
    tmp_path: Path, name: str, change: Callable[[Path], None], file: str, field: str | None
) -> None:
    package = copied(tmp_path, name)
    change(package)
    error = refused(package)
    assert error.file == str(package.resolve() / file), str(error)
    assert field is None or error.field == field, str(error)


@pytest.mark.parametrize(
    ("name", "program"), [("coins", "cor/correttore"), ("mirror", "check/manager")]
)
def test_a_compiled_program_without_its_source_is_refused(
    tmp_path: Path, name: str, program: str
) -> None:
    package = copied(tmp_path, name)
    (package / f"{program}.cpp").rename(package / program)
    (package / program).write_bytes(b"\x7fELF\x02\x01\x01")
    error = refused(package)
    assert error.file == str(package.resolve() / program)
    assert f"put {program}.cpp beside it" in error.message
