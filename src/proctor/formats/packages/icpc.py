"""ICPC and Kattis problem packages, of the legacy format and of those since 2023-07.

Contract: the problem package format's specification (legacy, 2023-07-draft), and DOMjudge's
additions: `domjudge-problem.ini`, `.timelimit`, the tags in submissions.
"""

from dataclasses import dataclass, replace
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.formats.livecodebench import did_you_mean, located
from proctor.formats.packages import icpc_limits
from proctor.formats.packages import icpc_scoring as scoring
from proctor.formats.packages.documents import convert, read_yaml, set_aside, without_empty
from proctor.formats.packages.files import Tree, first, join, stem
from proctor.formats.packages.icpc_constants import Constants
from proctor.formats.packages.icpc_data import TestGroup, load_data
from proctor.formats.packages.icpc_domjudge import Domjudge, is_meant
from proctor.formats.packages.icpc_limits import FILE, IcpcLimits
from proctor.formats.packages.icpc_submissions import load_submissions
from proctor.formats.packages.model import Package, judgeable
from proctor.formats.packages.programs import families, is_source, load_program
from proctor.formats.packages.validator_flags import DEFAULT, comparison
from proctor.grading import Checker, Comparison, Convention, Grading, GroupGrading
from proctor.problem import Aggregate, Batch, Interactive, Problem, Running, Stub, Subtask, Test
from proctor.program import Program

_OLD_SETTINGS = ("data/testdata.yaml", "data/secret/testdata.yaml")
_LEGACY = {"legacy", "legacy-icpc"}
_NEWER = {"2023-07", "2023-07-draft", "2025-09", "2025-09-draft", "draft"}
_TYPES = {"pass-fail", "scoring", "interactive", "multi-pass", "submit-answer"}
_IDS = {
    "cpp": ("cpp11", "cpp14", "cpp17", "cpp20", "cpp23"),
    "python3": ("python", "pypy"),
    "python2": ("python2",),
}


class _IcpcGrading(msgspec.Struct, forbid_unknown_fields=True):
    objective: str = "max"
    show_test_data_groups: Any = None


class _IcpcProblem(msgspec.Struct, forbid_unknown_fields=True):
    problem_format_version: str = "legacy"
    type: str | list[str] = "pass-fail"
    name: str | dict[str, str] = ""
    limits: IcpcLimits = msgspec.field(default_factory=IcpcLimits)
    validation: str = "default"
    validator_flags: str = ""
    grading: _IcpcGrading = msgspec.field(default_factory=_IcpcGrading)
    languages: str | list[str] = "all"
    allow_file_writing: bool = False
    constants: dict[Any, Any] = {}
    # The fields below do not affect judging.
    uuid: Any = None
    version: Any = None
    author: Any = None
    credits: Any = None
    source: Any = None
    source_url: Any = None
    license: Any = None
    rights_owner: Any = None
    embargo_until: Any = None
    keywords: Any = None
    libraries: Any = None


@dataclass(frozen=True, slots=True)
class _Kind:
    """Sort of a problem, in one vocabulary for both formats."""

    scoring: bool = False
    custom: bool = False
    interactive: bool = False
    multipass: bool = False
    by_validator: bool = False
    """The validator gives scores (legacy)."""
    domjudge: bool = False
    """Scores of groups are combined as DOMjudge does it (legacy)."""


def load(tree: Tree) -> Package:
    """The package in a directory with problem.yaml. Raises InputError."""
    raw = set_aside(tree, FILE, without_empty(read_yaml(tree, FILE)), _IcpcProblem)
    legacy = raw.get("problem_format_version", "legacy") in _LEGACY
    settings = convert(
        tree, FILE, icpc_limits.of_version(tree, raw, legacy=legacy), _IcpcProblem, strict=False
    )
    version = settings.problem_format_version
    if version not in _LEGACY | _NEWER:
        known = ", ".join(sorted(_LEGACY | _NEWER))
        raise _error(tree, f"{version!r} is not read; known: {known}", "problem_format_version")
    if legacy and settings.constants:
        raise _error(tree, "belongs to the newer formats, not to the legacy one", "constants")
    try:
        constants = Constants.read(settings.constants)
    except InputError as error:
        raise located(error, tree.root / FILE, None) from error
    kind = _legacy_kind(tree, settings) if legacy else _newer_kind(tree, settings)
    # Drafts of 2023-07 still had testdata.yaml, with its old keys.
    old_data = legacy or any(
        tree.is_file(name) and "scoring" not in read_yaml(tree, name) for name in _OLD_SETTINGS
    )
    root = load_data(tree, constants, legacy=old_data)
    flags = tuple(settings.validator_flags.split())
    passes = settings.limits.validation_passes if kind.multipass else 1
    if old_data and kind.scoring and is_meant(tree, root):
        kind = replace(kind, domjudge=True)
        kind = replace(kind, by_validator=Domjudge(tree, custom=kind.custom).by_validator(root))
    grading, running, tests = _grading(tree, kind, root, flags, passes, constants)
    subtasks, grading_of_groups = _subtasks(tree, kind, root, constants, legacy=old_data)
    timing, seconds = icpc_limits.timing(tree, settings.limits, legacy=legacy)
    limits = icpc_limits.limits(tree, settings.limits, seconds, writes=settings.allow_file_writing)
    try:
        problem = judgeable(Problem(
            id=tree.root.name,
            tests=tuple(tests),
            subtasks=subtasks,
            group_grading=grading_of_groups,
            limits=limits,
            grading=grading,
            running=running,
            stubs=_stubs(tree, constants, legacy=legacy),
            title=_title(settings.name) or tree.root.name,
            statement=_statement(tree, constants),
            languages=_languages(settings.languages),
        ))  # fmt: skip
    except InputError as error:
        raise located(error, tree.root / FILE, None) if error.file is None else error from error
    if kind.by_validator if old_data else kind.scoring:
        problem = replace(problem, tests=_with_full_marks(problem))
    submissions = load_submissions(tree, problem, legacy=legacy, is_scoring=kind.scoring)
    submissions = tuple(
        replace(each, program=constants.program(each.program)) for each in submissions
    )
    return Package(problem, submissions, "icpc", tree.root, timing, tuple(tree.notes.found))


