"""Timetables made from their schedule, single corruptions of it, and what must be wrong then.

The schedule comes first; the input is what it fulfils. What is counted here is counted by other
means than the validator's: over rows, with sets and strings of slots.
"""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple


class Row(NamedTuple):
    a: str
    c: str | None
    s: str
    t: str | None
    d: int
    q: int
    p: int
    room: str

    @property
    def g(self) -> tuple[str | None, str]:
        """The class; without one the assignment is a class of its own."""
        return (self.c, "" if self.c is not None else self.a)


@dataclass(frozen=True)
class World:
    data: dict[str, Any]
    entries: tuple[dict[str, Any], ...]

    @property
    def days(self) -> list[str]:
        return [str(each) for each in self.data["days"]]

    def periods(self, day: int) -> list[int]:
        return self.data["periodsByDay"].get(self.days[day], self.data["periods"])

    @property
    def all_periods(self) -> list[int]:
        return sorted({p for d in range(len(self.days)) for p in self.periods(d)})

    @property
    def slots(self) -> list[tuple[int, int]]:
        return [(d, q) for d in range(len(self.days)) for q in range(len(self.periods(d)))]

    def asked(self, of: str) -> list[str]:
        """Teachers, subjects or classes that have assignments."""
        found = {str(each[of]) for each in self.data["assignments"] if each.get(of) is not None}
        return sorted(found)

    def assignment(self, id_: str) -> dict[str, Any]:
        return next(each for each in self.data["assignments"] if str(each["id"]) == id_)

    def rows(self, entries: tuple[dict[str, Any], ...] | None = None) -> list[Row]:
        """Rows of a schedule; an assignment twice in a slot counts once."""
        found: dict[tuple[str, int, int], Row] = {}
        for entry in self.entries if entries is None else entries:
            about = self.assignment(str(entry["assignmentId"]))
            day = self.days.index(str(entry["day"]))
            at = self.periods(day).index(entry["period"])
            row = Row(
                str(about["id"]),
                None if about.get("class") is None else str(about["class"]),
                str(about["subject"]),
                about["teacher"],
                day,
                at,
                entry["period"],
                entry["room"],
            )
            found.setdefault((row.a, row.d, row.q), row)
        return list(found.values())

    def with_(self, *constraints: dict[str, Any]) -> dict[str, Any]:
        return {**self.data, "constraints": [*self.data["constraints"], *constraints]}


def make(rng: random.Random) -> World:
    """A timetable without a clash; day names and periods are in no order but the input's."""
    days = rng.sample(["Mon", "Tue", "Wed", "Thu", "Fri"], rng.randint(3, 5))
    periods = rng.sample(range(20), rng.randint(3, 5)) if rng.random() < 0.5 else [1, 2, 3, 4, 5]
    by_day = {days[-1]: periods[:-1]} if rng.random() < 0.5 else {}
    classes = rng.choice([["6A", "6B", "6C"], [10, 11, 12]])
    subjects, teachers = ["maths", "art", "sport", "music"], ["Ada", "Bo", "Cy", "Di"]
    of_day = [by_day.get(day, periods) for day in days]
    slots = [(d, p) for d, each in enumerate(of_day) for p in each]
    lessons: dict[tuple[Any, str, str | None], list[tuple[int, int]]] = {}
    busy: dict[tuple[int, int], set[str]] = {slot: set() for slot in slots}
    density = rng.choice([0.3, 0.5, 0.8])
    for class_ in classes:
        mine = {subject: rng.choice(teachers) for subject in subjects}
        for slot in slots:
            subject = rng.choice(subjects)
            if rng.random() < density and mine[subject] not in busy[slot]:
                busy[slot].add(mine[subject])
                lessons.setdefault((class_, subject, mine[subject]), []).append(slot)
    for slot in rng.sample(slots, 2):
        teacher = rng.choice([None, *[each for each in teachers if each not in busy[slot]]])
        lessons.setdefault((None, "club", teacher), []).append(slot)
    rooms = [{"id": f"R{i}", "capacity": rng.randint(20, 40)} for i in range(len(classes) + 2)]
    assignments, entries = _placed(rng, lessons, rooms, days)
    data = {
        "classes": classes,
        "days": days,
        "periods": periods,
        "periodsByDay": by_day,
        "rooms": rooms,
        "sessions": [{"id": "early", "periods": periods[:2]}],
        "assignments": assignments,
        "constraints": [
            {
                "id": "group",
                "kind": "subject_group",
                "severity": "hard",
                "params": {
                    "groupName": "G",
                    "subjects": sorted({each["subject"] for each in assignments})[:3],
                },
            }
        ],
    }
    return World(data, tuple(entries))


