"""Choice of the tests that a quick run and a landing leave out: others with each landing.

Marks say what is sampled, what is slow, and what a real part is (needs.REAL_PARTS).
"""

import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import pytest

import needs

T = TypeVar("T")
TESTS = Path(__file__).parent
ROOT = TESTS.parent
LANDINGS = ROOT / ".ci" / "landings"
SLOW_TURNS = 6
"""Number of landings in which each slow test has its turn."""
REAL_TURNS = 3
"""Number of its turns in which a real part has tried all its tests."""
PART_TURNS = 3
"""Number of landings in which each real part has its turn, as in tools/ci."""


def turn() -> int:
    """Number the next landing: .ci/landings has a line for each before it."""
    lines = LANDINGS.read_text("utf-8").splitlines() if LANDINGS.exists() else []
    return sum(not line.startswith("#") for line in lines if line)


def in_turn(things: Sequence[T]) -> Sequence[T]:
    """Return every third of the many things that a slow test tries, others with each of its turns."""
    return things[turn() // SLOW_TURNS % 3 :: 3]


def find_left_out(
    items: list[pytest.Item], changed: set[str], asked_for: set[str], *, landing: bool
) -> set[pytest.Item]:
    """Return the tests that are not run, given paths that changed and marks that -m names.

    In a quick run: real parts that are not asked for, what is slow, cases that are not in the sample.
    At a landing slow tests of what changed are run and a sixth of the others, and of a real part that
    is asked for a third.
    """
    asked_for &= set(needs.REAL_PARTS)
    return {
        *_real_parts(items, asked_for, landing),
        *_outside_of_the_sample(items, changed),
        *(_slow(items, changed, asked_for) if landing else filter(_is_slow, items)),
    }


def _real_parts(
    items: list[pytest.Item], asked_for: set[str], landing: bool
) -> Iterable[pytest.Item]:
    others = set(needs.REAL_PARTS) - asked_for
    yield from (each for each in items if _has(each, others))
    if landing:
        real = [each for each in items if _has(each, asked_for) and not _has(each, others)]
        tests = list(dict.fromkeys(map(_test, real)))
        # Of few tests each time at least one: a run of none would be a failure of pytest's.
        share = min(REAL_TURNS, len(tests))
        chosen = set(tests[turn() // PART_TURNS % share :: share]) if tests else set()
        yield from (each for each in real if _test(each) not in chosen)


def _outside_of_the_sample(items: list[pytest.Item], changed: set[str]) -> Iterable[pytest.Item]:
    seen = Counter[str]()
    for item in items:
        if (mark := item.get_closest_marker("sampled")) is not None:
            case = _case(item)
            number = seen[_test(item)] - turn()
            seen[_test(item)] += 1
            always = any(each in case for each in (*mark.kwargs.get("always", ()), *changed))
            if number % mark.args[0] and not always:
                yield item


def _slow(
    items: list[pytest.Item], changed: set[str], asked_for: set[str]
) -> Iterable[pytest.Item]:
    """Yield slow tests but those of what changed, those whose turn it is, and real parts."""
    near = _near(changed)
    for item in filter(_is_slow, items):
        its_turn = (zlib.crc32(_test(item).encode()) - turn()) % SLOW_TURNS == 0
        close = not near.isdisjoint((item.path, item.path.parent))
        if not its_turn and not close and not _has(item, asked_for):
            yield item


def _is_slow(item: pytest.Item) -> bool:
    mark = item.get_closest_marker("slow")
    return mark is not None and (not mark.args or _case(item) in mark.args)


def _near(changed: set[str]) -> set[Path]:
    """Return the files of tests that changed, and the folders of those of packages that changed."""
    found = {ROOT / path for path in changed}
    for path in changed:
        if path.startswith("src/proctor/"):
            folder = TESTS / Path(path).parent.relative_to("src/proctor")
            found.add(next(each for each in (folder, *folder.parents) if each.is_dir()))
    return found - {TESTS}


def _has(item: pytest.Item, marks: set[str]) -> bool:
    return any(item.get_closest_marker(name) for name in marks)


def _test(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def _case(item: pytest.Item) -> str:
    return item.nodeid.removesuffix("]").partition("[")[2]