def _with_full_marks(problem: Problem) -> tuple[Test, ...]:
    """Return the tests with the score that is full marks for each.

    Scores are points: in a group that adds up, each test has an equal share; in one worth
    nothing, such as samples, the scale is that of the group worth most.
    """
    tests = problem.tests_by_name()
    most = max((subtask.points for subtask in problem.subtasks), default=0.0) or 1.0
    for subtask in problem.subtasks:
        adds_up = subtask.aggregate is Aggregate.SUM and problem.group_grading is None
        share = len(subtask.tests) if adds_up else 1
        for name in subtask.tests:
            tests[name] = replace(tests[name], full=subtask.points / share or most)
    return tuple(tests.values())


def _error(tree: Tree, what: str, field: str) -> InputError:
    return InputError(what, file=tree.shown(FILE), field=field)


def _legacy_kind(tree: Tree, settings: _IcpcProblem) -> _Kind:
    if settings.type not in ("pass-fail", "scoring"):
        raise _error(tree, f"must be pass-fail or scoring, not {settings.type!r}", "type")
    words = settings.validation.split()
    known = ("default", "custom", "interactive", "score", "multi-pass")
    for word in words:
        if word not in known:
            raise _error(tree, f"unknown word {word!r}{did_you_mean(word, known)}", "validation")
    if words[:1] not in (["default"], ["custom"]) or (words[0] == "default" and len(words) > 1):
        what = "must be `default`, or `custom` and then interactive, score, multi-pass"
        raise _error(tree, what, "validation")
    is_scoring = settings.type == "scoring"
    if "score" in words and not is_scoring:
        raise _error(tree, "`score` needs `type: scoring`", "validation")
    if settings.grading.objective != "max":
        what = f"objective {settings.grading.objective!r} is not supported, only max"
        raise _error(tree, what, "grading.objective")
    return _Kind(
        scoring=is_scoring,
        custom=words[0] == "custom",
        interactive="interactive" in words,
        multipass="multi-pass" in words,
        by_validator="score" in words,
    )


def _newer_kind(tree: Tree, settings: _IcpcProblem) -> _Kind:
    types = [settings.type] if isinstance(settings.type, str) else settings.type
    for each in types:
        if each not in _TYPES:
            raise _error(tree, f"unknown type {each!r}{did_you_mean(each, _TYPES)}", "type")
    if not types or len(set(types)) != len(types) or {"pass-fail", "scoring"} <= set(types):
        raise _error(tree, f"these do not go together: {types}", "type")
    if "submit-answer" in types:
        raise _error(tree, "submit-answer problems are not supported", "type")
    for gone in ("validation", "validator_flags"):
        if getattr(settings, gone) != getattr(_IcpcProblem(), gone):
            what = "belongs to the legacy format; use type and output_validator/"
            raise _error(tree, what, gone)
    custom = bool(_validators(tree))
    if not custom and {"interactive", "multi-pass"} & set(types):
        raise InputError(
            f"a problem of type {' '.join(types)} needs an output validator",
            file=tree.shown("output_validator"),
        )
    return _Kind("scoring" in types, custom, "interactive" in types, "multi-pass" in types)


def _validators(tree: Tree) -> list[str]:
    """Programs in output_validator/ (new) or output_validators/ (legacy and early drafts)."""
    entries = [join("output_validator", name) for name in tree.entries("output_validator")]
    if any(not tree.is_dir(name) for name in entries):
        # The files of one program, directly in the directory.
        return ["output_validator"]
    return entries + _programs(tree, "output_validators")


