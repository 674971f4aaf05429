"""Problems that QDUOJ (QingdaoU's OnlineJudge) exports: a directory with problem.json each.

Contract: its exporter and importer, and its JudgeServer.
"""

from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.formats.livecodebench import located
from proctor.formats.packages.documents import convert, read_json, set_aside
from proctor.formats.packages.files import Tree, join, stem
from proctor.formats.packages.model import (
    ACCEPTED,
    Bound,
    Claim,
    Expectation,
    Labelled,
    Package,
    judgeable,
    whole,
)
from proctor.formats.packages.native import ALL
from proctor.formats.packages.programs import by_judges_name, family
from proctor.grading import Checker, Comparison, Convention, Grading, Match
from proctor.limits import MIB, Limits
from proctor.problem import Aggregate, Problem, Stub, Subtask, Test
from proctor.program import Program

FILE = "problem.json"
_TESTS = "testcase"
_STACK = 128 * MIB
"""Its JudgeServer's limit on the stack, in bytes."""


class _QduojText(msgspec.Struct):
    value: str | None = None


class _QduojCode(msgspec.Struct):
    code: str
    language: str


class _QduojTemplate(msgspec.Struct):
    prepend: str = ""
    template: str = ""
    append: str = ""


class _QduojScore(msgspec.Struct):
    input_name: str
    output_name: str = ""
    score: float = 0.0


class _QduojProblem(msgspec.Struct, forbid_unknown_fields=True):
    display_id: str
    time_limit: float
    memory_limit: float
    title: str = ""
    description: _QduojText = msgspec.field(default_factory=_QduojText)
    input_description: _QduojText = msgspec.field(default_factory=_QduojText)
    output_description: _QduojText = msgspec.field(default_factory=_QduojText)
    hint: _QduojText = msgspec.field(default_factory=_QduojText)
    test_case_score: list[_QduojScore] | None = None
    template: dict[str, _QduojTemplate] = {}
    spj: _QduojCode | None = None
    rule_type: str = "ACM"
    answers: list[_QduojCode] = []
    # The fields below do not affect judging.
    samples: Any = None
    source: Any = None
    tags: Any = None


def load(tree: Tree) -> Package:
    """The package in a directory with problem.json. Raises InputError."""
    raw = set_aside(tree, FILE, read_json(tree, FILE), _QduojProblem)
    settings = convert(tree, FILE, raw, _QduojProblem)
    try:
        return _package(tree, settings)
    except InputError as error:
        raise error if error.file else located(error, tree.root / FILE, None) from error


def _package(tree: Tree, settings: _QduojProblem) -> Package:
    if settings.rule_type not in ("ACM", "OI"):
        raise InputError(f"must be ACM or OI, not {settings.rule_type!r}", field="rule_type")
    tests = _tests(tree, settings)
    told = (settings.description, settings.input_description, settings.output_description)
    problem = judgeable(Problem(
        id=settings.display_id,
        tests=tuple(tests.values()),
        subtasks=_subtasks(settings, tests),
        limits=_limits(settings),
        grading=_grading(settings.spj),
        stubs=_stubs(tree, settings),
        title=settings.title,
        statement="\n\n".join(each.value for each in (*told, settings.hint) if each.value),
    ))  # fmt: skip
    answers = tuple(_answers(tree, settings))
    return Package(problem, answers, "qduoj", tree.root, notes=tuple(tree.notes.found))


def _limits(settings: _QduojProblem) -> Limits:
    if not 0 < settings.memory_limit < float("inf"):
        raise InputError("must be a number above 0", field="memory_limit")
    memory = whole(settings.memory_limit * MIB, "memory_limit")
    return Limits(settings.time_limit / 1000, memory=memory, stack=_STACK)


def _tests(tree: Tree, settings: _QduojProblem) -> dict[str, Test]:
    """Tests in the order of test_case_score; without it, every input in the directory."""
    given = {each.input_name: each for each in settings.test_case_score or []}
    if len(given) != len(settings.test_case_score or []):
        raise InputError("an input is there twice", field="test_case_score")
    there = sorted(
        (name for name in tree.entries(_TESTS) if name.endswith(".in")),
        key=lambda name: (len(name), name),
    )
    if given:
        for name in there:
            if name not in given:
                tree.notes(f"{_TESTS}/{name}: test_case_score has no such test, so it is left out")
    found = {}
    for number, name in enumerate(given or there):
        field = f"test_case_score[{number}]"
        answer = given[name].output_name if given else f"{stem(name)}.out"
        content = None
        if settings.spj is None:
            content = tree.file(join(_TESTS, answer), said_by=FILE, field=field)
        score = given[name].score if given else 0.0
        if not 0 <= score < float("inf"):
            raise InputError("must be a number from 0 on", field=f"{field}.score")
        test = stem(name)
        path = tree.file(join(_TESTS, name), said_by=FILE, field=field)
        found[test] = Test(path, content, name=test, weight=score)
    return found


def _subtasks(settings: _QduojProblem, tests: dict[str, Test]) -> tuple[Subtask, ...]:
    points = sum(test.weight for test in tests.values())
    if settings.rule_type == "OI" and points:
        return (Subtask(ALL, points, tuple(tests), Aggregate.SUM),)
    return (Subtask(ALL, 1.0, tuple(tests)),) if tests else ()


def _grading(spj: _QduojCode | None) -> Grading:
    if spj is None:
        return Comparison(Match.TRIMMED)
    language = by_judges_name(spj.language)
    if language is None:
        raise InputError(f"the language {spj.language!r} is not known", field="spj.language")
    return Checker(Program(spj.code, language), Convention.QDUOJ)


def _stubs(tree: Tree, settings: _QduojProblem) -> dict[str, Stub]:
    """Code around submissions, by family of languages."""
    found: dict[str, Stub] = {}
    for named, each in settings.template.items():
        language = by_judges_name(named)
        if language is None:
            tree.notes(f"template.{named}: the language is not known")
        elif each.prepend.strip() or each.append.strip():
            found.setdefault(family(language), Stub({}, before=each.prepend, after=each.append))
    return found


def _answers(tree: Tree, settings: _QduojProblem) -> list[Labelled]:
    """Accepted submissions, without the code that stubs put around them."""
    found = []
    for number, each in enumerate(settings.answers):
        name = f"answers[{number}] ({each.language})"
        language = by_judges_name(each.language)
        if language is None:
            tree.notes(f"{name}: its language is not known")
        else:
            expected = Expectation(Claim(verdicts=ACCEPTED))
            found.append(Labelled(name, Program(each.code, language), expected, Bound.LOWER))
    return found
