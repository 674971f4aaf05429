"""Packages in the form of Polygon's full ones: problem.xml, with the tests as files."""

from collections.abc import Sequence
from dataclasses import replace
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from proctor.formats.conversion.draft import Draft, add_submission, main_file
from proctor.formats.conversion.labels import Labels
from proctor.formats.conversion.same import Difference
from proctor.formats.packages.files import extension
from proctor.formats.packages.model import Expectation, Package
from proctor.formats.packages.polygon import FILE, HEADERS, STANDARD
from proctor.formats.packages.polygon_scoring import ALL
from proctor.formats.packages.polygon_solutions import claim_of
from proctor.formats.packages.programs import DATA
from proctor.grading import Checker, Comparison, Convention
from proctor.problem import Aggregate, Batch, Interactive, Problem, Subtask
from proctor.program import Program

_TAGS = (
    "accepted", "time-limit-exceeded", "memory-limit-exceeded", "wrong-answer",
    "time-limit-exceeded-or-memory-limit-exceeded", "time-limit-exceeded-or-accepted", "rejected",
)  # fmt: skip
"""Tags of solutions, those that say more before others."""
_USUAL = ("wcmp", "nyesno", "rcmp4", "rcmp6", "rcmp9")
"""Checkers of testlib that are preferred to others that compare the same way."""
_TYPES = {
    "c": "c.gcc", "cpp11": "cpp.g++11", "cpp14": "cpp.g++14", "cpp17": "cpp.g++17",
    "cpp20": "cpp.gcc13-64-winlibs-g++20", "cpp23": "cpp.gcc14-64-msys2-g++23",
    "csharp": "csharp.mono", "go": "go", "haskell": "haskell", "java": "java21",
    "javascript": "v8.3", "kotlin": "kotlin19", "ocaml": "ocaml", "pascal": "pas.fpc",
    "perl": "perl", "php": "php", "pypy": "python.pypy3-64", "python": "python.3", "ruby": "ruby",
    "rust": "rust",
}  # fmt: skip


def write(package: Package, draft: Draft) -> None:
    """Draft the package."""
    problem = package.problem
    root = Element("problem", {"short-name": problem.id, "revision": "1"})
    names = SubElement(root, "names")
    SubElement(names, "name", language="english", value=problem.title or problem.id)
    if problem.statement:
        path = draft.add("statements/english/problem.tex", problem.statement)
        SubElement(
            SubElement(root, "statements"), "statement",
            language="english", charset="UTF-8", path=path, type="application/x-tex",
        )  # fmt: skip
    running = problem.running if isinstance(problem.running, Batch) else Batch()
    judging = SubElement(root, "judging", {
        "input-file": running.input_file or "", "output-file": running.output_file or "",
        "run-count": "1",
    })  # fmt: skip
    _testset(draft, judging, package)
    files = SubElement(root, "files")
    _resources(draft, SubElement(files, "resources"), problem)
    assets = SubElement(root, "assets")
    _checker(draft, assets, problem)
    _interactor(draft, assets, problem)
    _solutions(draft, SubElement(assets, "solutions"), package)
    indent(root)
    draft.add(FILE, tostring(root, "UTF-8", xml_declaration=True) + b"\n")


def _text(parent: Element, tag: str, text: str) -> None:
    SubElement(parent, tag).text = text


def _testset(draft: Draft, judging: Element, package: Package) -> None:
    problem, limits = package.problem, package.problem.test_limits
    known = problem.tests_by_name()
    # By subtask: groups are in the order of their first tests.
    order = dict.fromkeys(name for each in problem.subtasks for name in each.tests)
    tests = {name: known[name] for name in order}
    width = max(2, len(str(len(tests))))
    testset = SubElement(judging, "testset", name="tests")
    _text(testset, "time-limit", str(max(1, round(limits.cpu * 1000))))
    _text(testset, "memory-limit", str(limits.memory))
    _text(testset, "test-count", str(len(tests)))
    _text(testset, "input-path-pattern", f"tests/%0{width}d")
    _text(testset, "answer-path-pattern", f"tests/%0{width}d.a")
    listed = SubElement(testset, "tests")
    elements = {name: SubElement(listed, "test", method="manual") for name in tests}
    for number, (name, test) in enumerate(tests.items(), 1):
        if test.public:
            elements[name].set("sample", "true")
        path = draft.add(f"tests/{number:0{width}d}", test.input)
        draft.add(f"{path}.a", b"" if test.output is None else test.output)
    _points(draft, testset, elements, problem)


def _is_pass_fail(problem: Problem) -> bool:
    only = problem.subtasks[0]
    adds_up = only.aggregate is Aggregate.SUM and len(only.tests) > 1
    return len(problem.subtasks) == 1 and only.points == 1 and not adds_up


