"""Small random inputs, random timetables of them, and random params of every kind."""

import random
from collections.abc import Callable
from typing import Any

Json = dict[str, Any]
CLASSES = ("A", "B", "C")
TEACHERS = ("T1", "T2", "T3", "T4")
SUBJECTS = ("math", "art", "music", "sport")
DAYS = ("Mon", "Tue", "Wed")
PERIODS = (1, 2, 3, 4)
ROOMS = {"R1": 10, "R2": 25, "R3": 30}


def instance(rng: random.Random, rooms: bool = False) -> Json:
    """About fifteen lessons in eleven slots, of which one day has its own, out of order."""
    assignments: list[Json] = []
    teachers = [*TEACHERS] * 3  # Three assignments each, so that nobody has too many lessons.
    rng.shuffle(teachers)
    for class_ in CLASSES:
        for subject in rng.sample(SUBJECTS, 3):
            assignments.append(
                {
                    "id": f"a{len(assignments)}",
                    "class": class_,
                    "subject": subject,
                    "teacher": teachers.pop(),
                    "weeklyPeriods": rng.choice((1, 2, 2)) if assignments else 4,
                    "size": rng.randrange(5, 35),
                }
            )
    for subject, teacher in (("art", None), ("math", "T1")):
        assignments.append(
            {
                "id": f"a{len(assignments)}",
                "class": None,
                "subject": subject,
                "teacher": teacher,
                "weeklyPeriods": 2,
                "size": 12,
            }
        )
    found: Json = {
        "classes": list(CLASSES),
        "days": list(DAYS),
        "periods": list(PERIODS),
        "periodsByDay": {"Wed": [2, 4, 1]},
        "sessions": [{"id": "early", "periods": [1, 4]}],
        "assignments": assignments,
        "constraints": [],
    }
    if rooms:
        found["rooms"] = [{"id": id_, "capacity": seats} for id_, seats in ROOMS.items()]
    return found


class Params:
    """Random params; `KINDS` says of each kind how."""

    def __init__(self, rng: random.Random, given: Json) -> None:
        self.rng = rng
        self.given = given
        self.ids = [each["id"] for each in given["assignments"]]
        taught = given["assignments"]
        self.teachers = sorted({each["teacher"] for each in taught if each["teacher"]})
        self.subjects = sorted({each["subject"] for each in taught})

    def teacher(self) -> str:
        return self.rng.choice(self.teachers)

    def subject(self) -> str:
        return self.rng.choice(self.subjects)

    def class_(self) -> str:
        return self.rng.choice(CLASSES)

    def day(self) -> str:
        return self.rng.choice(DAYS)

    def period(self) -> int:
        return self.rng.choice(PERIODS)

    def id(self) -> str:
        return self.rng.choice(self.ids)

    def some(self, of: Any, least: int = 1) -> list[Any]:
        return self.rng.sample(list(of), self.rng.randrange(least, len(of) + 1))

    def upto(self, most: int, least: int = 0) -> int:
        return self.rng.randrange(least, most + 1)

    def maybe(self, **params: Any) -> Json:
        return {key: value for key, value in params.items() if self.rng.random() < 0.5}

    def scope(self) -> Json:
        return self.rng.choice(({}, {"scope": {"day": self.day()}}, {"scope": {}}))

    def slot(self) -> Json:
        return {"day": self.day(), "period": self.period()}

    def condition(self, depth: int = 0) -> Json:
        """Nested twice at most."""
        simple: list[Json] = [
            {"op": "teacher_teaches_on_day", "teacher": self.teacher(), "day": self.day()},
            {"op": "teacher_teaches_at_slot", "teacher": self.teacher(), **self.slot()},
            {
                "op": "teacher_pair_teaches_same_slot",
                "teachers": self.rng.sample(self.teachers, 2),
                **self.maybe(day=self.day(), period=self.period()),
            },
            {
                "op": "teacher_pair_teaches_same_day",
                "teachers": self.rng.sample(self.teachers, 2),
                **self.maybe(day=self.day()),
            },
            {
                "op": "class_teacher_at_slot",
                "class": self.class_(),
                **self.slot(),
                **self.maybe(subject=self.subject(), teacher=self.teacher()),
            },
        ]
        if depth < 2 and self.rng.random() < 0.6:
            args = [self.condition(depth + 1) for _ in range(self.upto(3, 1))]
            nested: list[Json] = [
                {"op": "and", "args": args},
                {"op": "or", "args": args},
                {"op": "not", "arg": args[0]},
            ]
            return self.rng.choice(nested)
        return self.rng.choice(simple)

    def then(self) -> list[Json]:
        kinds = [each for each in KINDS if not each.startswith("room_") and each != "subject_group"]
        chosen = self.rng.sample([*kinds, *["if_then"] * 10], self.upto(2, 1))
        return [{"kind": each, "params": KINDS[each](self)} for each in chosen]


