"""Labelled submissions of an ICPC/Kattis package."""

import contextlib
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal

import msgspec

from proctor.errors import InputError
from proctor.formats.packages.documents import convert, read_yaml
from proctor.formats.packages.files import Tree, join
from proctor.formats.packages.model import (
    ACCEPTED,
    CRASHED,
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
from proctor.formats.packages.programs import load_program
from proctor.languages import registry
from proctor.problem import Problem
from proctor.program import Program
from proctor.verdict import Verdict

DIRECTORY = "submissions"
FILE = "submissions/submissions.yaml"

_SHORT: dict[str, Verdicts] = {"AC": ACCEPTED, "WA": WRONG, "TLE": SLOW, "RTE": CRASHED}
OF_DIRECTORY: dict[str, tuple[Verdicts, Bound]] = {
    "accepted": (ACCEPTED, Bound.LOWER),
    # Right, but too slow to measure the limit by; problemtools and others have it.
    "slow_accepted": (ACCEPTED, Bound.NONE),
    "wrong_answer": (WRONG, Bound.NONE),
    "presentation_error": (WRONG, Bound.NONE),
    "no_output": (WRONG, Bound.NONE),
    "time_limit_exceeded": (SLOW, Bound.UPPER),
    "run_time_error": (CRASHED, Bound.NONE),
    "memory_limit_exceeded": (frozenset({Verdict.MLE, Verdict.RE}), Bound.NONE),
    "output_limit_exceeded": (frozenset({Verdict.OLE, Verdict.RE}), Bound.NONE),
    "compiler_error": (frozenset({Verdict.CE}), Bound.NONE),
    "compile_error": (frozenset({Verdict.CE}), Bound.NONE),
    "rejected": (REJECTED, Bound.NONE),
}
"""Legacy: verdicts and bound by directory; the verdict is of the first test not accepted."""

_UNCOMPILED = ("compiler_error", "compile_error")
"""Directories that the newer formats do not have, and whose meaning is clear."""

_SPECIAL = re.compile(r"(\*|\{[^{}]*\})")
"""Parts of a pattern that stand for others."""
_MOST_COMPARED = 100_000_000
"""Most products of the lengths of patterns and names that are compared, added up."""
_TAG = re.compile(r"@EXPECTED_(RESULTS|SCORE)@:[ \t]*([^\r\n]*)")
_WORDS: dict[str, Verdicts] = {
    "CORRECT": ACCEPTED,
    "ACCEPTED": ACCEPTED,
    "WRONG-ANSWER": WRONG,
    "PRESENTATION-ERROR": WRONG,
    "NO-OUTPUT": WRONG,
    "TIMELIMIT": SLOW,
    "TIME-LIMIT-EXCEEDED": SLOW,
    "RUN-ERROR": CRASHED,
    "RUN-TIME-ERROR": CRASHED,
    "MEMORY-LIMIT": frozenset({Verdict.MLE, Verdict.RE}),
    "OUTPUT-LIMIT": frozenset({Verdict.OLE, Verdict.RE}),
    "COMPILER-ERROR": frozenset({Verdict.CE}),
    "CHECK-MANUALLY": REJECTED | ACCEPTED,
}

_CODES = {"cpp": "cpp17", "python3": "python"}
_Short = Literal["AC", "WA", "TLE", "RTE"]


class _Rule(msgspec.Struct, forbid_unknown_fields=True):
    language: str | None = None
    entrypoint: str | None = None
    authors: Any = None
    model_solution: bool = False
    permitted: list[_Short] | None = None
    required: list[_Short] | None = None
    score: float | tuple[float, float] | None = None
    message: str = ""
    use_for_time_limit: bool | Literal["lower", "upper"] = True


_DEFAULTS: dict[str, _Rule] = {
    "accepted": _Rule(permitted=["AC"]),
    "rejected": _Rule(required=["RTE", "TLE", "WA"]),
    "wrong_answer": _Rule(permitted=["AC", "WA"], required=["WA"]),
    "time_limit_exceeded": _Rule(permitted=["AC", "TLE"], required=["TLE"]),
    "run_time_error": _Rule(permitted=["AC", "RTE"], required=["RTE"]),
    "brute_force": _Rule(permitted=["AC", "RTE", "TLE"], required=["RTE", "TLE"]),
}


def load_submissions(
    tree: Tree, problem: Problem, *, legacy: bool, is_scoring: bool
) -> tuple[Labelled, ...]:
    """Every submission whose language and label are known; the others are noted."""
    names = [
        join(directory, entry)
        for directory in tree.entries(DIRECTORY, lenient=True)
        for entry in tree.entries(join(DIRECTORY, directory), lenient=True)
    ]
    rules = _Rules(tree, problem, names, is_scoring=is_scoring, legacy=legacy)
    found = []
    for name in names:
        path = join(DIRECTORY, name)
        if rules.is_broken(name):
            continue
        with tree.noting(path):
            program = load_program(
                tree, path, language=rules.language(name), main=rules.entrypoint(name)
            )
            tagged = _tagged(tree, path, program, is_scoring=is_scoring)
            labelled = tagged or rules.label(name, program)
            if labelled is None:
                raise InputError("its directory says nothing of what is expected")
            verdicts = labelled.expected.verdicts or frozenset()
            if not problem.takes(program.language) and Verdict.CE not in verdicts:
                raise InputError("the problem takes no submissions in its language")
            found.append(labelled)
    if not any(each.bound is Bound.LOWER for each in found):
        tree.notes(f"{DIRECTORY}: there is no accepted submission to measure the time limit by")
    return tuple(found)


def _tagged(tree: Tree, path: str, program: Program, *, is_scoring: bool) -> Labelled | None:
    """Label by DOMjudge's tags in the source, which take precedence over the directory; or None."""
    words: list[str] = []
    points: tuple[float, float] | None = None
    for kind, text in _TAG.findall(program.source):
        if kind == "SCORE":
            with contextlib.suppress(ValueError):
                points = (float(text), float(text))
                continue
        # DOMjudge reads results from either tag.
        words += [word.strip().upper().replace("_", "-") for word in text.split(",")]
    words = [re.sub(r"[^A-Z-].*", "", word) for word in words]
    if unknown := [word for word in words if word not in _WORDS]:
        tree.notes(f"{path}: @EXPECTED_...@ with the unknown word {unknown[0]!r}")
        return None
    if not words and points is None:
        return None
    verdicts = frozenset[Verdict]().union(*(_WORDS[word] for word in words)) if words else None
    right = verdicts == ACCEPTED
    slow = verdicts is not None and verdicts <= SLOW
    role = Bound.LOWER if right else Bound.UPPER if slow else Bound.NONE
    claim = _claimed(verdicts, is_scoring=is_scoring)
    return Labelled(path, program, Expectation(replace(claim, points=points)), role)


def _claimed(verdicts: Verdicts | None, *, is_scoring: bool) -> Claim:
    """Return the claim of a label that names the verdict of the whole."""
    if not is_scoring or verdicts is None:
        return Claim(verdicts)
    if Verdict.AC in verdicts:
        # A validator may give an accepted answer less than full score.
        return Claim(verdicts | PARTIAL)
    # There is no first wrong test where groups are added up.
    return Claim(verdicts) if Verdict.CE in verdicts else Claim(required=verdicts)


def by_directory(
    problem: Problem, directory: str, *, is_scoring: bool
) -> tuple[Claim, Bound] | None:
    """Return the claim of a directory's name, and its bound; None if it says nothing."""
    if directory == "partially_accepted":
        least = 10.0**-problem.precision
        if problem.points < 2 * least:
            raise InputError("there are no points of which it could have a part")
        return Claim(points=(least, problem.points - least)), Bound.NONE
    if directory not in OF_DIRECTORY:
        return None
    verdicts, role = OF_DIRECTORY[directory]
    return _claimed(verdicts, is_scoring=is_scoring), role


class _Rules:
    """Labels by directory, and by submissions.yaml."""

    def __init__(
        self,
        tree: Tree,
        problem: Problem,
        names: list[str],
        *,
        is_scoring: bool,
        legacy: bool,
    ) -> None:
        self._tree, self._problem = tree, problem
        self._scoring, self._legacy = is_scoring, legacy
        self._rules: dict[str, tuple[_Rule, dict[str, _Rule]]] = {}
        self._broken: list[str] = []
        self._left = _MOST_COMPARED
        for pattern, value in read_yaml(tree, FILE).items() if tree.is_file(FILE) else ():
            if not any(self._covers(pattern, name) for name in names):
                tree.notes(f"{FILE}: {pattern}: there is no such submission")
                continue
            try:
                self._rules[pattern] = self._rule(pattern, value)
            except InputError as error:
                where = f"{error.field}: " if error.field else ""
                tree.notes(f"{FILE}: {where}{error.message}; left out with what it is about")
                self._broken.append(pattern)

    def _rule(self, pattern: str, value: object) -> tuple[_Rule, dict[str, _Rule]]:
        if not isinstance(value, dict):
            raise InputError("must be a map", file=self._tree.shown(FILE), field=pattern)
        known = {field.name for field in msgspec.structs.fields(_Rule)}
        # Other keys are groups or tests, which are in data/sample or data/secret.
        parts = {key: value[key] for key in value if _is_of_data(str(key)) and key not in known}
        own = {key: value[key] for key in value if key not in parts}
        rule = convert(self._tree, FILE, own, _Rule, within=pattern)
        inner = {
            str(key): convert(self._tree, FILE, part, _Rule, within=f"{pattern}.{key}")
            for key, part in parts.items()
        }
        for key in inner:
            if not self._tests(key):
                raise InputError(
                    "there is no such group or test",
                    file=self._tree.shown(FILE),
                    field=f"{pattern}.{key}",
                )
        return rule, inner

    def _covers(self, pattern: str, name: str) -> bool:
        """Call `covers`. Raises InputError if all that is compared is too much."""
        if _SPECIAL.search(pattern) is None:
            return name == pattern or name.startswith(f"{pattern}/")
        self._left -= len(pattern) * len(name)
        if self._left < 0:
            what = "its patterns take too long to compare with all submissions and tests"
            raise InputError(what, file=self._tree.shown(FILE))
        return covers(pattern, name)

    def is_broken(self, name: str) -> bool:
        """Return True if an entry of submissions.yaml for a submission cannot be read."""
        return any(self._covers(pattern, name) for pattern in self._broken)

    def language(self, name: str) -> str | None:
        """Return the language that submissions.yaml states for a submission, or None."""
        for pattern, (rule, _) in self._rules.items():
            if rule.language and self._covers(pattern, name):
                return registry.get(_CODES.get(rule.language, rule.language)).id
        return None

    def entrypoint(self, name: str) -> str | None:
        """Return the main file that submissions.yaml states for a submission, or None."""
        rules = (rule for pattern, (rule, _) in self._rules.items() if self._covers(pattern, name))
        return next((rule.entrypoint for rule in rules if rule.entrypoint), None)

    def label(self, name: str, program: Program) -> Labelled | None:
        directory = name.partition("/")[0]
        path = join(DIRECTORY, name)
        matching = [pattern for pattern in self._rules if self._covers(pattern, name)]
        if (self._legacy or directory in _UNCOMPILED) and not matching:
            named = by_directory(self._problem, directory, is_scoring=self._scoring)
            return (
                None if named is None else Labelled(path, program, Expectation(named[0]), named[1])
            )
        own, inner = self._rules.get(directory, (_Rule(), {}))
        base = _merged(_DEFAULTS.get(directory), own)
        if directory not in _DEFAULTS and not matching:
            return None
        everything = tuple(self._problem.tests_by_name())
        parts = [part for key, rule in inner.items() for part in self._part(key, rule)]
        roles = [self._role(rule) for rule in (base, *inner.values())]
        for pattern in matching:
            if pattern == directory:
                continue
            rule, inner = self._rules[pattern]
            parts.append(Part(pattern, self._claim(rule), everything))
            parts += [part for key, each in inner.items() for part in self._part(key, each)]
            roles += [self._role(each) for each in (rule, *inner.values())]
        whole = self._claim(base)
        if base.permitted == ["AC"] and not self._scoring:
            whole = replace(whole, verdicts=ACCEPTED)
        role = next((each for each in (Bound.UPPER, Bound.LOWER) if each in roles), Bound.NONE)
        return Labelled(path, program, Expectation(whole, tuple(parts)), role)

    def _claim(self, rule: _Rule) -> Claim:
        score = rule.score
        points = (score, score) if isinstance(score, int | float) else score
        if rule.message:
            self._tree.notes(f"{FILE}: messages of the validator are not checked")
        return Claim(None, self._set(rule.permitted), self._set(rule.required), points)

    def _set(self, words: list[_Short] | None) -> Verdicts | None:
        if words is None:
            return None
        some = frozenset[Verdict]().union(*(_SHORT[word] for word in words))
        return some | PARTIAL if self._scoring and "AC" in words else some

    def _role(self, rule: _Rule) -> Bound:
        if isinstance(rule.use_for_time_limit, str):
            return Bound(rule.use_for_time_limit)
        return bound(self._claim(rule)) if rule.use_for_time_limit else Bound.NONE

    def _tests(self, pattern: str) -> tuple[str, ...]:
        return tuple(name for name in self._problem.tests_by_name() if self._covers(pattern, name))

    def _part(self, pattern: str, rule: _Rule) -> Iterable[Part]:
        claim = self._claim(rule)
        if claim.points is not None:
            if pattern in {subtask.name for subtask in self._problem.subtasks}:
                yield Part(pattern, Claim(points=claim.points))
            else:
                self._tree.notes(f"{FILE}: the score of {pattern!r} is not checked: no subtask")
        yield Part(pattern, replace(claim, points=None), self._tests(pattern))


def _merged(base: _Rule | None, own: _Rule) -> _Rule:
    """`own`, with what it leaves open taken from the directory's default."""
    if base is None:
        return own
    permitted = base.permitted if own.permitted is None else own.permitted
    required = base.required if own.required is None else own.required
    return msgspec.structs.replace(own, permitted=permitted, required=required)


def _is_of_data(key: str) -> bool:
    return key.partition("/")[0] in {"sample", "secret", "*", "{sample,secret}"}


def covers(pattern: str, name: str) -> bool:
    """Return True if a glob matches a path or a directory above it.

    `*` stands for part of one name, `{a,b}` for either; nothing else is special. All places that a
    match may have reached are followed at once: one by one would take for ever.
    """
    at = {0}
    for number, piece in enumerate(_SPECIAL.split(pattern)):
        if piece == "*":
            at = _to_the_end(name, at)
        else:
            words = piece[1:-1].split(",") if number % 2 else [piece]
            at = {
                start + len(word) for word in words for start in at if name.startswith(word, start)
            }
    return any(place == len(name) or name[place] == "/" for place in at)


def _to_the_end(name: str, starts: set[int]) -> set[int]:
    """Return the places from any of `starts` to the end of its part of a path."""
    reached: set[int] = set()
    for start in sorted(starts):
        for place in range(start, len(name) + 1):
            if place in reached:
                break
            reached.add(place)
            if name[place : place + 1] == "/":
                break
    return reached