def _points(draft: Draft, testset: Element, elements: dict[str, Element], problem: Problem) -> None:
    """Add groups, of which a test is in at most one, with their points or those of tests."""
    if _is_pass_fail(problem):
        return
    only = problem.subtasks[0]
    if len(problem.subtasks) == 1 and only.name == ALL and only.aggregate is Aggregate.SUM:
        _of_each_test(elements, problem, only)
        return
    groups = SubElement(testset, "groups")
    for subtask in problem.subtasks:
        adds_up = subtask.aggregate is Aggregate.SUM and len(subtask.tests) > 1
        policy = "each-test" if adds_up else "complete-group"
        group = SubElement(groups, "group", {"name": subtask.name, "points-policy": policy})
        if adds_up:
            _of_each_test(elements, problem, subtask)
        else:
            group.set("points", _number(subtask.points))
        if subtask.depends:
            dependencies = SubElement(group, "dependencies")
            for name in subtask.depends:
                SubElement(dependencies, "dependency", group=name)
        for name in subtask.tests:
            if "group" in elements[name].attrib:
                what = "some are in another subtask too; there a test is in one group"
                draft.refuse(f"subtasks[{subtask.name}].tests", what)
                break
            elements[name].set("group", subtask.name)
            if not adds_up:
                elements[name].set("points", _number(problem.tests_by_name()[name].full))


def _of_each_test(elements: dict[str, Element], problem: Problem, subtask: Subtask) -> None:
    tests = problem.tests_by_name()
    total = sum(tests[name].weight for name in subtask.tests) or 1.0
    for name in subtask.tests:
        points = subtask.points * tests[name].weight / total
        elements[name].set("points", _number(points))


def _number(points: float) -> str:
    return f"{points:.9f}".rstrip("0").rstrip(".")


def _resources(draft: Draft, resources: Element, problem: Problem) -> None:
    """Files that are compiled with solutions."""
    for kind, stub in problem.stubs.items():
        for name, content in stub.files.items():
            path = f"files/{name}"
            if draft.files.get(path, content) != content:
                draft.refuse(f"stubs.{kind}", f"{name} is not the same for all languages")
                continue
            if path not in draft.files:
                entry = SubElement(resources, "file", path=draft.add(path, content))
                SubElement(SubElement(entry, "assets"), "asset", name="SOLUTION")


def _source(draft: Draft, parent: Element, program: Program, directory: str, field: str) -> None:
    for name in program.files:
        if extension(name) not in HEADERS or "/" in name:
            draft.refuse(field, f"only headers may be beside it there, not {name}")
    name = main_file(program)
    if draft.files.get(f"{directory}/{name}") is not None:
        directory += "/program"
    draft.add_all(directory, program.files)
    path = draft.add(f"{directory}/{name}", program.encoded())
    if program.language not in _TYPES:
        draft.refuse(f"{field}.language", f"there is no {program.language} there")
    SubElement(parent, "source", path=path, type=_TYPES.get(program.language, ""))


def _checker(draft: Draft, assets: Element, problem: Problem) -> None:
    grading = problem.grading
    if isinstance(grading, Checker):
        checker = SubElement(assets, "checker", type="testlib")
        _source(draft, checker, grading.program, "files/checker", "grading.program")
        if grading.convention is not Convention.TESTLIB:
            draft.refuse(
                "grading.program",
                f"a checker by the convention {grading.convention} is called otherwise there;"
                " write one with testlib",
            )
        return
    name = _standard(grading)
    if name is None and not isinstance(problem.running, Interactive):
        what = f"none of testlib's own checkers compares {grading.match}"
        draft.refuse("grading.match", what)
    name = name or _USUAL[0]
    what = f"std::{name}.cpp is testlib's own, and without its source here"
    draft.losses.append(Difference("checker", what, True))
    SubElement(assets, "checker", name=f"std::{name}.cpp", type="testlib")


def _standard(grading: Comparison) -> str | None:
    """Testlib's own checker that compares this way, or else most nearly; None if none does."""
    names = sorted(STANDARD, key=lambda name: name not in _USUAL)
    plain = replace(grading, case_sensitive=True, space_sensitive=False, decimals=False)
    for wanted in (grading, plain, Comparison(grading.match)):
        for name in names:
            if STANDARD[name] == wanted:
                return name
    return None


def _interactor(draft: Draft, assets: Element, problem: Problem) -> None:
    running = problem.running
    if isinstance(running, Batch):
        return
    if not isinstance(running, Interactive):
        kind = type(running).__name__
        draft.refuse("running", f"{kind} problems have no counterpart there")
        return
    interactor = SubElement(assets, "interactor")
    _source(draft, interactor, running.interactor, "files/interactor", "running.interactor")
    if running.convention is not Convention.TESTLIB:
        draft.refuse(
            "running.interactor",
            f"an interactor by the convention {running.convention} is called otherwise there",
        )
    elif not isinstance(problem.grading, Checker):
        what = "it decides alone; there a checker grades what it writes"
        draft.refuse("running.interactor", what)


def _solutions(draft: Draft, solutions: Element, package: Package) -> None:
    scored = not _is_pass_fail(package.problem)
    words = {tag: Expectation(claim_of(tag, scored=scored)) for tag in _TAGS}
    labels = Labels(package.problem)
    main: Sequence[str] = ["main"]
    for each in package.submissions:
        program = each.program
        if each.limits is not None:
            draft.leave_out(each, "it has limits of its own")
        elif program.files or program.language == DATA:
            draft.leave_out(each, "it is several files")
        elif program.language not in _TYPES:
            draft.leave_out(each, f"there is no {program.language} there")
        elif (tag := labels.strongest(each.expected, words)) is None:
            draft.leave_out(each, "no tag says what is expected of it")
        else:
            if tag == "accepted" and main:  # one of them is the author's
                tag, main = main[0], ()
            solution = SubElement(solutions, "solution", {"tag": tag})
            path = add_submission(draft, "solutions", each)
            SubElement(solution, "source", path=path, type=_TYPES[program.language])
