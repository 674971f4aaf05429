"""Labelled solutions of an IOI task directory."""

from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.formats.livecodebench import did_you_mean
from proctor.formats.packages.documents import convert, read_json
from proctor.formats.packages.files import Tree, first, join
from proctor.formats.packages.model import (
    ACCEPTED,
    CRASHED,
    PARTIAL,
    REJECTED,
    SLOW,
    WRONG,
    Claim,
    Expectation,
    Labelled,
    Part,
    Verdicts,
    bound,
)
from proctor.formats.packages.programs import load_submission
from proctor.problem import Problem
from proctor.verdict import Verdict

FILE = "solutions.json"
_DIRECTORIES = ("solution", "solutions")

_MLE = frozenset({Verdict.MLE, Verdict.RE})
VERDICTS: dict[str, Verdicts] = {
    "model_solution": ACCEPTED,
    "correct": ACCEPTED,
    "partially_correct": PARTIAL,
    "incorrect": WRONG,
    "time_limit": SLOW,
    "memory_limit": _MLE,
    "runtime_error": CRASHED,
    # Seen by the manager or the grader: a wrong answer, or a process that ended too early.
    "protocol_violation": WRONG | CRASHED,
    "security_violation": WRONG | CRASHED,
    "failed": REJECTED,
    "time_limit_and_runtime_error": SLOW | CRASHED,
}
_ALIASES = {
    "model": "model_solution",
    "ac": "correct",
    "accept": "correct",
    "accepted": "correct",
    "pc": "partially_correct",
    "partial": "partially_correct",
    "wa": "incorrect",
    "wrong": "incorrect",
    "wrong_answer": "incorrect",
    "tl": "time_limit",
    "tle": "time_limit",
    "time_limit_exceeded": "time_limit",
    "ml": "memory_limit",
    "mle": "memory_limit",
    "memory_limit_exceeded": "memory_limit",
    "rt": "runtime_error",
    "re": "runtime_error",
    "rte": "runtime_error",
    "run_time_error": "runtime_error",
    "pv": "protocol_violation",
    "sv": "security_violation",
    "fail": "failed",
    "tle_rte": "time_limit_and_runtime_error",
}


class _Solution(msgspec.Struct, forbid_unknown_fields=True):
    verdict: str
    except_: dict[str, str] = msgspec.field(default_factory=dict, name="except")
    score: float | None = None
    """Points in all; an addition of proctor's."""
    comment: Any = None


def load_solutions(tree: Tree, problem: Problem) -> tuple[Labelled, ...]:
    """Solutions in solutions.json or, without it, in directories named for verdicts.

    With `except`, the verdict is that of every subtask but those named; without, it is that of
    the whole. Raises InputError.
    """
    labels = _listed(tree, problem) if tree.is_file(FILE) else _by_directory(tree)
    found = []
    for name, expected in labels.items():
        with tree.noting(name):
            program = load_submission(tree, name, problem.running)
            claims = [expected.whole, *(part.claim for part in expected.parts)]
            role = bound(Claim(_union(claims)))
            found.append(Labelled(name, program, expected, role))
    return tuple(found)


def _union(claims: list[Claim]) -> Verdicts:
    named = (claim.required or claim.verdicts or frozenset() for claim in claims)
    return frozenset[Verdict]().union(*named)


def _listed(tree: Tree, problem: Problem) -> dict[str, Expectation]:
    found = {}
    for name, value in read_json(tree, FILE).items():
        with tree.noting(FILE):
            solution = convert(tree, FILE, value, _Solution, within=name)
            found[_path(tree, name)] = _expectation(tree, problem, name, solution)
    return found


def _path(tree: Tree, name: str) -> str:
    """Find a solution that solutions.json names."""
    candidates = [join(directory, name) for directory in _DIRECTORIES]
    candidates += [join("solutions", verdict, name) for verdict in VERDICTS]
    for candidate in candidates:
        tree.resolved(candidate, said_by=FILE, field=name)
    path = first(candidates, tree) or next((c for c in candidates if tree.is_dir(c)), None)
    if path is None:
        what = f"there is no file {candidates[0]} or {candidates[1]}"
        raise InputError(what, file=tree.shown(FILE), field=name)
    return path


def _expectation(tree: Tree, problem: Problem, name: str, solution: _Solution) -> Expectation:
    verdicts = _verdicts(tree, solution.verdict, f"{name}.verdict")
    points = None if solution.score is None else (solution.score, solution.score)
    if not solution.except_:
        return Expectation(whole_claim(verdicts, points))
    names = [subtask.name for subtask in problem.subtasks]
    special = {}
    for subtask, verdict in solution.except_.items():
        field = f"{name}.except.{subtask}"
        # Exports put a number before the name.
        known = [each for each in names if subtask in (each, each.partition("-")[2])]
        if not known:
            what = f"there is no such subtask{did_you_mean(subtask, names)}"
            raise InputError(what, file=tree.shown(FILE), field=field)
        special[known[0]] = _verdicts(tree, verdict, field)
    parts = [Part(each, Claim(special.get(each, verdicts))) for each in names]
    return Expectation(Claim(points=points), tuple(parts))


def whole_claim(verdicts: Verdicts, points: tuple[float, float] | None = None) -> Claim:
    """Return the claim on the whole submission of a label without exceptions.

    Some test must show a failure that the label names; other subtasks may give points.
    """
    if verdicts in (ACCEPTED, PARTIAL, REJECTED):
        return Claim(verdicts, points=points)
    return Claim(REJECTED, required=verdicts, points=points)


def _verdicts(tree: Tree, word: str, field: str) -> Verdicts:
    verdict = word.lower()
    verdict = _ALIASES.get(verdict, verdict)
    if verdict not in VERDICTS:
        hint = did_you_mean(word, [*VERDICTS, *_ALIASES])
        raise InputError(f"unknown verdict {word!r}{hint}", file=tree.shown(FILE), field=field)
    return VERDICTS[verdict]


def _by_directory(tree: Tree) -> dict[str, Expectation]:
    found = {}
    for directory in _DIRECTORIES:
        for entry in tree.entries(directory):
            path, verdict = join(directory, entry), _ALIASES.get(entry.lower(), entry.lower())
            if not tree.is_dir(path) or verdict not in VERDICTS:
                tree.notes(f"{path}: nothing says what is expected of it")
                continue
            for name in tree.entries(path):
                found[join(path, name)] = Expectation(whole_claim(VERDICTS[verdict]))
    return found
