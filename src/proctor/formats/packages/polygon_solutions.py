"""Labelled solutions of a Polygon package."""

import re
from xml.etree.ElementTree import Element

from proctor.errors import InputError
from proctor.formats.livecodebench import did_you_mean
from proctor.formats.packages.files import Tree
from proctor.formats.packages.model import (
    ACCEPTED,
    PARTIAL,
    REJECTED,
    SLOW,
    WRONG,
    Claim,
    Expectation,
    Labelled,
    Verdicts,
    bound,
)
from proctor.formats.packages.programs import by_extension
from proctor.languages import registry
from proctor.program import Program
from proctor.verdict import Verdict

FILE = "problem.xml"

_GREEDY: Verdicts = frozenset({Verdict.MLE, Verdict.RE})
"""A program that is refused memory may crash."""
_RIGHT = ("main", "accepted")
_REJECTED = ("rejected", "failed")
_REQUIRED: dict[str, Verdicts] = {
    "wrong-answer": WRONG,
    "presentation-error": WRONG,
    "time-limit-exceeded": SLOW,
    "memory-limit-exceeded": _GREEDY,
    "time-limit-exceeded-or-memory-limit-exceeded": SLOW | _GREEDY,
}
"""Verdicts by tag: some test must get one of them, and all other tests these or a pass."""
_MAYBE_SLOW = "time-limit-exceeded-or-accepted"
_NOT_RUN = "do-not-run"
_TAGS = (*_RIGHT, *_REJECTED, *_REQUIRED, _MAYBE_SLOW, _NOT_RUN)

_C_PLUS_PLUS = re.compile(r"\+\+([0-9][0-9a-z])")
_STANDARDS = {
    "0x": "cpp11", "11": "cpp11", "14": "cpp14", "1z": "cpp17", "17": "cpp17", "20": "cpp20",
    "2a": "cpp20", "2x": "cpp23", "23": "cpp23",
}  # fmt: skip
_LANGUAGES = {
    "c": "c", "java": "java", "kotlin": "kotlin", "csharp": "csharp", "go": "go", "rust": "rust",
    "haskell": "haskell", "ocaml": "ocaml", "perl": "perl", "php": "php", "ruby": "ruby",
    "v8": "javascript", "js": "javascript",
}  # fmt: skip
_OTHERS = {
    "python.3": "python", "python.pypy3": "pypy", "python.pypy3-64": "pypy", "pas.fpc": "pascal",
    "pas.dpr": "pascal",
}  # fmt: skip


def language_of(kind: str, path: str, source: str) -> str | None:
    """Id of the language that Polygon calls `kind`; None if proctor does not have it.

    Compilers are not distinguished, and versions only where proctor has several.
    """
    if not kind:
        return by_extension(path, source)
    found = _OTHERS.get(kind)
    if kind.startswith("cpp."):
        version = _C_PLUS_PLUS.findall(kind)
        found = _STANDARDS.get(version[-1] if version else "17", "cpp17")
    elif found is None and not kind.startswith(("python.", "pas.")):
        name = kind.partition(".")[0]
        found = _LANGUAGES.get(name) or _LANGUAGES.get(name.rstrip("0123456789"))
    return found if found in registry.languages() else None


def load_solutions(tree: Tree, root: Element, *, scored: bool) -> tuple[Labelled, ...]:
    """Every solution whose language is known; the others are noted. Raises InputError."""
    found = []
    for index, solution in enumerate(root.findall("assets/solutions/solution")):
        source = solution.find("source")
        path = "" if source is None else source.get("path") or ""
        with tree.noting(path or f"{FILE}: solution[{index}]"):
            found.append(_labelled(tree, solution, f"solution[{index}]", scored=scored))
    return tuple(found)


def _labelled(tree: Tree, solution: Element, field: str, *, scored: bool) -> Labelled:
    """Return a solution with its label. Raises InputError if there is none to judge."""
    tag = solution.get("tag") or ""
    if tag not in _TAGS:
        what = f"unknown tag {tag!r}{did_you_mean(tag, _TAGS)}"
        raise InputError(what, field=f"{field}.tag")
    source = solution.find("source")
    if source is None:
        raise InputError("is missing", field=f"{field}.source")
    if tag == _NOT_RUN:
        raise InputError("its tag says not to run it")
    path, kind = source.get("path") or "", source.get("type") or ""
    text = tree.source(path, said_by=FILE, field=f"{field}.source")
    language = language_of(kind, path, text)
    if language is None:
        raise InputError(f"its language, {kind or 'unnamed'}, is not known")
    claim = claim_of(tag, scored=scored)
    program = Program(text, language, path.rpartition("/")[2])
    return Labelled(path, program, Expectation(claim), bound(claim))


def claim_of(tag: str, *, scored: bool) -> Claim:
    """Return the claim of a solution's tag."""
    if tag in _RIGHT:
        return Claim(verdicts=ACCEPTED)
    if tag in _REJECTED:
        return Claim(verdicts=REJECTED)
    passes = ACCEPTED | PARTIAL if scored else ACCEPTED
    if tag == _MAYBE_SLOW:
        return Claim(verdicts=ACCEPTED | PARTIAL | SLOW, permitted=passes | SLOW)
    # A program that does not compile has no tests: `verdicts` is for that.
    required = _REQUIRED[tag]
    return Claim(
        verdicts=required | PARTIAL if scored else required,
        permitted=passes | required,
        required=required,
    )