def _subject_periods(p: Params) -> Json:
    subject, periods = p.subject(), p.some(PERIODS)
    return {"subject": subject, "periods": periods, **p.maybe(classes=p.some(CLASSES))}


def _subject(p: Params, **params: Any) -> Json:
    return {"subject": p.subject(), **params, **p.maybe(classes=p.some(CLASSES))}


def _pair(p: Params) -> Json:
    teachers = p.some(p.teachers, 2)
    members = p.rng.choice(({"teachers": teachers}, {"assignmentIds": p.some(p.ids, 2)}))
    return {**members, **p.scope()}


def _session(p: Params) -> Json:
    return p.maybe(
        session=p.rng.choice(("early", "morning", "afternoon", p.some(PERIODS))),
        days=p.some(DAYS),
    )


KINDS: dict[str, Callable[[Params], Json]] = {
    "teacher_block_day": lambda p: {"teacher": p.teacher(), "day": p.day()},
    "teacher_block_period": lambda p: {"teacher": p.teacher(), "period": p.period()},
    "teacher_block_slot": lambda p: {"teacher": p.teacher(), **p.slot()},
    "teacher_max_per_day": lambda p: {"teacher": p.teacher(), "maxPerDay": p.upto(2)},
    "teacher_max_consecutive": lambda p: {"teacher": p.teacher(), "maxConsecutive": p.upto(3)},
    "teacher_max_working_days": lambda p: {
        "teacher": p.teacher(),
        **p.rng.choice(({"maxDays": p.upto(4)}, {"minDaysOff": p.upto(4)})),
    },
    "teacher_min_per_day": lambda p: {"teacher": p.teacher(), "minPerDay": p.upto(3)},
    "teacher_no_gaps": lambda p: {"teacher": p.teacher()},
    "teacher_allowed_days": lambda p: {"teacher": p.teacher(), "days": p.some(DAYS)},
    "teacher_allowed_periods": lambda p: {"teacher": p.teacher(), "periods": p.some(PERIODS)},
    "subject_pin_period": _subject_periods,
    "subject_consecutive": lambda p: _subject(p, **p.maybe(length=p.upto(3, 1))),
    "subject_max_consecutive": lambda p: _subject(p, maxConsecutive=p.upto(2)),
    "subject_allowed_days": lambda p: _subject(p, days=p.some(DAYS)),
    "subject_min_gap_days": lambda p: _subject(p, minGapDays=p.upto(3)),
    "subject_daily_max_periods": lambda p: _subject(p, maxPerDay=p.upto(2)),
    "subject_group_daily_limit": lambda p: {
        "groupName": "hard ones",
        "maxPerDay": p.upto(2),
        **p.maybe(**{"class": p.class_()}),
    },
    "class_block_day": lambda p: {"class": p.class_(), "day": p.day()},
    "class_block_period": lambda p: {"class": p.class_(), "period": p.period()},
    "class_block_slot": lambda p: {"class": p.class_(), **p.slot()},
    "class_max_per_day": lambda p: {"class": p.class_(), "maxPerDay": p.upto(3)},
    "class_min_per_day": lambda p: {
        "class": p.class_(),
        "minPerDay": p.upto(3),
        **p.maybe(days=p.some(DAYS)),
    },
    "class_no_gaps": lambda p: {"class": p.class_()},
    "class_no_double_subject_day": lambda p: {
        "class": p.class_(),
        **p.maybe(subject=p.subject(), maxPerDay=p.upto(2)),
    },
    "class_subjects_not_same_day": lambda p: {
        "subjects": p.some(p.subjects),
        **p.maybe(**{"class": p.class_()}, maxSubjectsPerDay=p.upto(2)),
    },
    "assignment_pin_slot": lambda p: {"assignmentId": p.id(), **p.slot()},
    "assignment_block_slot": lambda p: {"assignmentId": p.id(), **p.slot()},
    "assignment_allowed_slots": lambda p: {
        "assignmentId": p.id(),
        "slots": [p.slot() for _ in range(p.upto(6))],
    },
    "assignment_spread_days": lambda p: {"assignmentId": p.id(), "minDays": p.upto(3)},
    "weekly_periods_exact": lambda p: {
        "weeklyPeriods": p.upto(5),
        "teacher": p.teacher(),
        **p.maybe(assignmentId=p.id(), subject=p.subject(), **{"class": p.class_()}),
    },
    "if_then": lambda p: {"if": p.condition(), "then": p.then()},
    "pair_not_same_slot": _pair,
    "session_limit": lambda p: {"teacher": p.teacher(), "maxPeriods": p.upto(2), **_session(p)},
    "teacher_pair_not_same_slot": lambda p: {"teachers": p.some(p.teachers, 2), **p.scope()},
    "teacher_pair_not_same_day": lambda p: {"teachers": p.some(p.teachers, 2), **p.scope()},
    "teacher_max_classes_per_day": lambda p: {
        "maxClasses": p.upto(2),
        **p.maybe(teacher=p.teacher()),
    },
    "teacher_homeroom_first_period": lambda p: {
        "teacher": p.teacher(),
        "class": p.class_(),
        **p.maybe(period=p.period(), days=p.some(DAYS)),
    },
    "teacher_max_gaps": lambda p: {"teacher": p.teacher(), "maxGaps": p.upto(2)},
    "teacher_min_working_days": lambda p: {"teacher": p.teacher(), "minDays": p.upto(3)},
    "subject_not_last_period": _subject,
    "subject_preferred_periods": _subject_periods,
    "subject_block_period": _subject_periods,
    "class_first_period_required": lambda p: {"class": p.class_()},
    "class_max_subjects_per_day": lambda p: {"class": p.class_(), "max": p.upto(3)},
    "class_max_heavy_subjects_per_day": lambda p: {
        "subjects": p.some(p.subjects),
        "maxHeavy": p.upto(2),
        **p.maybe(**{"class": p.class_()}),
    },
    "subject_flag_ceremony_slot": lambda p: p.slot(),
    "subject_group": lambda p: {"groupName": "others", "subjects": p.some(p.subjects)},
    "resource_capacity": lambda p: {
        "capacity": p.upto(2),
        **p.maybe(subjects=p.some(p.subjects), assignmentIds=p.some(p.ids), resource="the hall"),
    },
    "group_compactness": lambda p: {"assignmentIds": p.some(p.ids)},
    "room_capacity": lambda p: p.maybe(assignmentIds=p.some(p.ids)),
    "room_stability": lambda p: p.maybe(assignmentIds=p.some(p.ids)),
}


def with_constraint(given: Json, kind: str, params: Json, severity: str, weight: float) -> Json:
    """The input with one constraint, and the group that some kinds speak of."""
    group = {"groupName": "hard ones", "subjects": [SUBJECTS[0], SUBJECTS[1]]}
    subjects = {each["subject"] for each in given["assignments"]}
    group["subjects"] = [each for each in group["subjects"] if each in subjects]
    constraints = [
        {"id": "group", "kind": "subject_group", "severity": "info", "params": group},
        {"id": "c", "kind": kind, "severity": severity, "params": params, "weight": weight},
    ]
    return {**given, "constraints": constraints}