def _programs(tree: Tree, directory: str) -> list[str]:
    entries = [join(directory, name) for name in tree.entries(directory)]
    return [name for name in entries if tree.is_dir(name) or is_source(name)]


def _grading(
    tree: Tree,
    kind: _Kind,
    root: TestGroup,
    flags: tuple[str, ...],
    passes: int,
    constants: Constants,
) -> tuple[Grading, Running, list[Test]]:
    tests = list(root.every())
    shared = {test.flags for test in tests}
    if len(shared) == 1:
        # The usual case; then the flags belong to the problem.
        flags = (*flags, *shared.pop())
        tests = [replace(test, flags=()) for test in tests]
    if not kind.custom:
        return _default_validator(tree, root, flags, tests), Batch(), tests
    program = constants.program(_validator(tree))
    if not kind.interactive:
        checker = Checker(program, Convention.KATTIS, flags, passes)
        return checker, Batch(), tests
    return Comparison(), Interactive(program, Convention.KATTIS, flags, passes), tests


def _default_validator(
    tree: Tree, root: TestGroup, flags: tuple[str, ...], tests: list[Test]
) -> Comparison:
    try:
        base = comparison(flags, DEFAULT)
        for test in tests:
            comparison(test.flags, base)
    except InputError as error:
        settings = next((g.settings for g in root.walk() if g.settings.flags), None)
        place = settings.file if settings else FILE
        field = "output validator flags" if settings else "validator_flags"
        raise InputError(error.message, file=tree.shown(place), field=field) from error
    return base


def _validator(tree: Tree) -> Program:
    found = _validators(tree)
    if not found:
        what = "custom validation needs a program here"
        raise InputError(what, file=tree.shown("output_validators"))
    if len(found) > 1:
        what = f"only one validator is supported, not {', '.join(found)}"
        raise InputError(what, file=tree.shown(found[0].partition("/")[0]))
    return load_program(tree, found[0], scripts=True)


def _subtasks(
    tree: Tree, kind: _Kind, root: TestGroup, constants: Constants, *, legacy: bool
) -> tuple[tuple[Subtask, ...], GroupGrading | None]:
    if not kind.scoring:
        if custom := next((group for group in root.walk() if group.settings.custom), None):
            what = "a problem without scores (type: scoring) has no grader"
            raise InputError(what, file=tree.shown(custom.settings.file), field="grading")
        return scoring.pass_fail(root), None
    if kind.domjudge:
        return Domjudge(tree, custom=kind.custom).subtasks(root), None
    if not legacy:
        return scoring.Newer(tree).subtasks(root), None
    groups = scoring.Legacy(tree, by_validator=kind.by_validator)
    try:
        return groups.subtasks(root), None
    except scoring.NoCounterpart:
        found = _programs(tree, "graders")
        if len(found) > 1:
            what = f"only one grader is supported, not {', '.join(found)}"
            raise InputError(what, file=tree.shown("graders")) from None
        own = constants.program(load_program(tree, found[0], scripts=True)) if found else None
        return groups.graded(root, own)


def _stubs(tree: Tree, constants: Constants, *, legacy: bool) -> dict[str, Stub]:
    """`include/<language>/`, by family; `default` for every family without one of its own.

    In the newer formats a program starts in the included file named main, if there is one; in
    legacy packages it may start in any included source.
    """
    common: dict[str, bytes] = {}
    stubs: dict[str, Stub] = {}
    for code in tree.entries("include"):
        directory = join("include", code)
        files = {
            name.removeprefix(directory + "/"): constants.data(tree.content(name))
            for name in tree.walk(directory)
        }
        if code == "default":
            common = files
        elif code in families():
            starts = legacy or any(stem(name).lower() == "main" for name in files)
            stubs[families()[code]] = Stub(files, starts=starts)
        else:
            hint = did_you_mean(code, families())
            raise InputError(f"unknown language{hint}", file=tree.shown(directory))
    if common:
        stubs = {family: stubs.get(family, Stub(common)) for family in set(families().values())}
    return stubs


def _languages(given: str | list[str]) -> tuple[str, ...]:
    if given == "all":
        return ()
    codes = given.split() if isinstance(given, str) else given
    return tuple(each for code in codes for each in _IDS.get(code, (code,)))


def _title(name: str | dict[str, str]) -> str:
    if isinstance(name, str):
        return name
    return name.get("en") or next(iter(name.values()), "")


def _statement(tree: Tree, constants: Constants) -> str:
    names = [
        join(directory, f"problem{language}{kind}")
        for directory in ("statement", "problem_statement")
        for language in (".en", "")
        for kind in (".md", ".tex")
    ]
    found = first(names, tree)
    text = tree.source(found) if found else ""
    return constants.text(text) if found and found.endswith(".md") else text
