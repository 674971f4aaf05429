"""Choose what a landing runs, and say what it leaves out and why."""

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ci import changes, graph
from ci.items import EVERY_TIME, FAR, THIRDS, Part

CORE = ("tests/cell/", "tests/languages/", "tests/judging/", "tests/sandbox/")
"""Rooms of tests that every landing runs whole: what runs and judges programs."""
CORE_FILES = ("tests/test_corpus.py", "tests/test_planted_bugs.py", "tests/test_house_rules.py")
APART = ("tests/sandbox/unboxed/", "tests/vm/", "tests/containers/", "tests/integrations/ray/")
"""Folders whose tests are parts of their own."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Parts and files of tests to run, with the reasons."""

    parts: list[Part]
    files: list[str]
    """Files of tests for the part `tests`."""
    affected: frozenset[str]
    """Files of tests that depend on what changed."""
    changed: frozenset[str]
    """Paths that changed; none where that is not known."""
    whole: bool
    at_once: frozenset[str]
    """Far parts that are run since something that they are about changed."""
    reasons: list[str]
    """Lines for whoever reads the log: why each part is run or left out."""


def landing() -> Plan:
    """Choose the core, what depends on what changed since the last landing, and far parts."""
    changed, turn = changes.changes(), changes.turn()
    affected = set(graph.affected(changed))
    candidates = [each for each in graph.tests() if not each.startswith(APART)]
    chosen = affected | {each for each in candidates if each in CORE_FILES or each.startswith(CORE)}
    files, left = (
        [each for each in candidates if (each in chosen) is wanted] for wanted in (True, False)
    )
    count = "everything" if changed.paths is None else f"{len(changed.paths)} files"
    parts, reasons = (
        list[Part](),
        [f"compared with: {changed.since}; changed: {count}; turn {turn}"],
    )
    for part, why_not in _left_out(changed, turn):
        if why_not is None:
            parts.append(part)
        else:
            reasons.append(f"left out: {part.name}: {why_not}")
    reasons.append(
        f"tests: {len(files)} of {len(candidates)} files: the core's, and what depends on changes"
    )
    for folder, number in Counter(each.rpartition("/")[0] for each in left).items():
        reasons.append(f"left out: {number} files of {folder}: nothing that they depend on changed")
    at_once = frozenset(part.name for part in parts if part in FAR and changed.within(*part.about))
    return Plan(
        parts, files, frozenset(affected), changed.paths or frozenset(), False, at_once, reasons
    )


def _left_out(changed: changes.Changes, turn: int) -> Iterator[tuple[Part, str | None]]:
    """Yield each part with the reason why it is left out, or None."""
    for part in EVERY_TIME:
        run = not part.about or changed.within(*part.about)
        yield part, None if run else "nothing that it is about changed"
    for number, part in enumerate(FAR):
        turns = (number - turn) % THIRDS
        run = turns == 0 or changed.within(*part.about)
        yield (
            part,
            None if run else f"nothing that it is about changed; its turn is in {turns} landings",
        )


def everything() -> Plan:
    """Choose all."""
    files = [each for each in graph.tests() if not each.startswith(APART)]
    parts = [*EVERY_TIME, *FAR]
    every = frozenset(graph.tests())
    return Plan(parts, files, every, frozenset(), True, frozenset(), ["everything, as asked for"])


def named(names: list[str]) -> Plan:
    """Choose parts by name, `far` for far parts in their turn. Raises SystemExit if unknown."""
    known = {part.name: part for part in (*EVERY_TIME, *FAR)}
    unknown = [name for name in names if name not in known and name != "far"]
    if unknown:
        there = ", ".join((*known, "far", "all"))
        print(f".ci/run: no part is called {unknown[0]!r}; there are: {there}", file=sys.stderr)
        raise SystemExit(2)
    plan = landing()
    far = [part.name for part in plan.parts if part in FAR] if "far" in names else []
    chosen = dict.fromkeys([*(name for name in names if name != "far"), *far])
    reasons = [line for line in plan.reasons if not line.startswith("left out: ")]
    return replace(plan, parts=[known[name] for name in chosen], reasons=reasons)