def _placed(
    rng: random.Random,
    lessons: dict[tuple[Any, str, str | None], list[tuple[int, int]]],
    rooms: list[dict[str, Any]],
    days: list[str],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    assignments, entries = [], []
    taken: set[tuple[tuple[int, int], str]] = set()
    capacity = {each["id"]: each["capacity"] for each in rooms}
    for number, ((class_, subject, teacher), slots) in enumerate(lessons.items(), 1):
        used = []
        for slot in slots:
            free = [room for room in capacity if (slot, room) not in taken]
            room = next((each for each in used if each in free), None) or rng.choice(free)
            taken.add((slot, room))
            used.append(room)
            entry = {
                "assignmentId": rng.choice([number, str(number)]),
                "class": class_,
                "day": days[slot[0]],
                "period": slot[1],
                "subject": subject,
                "teacher": teacher,
                "room": room,
            }
            entries.append(entry)
        about = {"id": number, "subject": subject, "teacher": teacher, "weeklyPeriods": len(slots)}
        about["size"] = min(capacity[each] for each in used) - rng.choice([0, 0, 3])
        if class_ is not None:
            about["class"] = class_
        assignments.append(about)
    rng.shuffle(entries)
    return assignments, entries


Corruption = tuple[str, tuple[dict[str, Any], ...], tuple[dict[str, Any], ...]]


def corruptions(world: World, rng: random.Random) -> Iterator[Corruption]:
    """Single corruptions, endlessly: what it is, the schedule then, the entries it touched."""
    while True:
        what = rng.choice(["move", "move", "move", "swap", "delete", "duplicate", "again", "room"])
        entries = list(world.entries)
        i, j = rng.randrange(len(entries)), rng.randrange(len(entries))
        day, at = rng.choice(world.slots)
        slot = {"day": world.days[day], "period": world.periods(day)[at]}
        if what == "move":
            entries[i] = {**entries[i], **slot}
        elif what == "swap":
            here, there = ({k: entries[n][k] for k in ("day", "period")} for n in (i, j))
            entries[i], entries[j] = {**entries[i], **there}, {**entries[j], **here}
        elif what == "delete":
            yield what, tuple(entries[:i] + entries[i + 1 :]), (entries[i],)
            continue
        elif what == "duplicate":
            entries.append(dict(entries[i]))
        elif what == "again":
            entries.append({**entries[i], **slot})
        else:
            entries[i] = {**entries[i], "room": rng.choice(world.data["rooms"])["id"]}
        touched = (entries[-1],) if what in {"duplicate", "again"} else (entries[i], entries[j])
        yield what, tuple(entries), touched


def base_wrong(world: World, entries: tuple[dict[str, Any], ...]) -> set[str]:
    """Base checks that fail."""
    rows = world.rows(entries)
    wrong = set()
    if len(rows) < len(entries):
        wrong.add("base_duplicate")
    for what in ("teacher", "class", "room"):
        of = {"teacher": "t", "class": "c", "room": "room"}[what]
        who = [(getattr(r, of), r.d, r.q) for r in rows if getattr(r, of) is not None]
        if len(set(who)) < len(who):
            wrong.add(f"base_{what}_clash")
    count = Counter(r.a for r in rows)
    if any(count[str(a["id"])] != a["weeklyPeriods"] for a in world.data["assignments"]):
        wrong.add("base_weekly")
    return wrong
