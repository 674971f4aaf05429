"""Labelled submissions of proctor's own packages."""

import fnmatch
from collections.abc import Iterable

from proctor.errors import InputError
from proctor.formats.livecodebench import did_you_mean
from proctor.formats.packages.files import Tree, join
from proctor.formats.packages.model import (
    Bound,
    Claim,
    Expectation,
    Labelled,
    Part,
    Verdicts,
    bound,
)
from proctor.formats.packages.native_tables import (
    NativeClaim,
    NativeLimits,
    NativePart,
    NativeProgram,
    NativeSubmission,
    NativeVerdicts,
    ProgramPath,
)
from proctor.formats.packages.programs import by_extension, load_program, load_submission
from proctor.limits import Limits
from proctor.problem import OutputOnly, Problem
from proctor.program import Program
from proctor.units import seconds, size
from proctor.verdict import Verdict

FILE = "problem.toml"
_SPECIAL = frozenset("*?[")
_MOST_COMPARED = 50_000_000
"""Most characters of names that all patterns of a package are compared with."""


def program_of(tree: Tree, given: ProgramPath, field: str) -> Program:
    """A checker, interactor or manager, by its path alone or with main file and language."""
    if isinstance(given, str):
        return load_program(tree, given, said_by=FILE, field=field)
    return _program(tree, given, field) or load_program(
        tree, given.path, language=given.language, said_by=FILE, field=field
    )


def _program(tree: Tree, given: NativeProgram | NativeSubmission, field: str) -> Program | None:
    """The program, if its main file is named; else None."""
    if not given.main:
        return None
    path = join(given.path, given.main)
    source = tree.source(path, said_by=FILE, field=f"{field}.main")
    language = given.language or by_extension(path, source)
    if language is None:
        raise InputError(f"the language of {path!r} is not known", field=f"{field}.main")
    start = len(given.path) + 1
    files = {each[start:]: tree.content(each) for each in tree.walk(given.path) if each != path}
    return Program(source, language, given.main, files)


def limits_of(given: NativeLimits, field: str = "limits") -> Limits:
    """Limits of the table in `field`. Raises InputError."""

    def duration(key: str) -> float:
        return seconds(str(getattr(given, key)), f"{field}.{key}")

    def amount(key: str) -> int:
        return size(str(getattr(given, key)), f"{field}.{key}")

    return Limits(
        cpu=duration("cpu"),
        wall=None if given.wall is None else duration("wall"),
        elapsed=None if given.elapsed is None else duration("elapsed"),
        memory=amount("memory"),
        output=amount("output"),
        processes=given.processes,
        disk=amount("disk"),
        stack=amount("stack"),
    )


class Names:
    """Names of a package's tests, and of its subtasks when they are known."""

    def __init__(self, tests: Iterable[str]) -> None:
        self._tests = dict.fromkeys(tests)
        self._size = sum(len(name) + 10 for name in self._tests)
        self._left = _MOST_COMPARED
        self.subtasks: frozenset[str] = frozenset()

    def chosen(self, patterns: Iterable[str], field: str) -> tuple[str, ...]:
        """Return tests by patterns of their names, each once.

        Raises InputError for a pattern that matches none, and if there are too many to compare.
        """
        found: dict[str, None] = {}
        for pattern in patterns:
            some = self.like(pattern, field)
            if not some:
                hint = did_you_mean(pattern, self._tests)
                raise InputError(f"there is no test like {pattern[:200]!r}{hint}", field=field)
            found.update(dict.fromkeys(some))
        return tuple(found)

    def like(self, pattern: str, field: str) -> list[str]:
        """Return the tests whose names match a pattern. Raises InputError as `chosen`."""
        if _SPECIAL.isdisjoint(pattern):  # a plain name, as in packages of thousands of tests
            return [pattern] if pattern in self._tests else []
        self._left -= self._size
        if self._left < 0:
            what = f"the patterns of this package are too many for {len(self._tests)} tests"
            raise InputError(f"{what}; write fewer of them", field=field)
        return [name for name in self._tests if fnmatch.fnmatchcase(name, pattern)]

    def check_subtask(self, name: str, field: str) -> None:
        """Raise InputError if there is no such subtask."""
        if name not in self.subtasks:
            hint = did_you_mean(name, self.subtasks)
            raise InputError(f"there is no such subtask{hint}", field=field)


def submission(
    tree: Tree, problem: Problem, names: Names, field: str, given: NativeSubmission
) -> Labelled:
    """A submission with its label. Raises InputError."""
    whole = _claim(given)
    parts = [_part(names, f"{field}.part[{n}]", each) for n, each in enumerate(given.part)]
    for name, verdicts in given.subtasks.items():
        names.check_subtask(name, f"{field}.subtasks.{name}")
        parts.append(Part(name, Claim(_set(verdicts))))
    if whole == Claim() and not parts and given.time is None:
        raise InputError("say what is expected: verdict, points or subtasks", field=field)
    if isinstance(problem.running, OutputOnly) and not tree.walk(given.path):
        raise InputError("there is no such directory of outputs", field=f"{field}.path")
    program = _program(tree, given, field)
    if program is None:
        program = load_submission(
            tree, given.path, problem.running, given.language, said_by=FILE, field=f"{field}.path"
        )
    expected = Expectation(whole, tuple(parts))
    limits = None if given.limits is None else limits_of(given.limits, f"{field}.limits")
    role = usual_bound(expected) if given.time is None else given.time
    return Labelled(given.path, program, expected, role, limits, given.complete)


def usual_bound(expected: Expectation) -> Bound:
    """Bound that a label sets to the time limit if it does not say."""
    claims = [part.claim for part in expected.parts] + [expected.whole]
    every = frozenset[Verdict]().union(*(claim.verdicts or frozenset() for claim in claims))
    return bound(Claim(every) if every else expected.whole)


def _claim(given: NativeClaim) -> Claim:
    points = given.points
    if isinstance(points, float | int):
        points = (points, points)
    return Claim(_set(given.verdict), _set(given.permitted), _set(given.required), points)


def _part(names: Names, field: str, given: NativePart) -> Part:
    if given.tests is None:
        names.check_subtask(given.name, f"{field}.name")
        return Part(given.name, _claim(given))
    return Part(given.name, _claim(given), names.chosen(given.tests, f"{field}.tests"))


def _set(some: NativeVerdicts | None) -> Verdicts | None:
    if some is None:
        return None
    return frozenset(Verdict(word) for word in ([some] if isinstance(some, str) else some))
