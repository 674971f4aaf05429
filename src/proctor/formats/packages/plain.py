"""Directories of tests without a main file: HackerRank's, AtCoder's, Codeforces gym's and the like.

Such a directory says nothing of limits and, but for a checker, nothing of how outputs are graded.
"""

import re
from collections.abc import Iterator, Mapping

from proctor.errors import InputError
from proctor.formats.packages.files import Tree, extension, join, stem
from proctor.formats.packages.icpc_submissions import OF_DIRECTORY
from proctor.formats.packages.model import (
    Claim,
    Expectation,
    Labelled,
    Package,
    Timing,
    judgeable,
)
from proctor.formats.packages.native import ALL
from proctor.formats.packages.programs import TESTLIB, is_source, load_program, with_files
from proctor.grading import Checker, Comparison, Convention, Grading
from proctor.problem import Batch, Problem, Subtask, Test

EXAMPLES = "NAME.in with NAME.out, or input/input00.txt with output/output00.txt"

_LAYOUTS = (
    ("input/input*.txt", "output/output*.txt"),  # HackerRank
    *((f"{given}/*{ending}", f"{answer}/*{other}")
      for given, answer in (("in", "out"), ("input", "output"))  # AtCoder has the former
      for ending, other in ((".in", ".out"), ("", ""))),
    ("tests/*", "tests/*.a"),  # Polygon, and so Codeforces gym
    *((join(directory, f"*{given}"), join(directory, f"*{answer}"))
      for directory in ("", "tests", "test", "testcases", "testdata", "data")
      for given, answer in ((".in", ".out"), (".in", ".ans"), (".in", ".a"), (".in", ".sol"))),
    *((join(directory, "input*.txt"), join(directory, "output*.txt"))
      for directory in ("", "tests", "testcases")),
)  # fmt: skip
"""Inputs and answers; `*` is the test's name. Of several with the same inputs the first counts."""
_NUMBERS = "tests/*"
"""Pattern of inputs whose names must be numbers; other files there are not tests."""
_CHECKERS = ("check", "checker")
_INTERACTORS = ("interactor", "interact", "interactive")
_PROGRAMS = ("", "files", "checker", "interactor")
"""Directories that checkers are looked for in."""
_SUBMISSIONS = ("solutions", "submissions")
_HEADERS = (".h", ".hh", ".hpp")


def has_tests(tree: Tree) -> bool:
    """Return True for a directory with an input and its answer."""
    return bool(_layouts(tree))


def load(tree: Tree) -> Package:
    """The tests in a directory of which has_tests() is true. Raises InputError."""
    if found := _named(tree, _INTERACTORS):
        what = "nothing says how the interactor is called; put the problem into a package of a kind"
        raise InputError(what, file=tree.shown(found[0]))
    (layout, inputs), *others = _layouts(tree)
    for (pattern, _), some in others:
        if some != inputs:  # e.g. samples beside the tests: neither must count as all of them
            what = f"which are the tests: {layout[0]} or {pattern}? put the others elsewhere"
            raise InputError(what, file=tree.shown(""))
    grading = _grading(tree)
    tests = _tests(tree, inputs, layout[1], compared=isinstance(grading, Comparison))
    problem = judgeable(Problem(
        id=tree.root.name or "tests",
        tests=tuple(tests.values()),
        subtasks=(Subtask(ALL, 1.0, tuple(tests)),),
        grading=grading,
        running=Batch(output_variable="OUTPUT_PATH" if layout == _LAYOUTS[0] else None),
        title=tree.root.name,
    ))  # fmt: skip
    submissions = tuple(_submissions(tree))
    timing = Timing(given=False)
    return Package(problem, submissions, "plain", tree.root, timing, tuple(tree.notes.found))


def _layouts(tree: Tree) -> list[tuple[tuple[str, str], Mapping[str, str]]]:
    """Layouts with an input that has an answer, each with its inputs by name."""
    return [
        ((inputs, answers), named)
        for inputs, answers in _LAYOUTS
        if (named := _inputs(tree, inputs))
        and any(tree.is_file(answers.replace("*", name)) for name in named)
    ]


def _inputs(tree: Tree, inputs: str) -> dict[str, str]:
    """Files that match a pattern, by the text that its `*` matches; numbers in numerical order."""
    directory, _, pattern = inputs.rpartition("/")
    before, after = pattern.split("*")
    found = {}
    for entry in tree.entries(directory, lenient=True):
        path = join(directory, entry)
        if entry.startswith(before) and entry.endswith(after) and tree.is_file(path):
            name = entry[len(before) : len(entry) - len(after)]
            if name and (inputs != _NUMBERS or name.isdecimal()):
                found[name] = path
    return dict(sorted(found.items(), key=lambda each: _in_order(each[0])))


def _in_order(name: str) -> list[tuple[int, str]]:
    parts = re.findall(r"[0-9]+|[^0-9]+", name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def _tests(
    tree: Tree, inputs: Mapping[str, str], answers: str, *, compared: bool
) -> dict[str, Test]:
    found = {}
    for name, path in inputs.items():
        answer = answers.replace("*", name)
        there = tree.is_file(answer)
        if compared and not there:
            raise InputError(f"there is no answer to {path}", file=tree.shown(answer))
        found[name] = Test(tree.file(path), tree.file(answer) if there else None, name=name)
    return found


def _named(tree: Tree, stems: tuple[str, ...]) -> list[str]:
    """Files of these names, whatever their endings."""
    return [
        join(directory, entry)
        for directory in _PROGRAMS
        for entry in tree.entries(directory, lenient=True)
        if stem(entry) in stems and tree.is_file(join(directory, entry))
    ]


def _grading(tree: Tree) -> Grading:
    """A checker by testlib's convention, as there is no other on Codeforces; else tokens."""
    found = _named(tree, _CHECKERS)
    sources = [name for name in found if is_source(name)]
    if len(sources) > 1:
        what = f"there are several checkers: {', '.join(sources)}"
        raise InputError(what, file=tree.shown(sources[1]))
    if found and not sources:
        what = "the checker is in no known language, and without it nothing can be judged"
        raise InputError(what, file=tree.shown(found[0]))
    if not sources:
        return Comparison()
    directory = sources[0].rpartition("/")[0]
    beside = {
        entry: join(place, entry)
        for place in ("", "files", directory)
        for entry in tree.entries(place, lenient=True)
        if extension(entry) in _HEADERS and tree.is_file(join(place, entry))
    }
    program = with_files(tree, sources[0], list(beside.values()))
    if TESTLIB in program.source and TESTLIB not in program.files:
        what = f"it needs {TESTLIB}; put that beside it"
        raise InputError(what, file=tree.shown(sources[0]))
    return Checker(program, Convention.TESTLIB)


def _submissions(tree: Tree) -> Iterator[Labelled]:
    """Programs in directories whose names are verdicts; the others are noted."""
    for parent in _SUBMISSIONS:
        for entry in tree.entries(parent, lenient=True):
            path = join(parent, entry)
            if entry not in OF_DIRECTORY or not tree.is_dir(path):
                tree.notes(f"{path}: nothing says which verdict it should get")
                continue
            verdicts, bound = OF_DIRECTORY[entry]
            for name in tree.entries(path, lenient=True):
                with tree.noting(join(path, name)):
                    program = load_program(tree, join(path, name))
                    claim = Expectation(Claim(verdicts=verdicts))
                    yield Labelled(join(path, name), program, claim, bound)
