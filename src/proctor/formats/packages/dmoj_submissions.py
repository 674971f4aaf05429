"""Labelled submissions of a DMOJ problem, as the judge's own test suite has them.

`tests/NAME/test.yml` names a source, its language, limits of its own, and the codes that its cases
may get.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.formats.livecodebench import did_you_mean
from proctor.formats.packages.documents import convert, read_yaml, set_aside
from proctor.formats.packages.files import Tree, join
from proctor.formats.packages.model import (
    ACCEPTED,
    PARTIAL,
    REJECTED,
    SLOW,
    WRONG,
    Bound,
    Claim,
    Expectation,
    Labelled,
    Part,
    Verdicts,
    bound,
)
from proctor.languages import registry
from proctor.limits import Limits
from proctor.problem import Problem
from proctor.program import Program
from proctor.verdict import Verdict

DIRECTORY = "tests"
FILE = "test.yml"
_KIB = 1024

_LANGUAGES = {
    "C": "c", "C11": "c", "CPP03": "cpp11", "CPP11": "cpp11", "CPP14": "cpp14", "CPP17": "cpp17",
    "CPP20": "cpp20", "CPP23": "cpp23", "CLANG": "c", "CLANGX": "cpp17", "PY3": "python",
    "PYPY3": "pypy", "KOTLIN": "kotlin", "MONOCS": "csharp", "V8JS": "javascript",
    "NODEJS": "javascript", "TS": "typescript", "RUBY": "ruby", "RUBY2": "ruby", "RUST": "rust",
    "GO": "go", "HASK": "haskell", "OCAML": "ocaml", "PAS": "pascal", "PERL": "perl", "PHP": "php",
    "LUA": "lua",
}  # fmt: skip

_SKIPPED = "SC"
_ANY = "*"
_CODES: dict[str, Verdicts] = {
    # A checker may pass an output and give it less than full points.
    "AC": ACCEPTED | PARTIAL,
    "WA": WRONG | {Verdict.PA},
    "TLE": SLOW,
    "MLE": frozenset({Verdict.MLE}),
    "OLE": frozenset({Verdict.OLE}),
    # RTE is a crash, IR an exit code that is not 0; both are RE here.
    "RTE": frozenset({Verdict.RE}),
    "IR": frozenset({Verdict.RE}),
    "CE": frozenset({Verdict.CE}),
    # A case skipped after one that failed; here it may be run all the same.
    _SKIPPED: ACCEPTED | REJECTED,
    _ANY: ACCEPTED | REJECTED,
}
_Codes = str | list[str]


class _Label(msgspec.Struct, forbid_unknown_fields=True):
    language: str
    source: str | list[str]
    time: float | None = None
    memory: int | None = None
    expect: _Codes = "AC"
    cases: list[_Codes] | dict[int, _Codes] = []
    skip: Any = None
    # Not checked, see _NOT_CHECKED.
    feedback: Any = None
    feedback_cases: Any = None
    extended_feedback: Any = None
    extended_feedback_cases: Any = None
    score: Any = None
    score_cases: Any = None
    points: Any = None
    # These describe the machine that it is meant for.
    arch: Any = None
    required_auxiliary_executors: Any = None


_NOT_CHECKED = (
    "feedback", "feedback_cases", "extended_feedback", "extended_feedback_cases", "score",
    "score_cases", "points",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Label:
    """One test.yml."""

    path: str
    """Its directory."""
    values: _Label

    @property
    def time(self) -> float | None:
        """Time limit in seconds, if one is stated."""
        return self.values.time

    @property
    def limits(self) -> Limits | None:
        """Limits that it states, or None. Raises InputError for numbers that cannot be limits."""
        usual = Limits()
        time, memory = self.values.time, self.values.memory
        if time is None and memory is None:
            return None
        size = usual.memory if memory is None else memory * _KIB
        return Limits(cpu=usual.cpu if time is None else time, memory=size, stack=size)


def language_of(key: str) -> str | None:
    """Id of the language that has this key in DMOJ, or None."""
    key = key.upper()
    found = "java" if key.startswith("JAVA") else _LANGUAGES.get(key)
    return found if found in registry.languages() else None


def read_labels(tree: Tree) -> list[Label]:
    """Every test.yml that can be read, in the order of their names; others are noted."""
    found = []
    for entry in tree.entries(DIRECTORY):
        path = join(DIRECTORY, entry)
        file = join(path, FILE)
        if not tree.is_file(file):
            continue
        with tree.noting(file):
            raw = set_aside(tree, file, read_yaml(tree, file), _Label)
            values = convert(tree, file, raw, _Label, strict=False)
            label = Label(path, values)
            label.limits  # noqa: B018 - checked here, where the file is known
            for key in _NOT_CHECKED:
                if getattr(values, key) not in (None, _ANY, [], {}):
                    tree.notes(f"{file}: {key} is not checked")
            found.append(label)
    return found


def usual(labels: Sequence[Label]) -> Limits:
    """Limits that most submissions have; proctor's own if no label states any."""
    given = Counter(limits for label in labels if (limits := label.limits) is not None)
    return given.most_common(1)[0][0] if given else Limits()


