"""Solutions of an Italian task directory, and task-maker's @check comments in them."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from proctor.errors import InputError
from proctor.formats.livecodebench import did_you_mean
from proctor.formats.packages.cms_programs import HEADERS
from proctor.formats.packages.files import Tree, extension, join, stem
from proctor.formats.packages.model import (
    ACCEPTED,
    CRASHED,
    PARTIAL,
    SLOW,
    WRONG,
    Claim,
    Expectation,
    Labelled,
    Part,
    bound,
)
from proctor.formats.packages.programs import is_source, load_submission
from proctor.problem import OutputOnly, Problem
from proctor.verdict import Verdict

DIRECTORY = "sol"
_OFFICIAL = ("solution", "soluzione")
_MOST_COMPARED = 100_000
"""Comparisons of a pattern in a solution with a subtask's name."""
_CHECK = re.compile(r"@check-([\w-]*)\s*(:?)([^\n]*)")

_CLAIMS = {
    "accepted": Claim(ACCEPTED),
    "partial-score": Claim(permitted=ACCEPTED | PARTIAL, required=PARTIAL),
    "wrong-answer": Claim(required=WRONG),
    "time-limit-exceeded": Claim(required=SLOW),
    "wall-time-limit-exceeded": Claim(required=SLOW),
    # A process that is refused memory may crash.
    "memory-limit-exceeded": Claim(required=frozenset({Verdict.MLE, Verdict.RE})),
    "runtime-error": Claim(required=CRASHED),
    "zero": Claim(required=WRONG | SLOW | CRASHED),
}


def load_italian_solutions(tree: Tree, problem: Problem) -> tuple[Labelled, ...]:
    """The official solution, which is right, and those with @check comments.

    Others are left out and noted, as nothing says what is expected of them.
    """
    found = []
    for name in _candidates(tree, problem):
        with tree.noting(name):
            program = load_submission(tree, name, problem.running)
            official = stem(name) in _OFFICIAL
            texts = [program.source, *(data.decode("latin-1") for data in program.files.values())]
            parts = tuple(part for text in texts for part in _parts(tree, name, text, problem))
            if not parts and not official:
                raise InputError("nothing says what is expected of it")
            whole = Claim() if parts else Claim(ACCEPTED)
            # The bound is of all its claims together: a program may be slow in one subtask and
            # right in another.
            claims = [whole, *(part.claim for part in parts)]
            named = (claim.required or claim.verdicts or frozenset() for claim in claims)
            role = bound(Claim(frozenset[Verdict]().union(*named)))
            found.append(Labelled(name, program, Expectation(whole, parts), role))
    return tuple(found)


def _candidates(tree: Tree, problem: Problem) -> Iterator[str]:
    """Sources in sol/, and directories of several sources or, for output-only tasks, of outputs."""
    for entry in tree.entries(DIRECTORY, lenient=True):
        name = join(DIRECTORY, entry)
        if stem(entry) in ("grader", "stub") or entry.startswith("template"):
            continue
        if tree.is_dir(name) or (
            is_source(name)
            and extension(name) not in HEADERS
            and not entry.endswith("lib.pas")
            and not isinstance(problem.running, OutputOnly)
        ):
            yield name


def _parts(tree: Tree, name: str, source: str, problem: Problem) -> Iterator[Part]:
    subtasks = [subtask.name for subtask in problem.subtasks]
    left = _MOST_COMPARED
    for number, line in enumerate(source.splitlines(), 1):
        match = _CHECK.search(line)
        if match is None:
            continue
        word, colon, patterns = match.groups()
        if word not in _CLAIMS or not colon:
            hint = did_you_mean(word, _CLAIMS)
            tree.notes(f"{name}: line {number}: @check-{word} is not a check{hint}")
            continue
        for pattern in dict.fromkeys(patterns.split()):
            left -= len(subtasks)
            if left < 0:
                tree.notes(
                    f"{name}: line {number}: so many checks; those from here on are left out"
                )
                return
            chosen = [each for each in subtasks if fnmatchcase(each, pattern.replace("[", "[[]"))]
            if not chosen and pattern not in ("*/", "-->"):  # the end of a comment
                tree.notes(f"{name}: line {number}: there is no subtask {pattern!r}")
            yield from (Part(each, _CLAIMS[word]) for each in chosen)
