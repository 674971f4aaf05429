"""Neighbourhoods of a timetable: the lessons that are freed while all others stay."""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .data import Slot

if TYPE_CHECKING:
    from .model import Timetable

Lesson = tuple[str, Slot]
"""An assignment in a slot."""
SMALLEST, FIRST = 2, 0.2
"""Fewest assignments or slots that are freed; the share of all that is freed at first."""
GROWTH, SHRINKAGE = 1.15, 0.9
"""Factors for the share: after an end that was proved at once, and one that the limit forced."""
CURIOSITY = 0.05
"""Chance of a neighbourhood that never gained anything, beside gains per unit of effort."""


@dataclass(slots=True)
class Neighbourhood:
    """A way of choosing what is freed, and how it has done so far."""

    name: str
    choose: Callable[[random.Random, float, Sequence[int]], set[Lesson]]
    share: float = FIRST
    tries: int = 0
    gains: int = 0
    """Number of better solutions."""
    effort: float = 0.0
    """Deterministic time spent, in the solver's units."""

    @property
    def promise(self) -> float:
        return CURIOSITY + (self.gains + 1) / (self.effort + 1)

    def learn(self, effort: float, used: float, *, gained: bool, proved: bool) -> None:
        """Note the end of a search, which used this share of its limit.

        What is freed grows while it is easy, and shrinks where it is hard.
        """
        self.tries += 1
        self.gains += gained
        self.effort += effort
        factor = GROWTH ** max(0.0, 1 - 2 * used) if proved else SHRINKAGE
        self.share = min(1.0, self.share * factor)


class Neighbourhoods:
    """The neighbourhoods of one model."""

    def __init__(self, timetable: "Timetable") -> None:
        given = timetable.instance
        self._ids = [each.id for each in given.assignments]
        self._slots = given.slots
        self._days = list(given.slots_of_day.values())
        self._together = [sorted(each) for each in timetable.exclusive if len(each) > 1]
        self._of_id: dict[str, list[list[str]]] = defaultdict(list)
        for group in self._together:
            for id_ in group:
                self._of_id[id_].append(group)
        self._parts = timetable.penalties.parts
        owner = {variable.index: key[0] for key, variable in timetable.x.items()}
        self._of_part = [
            sorted({owner[index] for index in timetable.logic.sources(part.indices) & owner.keys()})
            for part in self._parts
        ]
        self.all = [
            Neighbourhood("assignments", self._some_assignments),
            Neighbourhood("slots", self._some_slots),
            Neighbourhood("days", self._some_days),
        ]
        if self._together:
            self.all.append(Neighbourhood("together", self._some_together))
        if self._parts:
            self.all.append(Neighbourhood("penalised", self._some_penalised))

    def pick(self, rng: random.Random) -> Neighbourhood:
        return rng.choices(self.all, [each.promise for each in self.all])[0]

    def _some_assignments(self, rng: random.Random, share: float, _: Sequence[int]) -> set[Lesson]:
        return self._lessons(rng.sample(self._ids, _number(share, self._ids)), self._slots)

    def _some_slots(self, rng: random.Random, share: float, _: Sequence[int]) -> set[Lesson]:
        return self._lessons(self._ids, rng.sample(self._slots, _number(share, self._slots)))

    def _some_days(self, rng: random.Random, share: float, _: Sequence[int]) -> set[Lesson]:
        """Free slots of as few days as can be."""
        found: list[Slot] = []
        wanted = _number(share, self._slots)
        for day in rng.sample(self._days, len(self._days)):
            found += rng.sample(day, min(len(day), wanted - len(found)))
        return self._lessons(self._ids, found)

    def _some_together(self, rng: random.Random, share: float, _: Sequence[int]) -> set[Lesson]:
        """Free classes, teachers or curricula, mostly such as share assignments."""
        wanted, found = _number(share, self._ids), dict[str, None]()
        group = rng.choice(self._together)
        for _attempt in self._ids:
            found.update(dict.fromkeys(group))
            if len(found) >= wanted:
                break
            near = rng.random() < 0.7
            group = rng.choice(self._of_id[rng.choice(group)] if near else self._together)
        return self._lessons(rng.sample(list(found), min(wanted, len(found))), self._slots)

    def _some_penalised(
        self, rng: random.Random, share: float, values: Sequence[int]
    ) -> set[Lesson]:
        """Free what causes costs, and some more."""
        wanted, found = _number(share, self._ids), dict[str, None]()
        broken = [
            of
            for of, part in zip(self._of_part, self._parts, strict=True)
            if part.weight and part.value(values)
        ]
        rng.shuffle(broken)
        for some in broken:
            if len(found) >= wanted:
                break
            found.update(dict.fromkeys(some))
        chosen = dict.fromkeys(rng.sample(list(found), min(wanted, len(found))))
        chosen.update(dict.fromkeys(rng.sample(self._ids, max(0, wanted - len(chosen)))))
        return self._lessons(chosen, self._slots)

    def _lessons(self, ids: Iterable[str], slots: Sequence[Slot]) -> set[Lesson]:
        return {(id_, slot) for id_ in ids for slot in slots}


def _number(share: float, of: Sequence[object]) -> int:
    return min(len(of), max(SMALLEST, round(share * len(of))))