def load_submissions(tree: Tree, problem: Problem, labels: Sequence[Label]) -> tuple[Labelled, ...]:
    """Submissions whose language and label are known; the others are noted."""
    found: list[Labelled] = []
    for label in labels:
        with tree.noting(label.path):
            found += _labelled(tree, problem, label)
    return tuple(found)


def _labelled(tree: Tree, problem: Problem, label: Label) -> list[Labelled]:
    """Return the submissions of one label. Raises InputError if there are none to judge."""
    file, values = join(label.path, FILE), label.values
    language = language_of(values.language)
    if language is None or values.skip:
        why = "its test.yml says to skip it" if values.skip else "its language is not known"
        raise InputError(f"{why} ({values.language})")
    if "IE" in _listed(values.expect):
        raise InputError("a fault of the problem is expected")
    expected = _expectation(tree, problem, file, values)
    own = _own_limits(problem, label)
    role = _bound(expected) if own is None else Bound.NONE
    sources = [values.source] if isinstance(values.source, str) else values.source
    found = []
    for source in sources:
        path = join(label.path, source)
        text = tree.source(path, said_by=file, field="source")
        program = Program(text, language, source.rpartition("/")[2])
        found.append(Labelled(path, program, expected, role, own))
    return found


def _own_limits(problem: Problem, label: Label) -> Limits | None:
    limits = label.limits
    most = problem.test_limits
    same = limits is None or (limits.cpu, limits.memory) == (most.cpu, most.memory)
    if limits is None or same:
        return None
    wall = None if most.wall is None else most.wall / most.cpu * limits.cpu
    return Limits(
        cpu=limits.cpu, wall=wall, memory=limits.memory, output=most.output, stack=limits.stack
    )


def _expectation(tree: Tree, problem: Problem, file: str, values: _Label) -> Expectation:
    overall = _verdicts(tree, file, values.expect, "expect")
    cases = values.cases
    given = dict(enumerate(cases, 1)) if isinstance(cases, list) else cases
    tests = list(problem.tests_by_name())
    parts = []
    for number, codes in given.items():
        field = f"cases[{number}]"
        if not 1 <= number <= len(tests):
            what = f"there is no case {number} (there are {len(tests)})"
            raise InputError(what, file=tree.shown(file), field=field)
        claim = _claim(codes, _verdicts(tree, file, codes, field))
        parts.append(Part(f"case {number}", claim, (tests[number - 1],)))
    rest = tuple(test for number, test in enumerate(tests, 1) if number not in given)
    # A submission that does not compile has no cases.
    compiled = (ACCEPTED | REJECTED) - _CODES["CE"]
    if overall == _CODES["CE"]:
        return Expectation(Claim(verdicts=overall))
    whole = Claim(verdicts=compiled | (overall & _CODES["CE"]))
    if rest:
        parts.append(Part("other cases", _claim(values.expect, overall), rest))
    return Expectation(whole, tuple(parts))


def _claim(codes: _Codes, verdicts: Verdicts) -> Claim:
    skips = {_SKIPPED, _ANY} & set(_listed(codes))
    return Claim(permitted=verdicts, required=None if skips else verdicts)


def _bound(expected: Expectation) -> Bound:
    """Return the bound on the time limit: UPPER if any part sets it, LOWER if all do, else NONE."""
    roles = {bound(part.claim) for part in expected.parts}
    if Bound.UPPER in roles:
        return Bound.UPPER
    return Bound.LOWER if roles == {Bound.LOWER} else Bound.NONE


def _listed(codes: _Codes) -> list[str]:
    return [codes] if isinstance(codes, str) else codes


def _verdicts(tree: Tree, file: str, codes: _Codes, field: str) -> Verdicts:
    for code in _listed(codes):
        if code not in _CODES:
            what = f"unknown code {code!r}{did_you_mean(code, _CODES)}"
            raise InputError(what, file=tree.shown(file), field=field)
    return frozenset[Verdict]().union(*(_CODES[code] for code in _listed(codes)))
