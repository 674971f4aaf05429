"""Timetables of made-up schools, large and typical: 35 periods a week, a dozen subjects.

Every class has 33 lessons without a free period between two, teachers 14 to 22, some a day off;
labs and gyms are few. Wishes are the usual ones: teachers' free periods and days, double lessons,
hard subjects early and not all on one day.
"""

import random
from typing import Any

DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri"]
PERIODS = [1, 2, 3, 4, 5, 6, 7]
WEEKLY = {
    "Mathematics": 5, "Language": 5, "English": 4, "Science": 4, "History": 3, "Geography": 2,
    "Sport": 3, "Music": 2, "Art": 2, "Computing": 1, "Ethics": 1, "Homeroom": 1,
}  # fmt: skip
"""Lessons of each subject a week."""
FULL = 20
"""Lessons a week of a teacher, about: one gives a few classes more than that, another less."""
PLACES = {"Sport": ("gym", 0.13), "Computing": ("lab", 0.06), "Science": ("science room", 0.16)}
"""Subjects that need a place, and how many there are for each class."""
Json = dict[str, Any]


def school(classes: int, seed: int = 1) -> Json:
    """Return an input for `proctor solve`: so many classes, about 12.5 assignments for each."""
    rng = random.Random(f"school {classes} {seed}")
    names = [f"{5 + number // 6}{'ABCDEF'[number % 6]}" for number in range(classes)]
    assignments, loads = _assignments(rng, names)
    asked = _of_school(classes, names) + _of_teachers(rng, loads)
    return {
        "classes": names,
        "days": DAYS,
        "periods": PERIODS,
        "assignments": assignments,
        "constraints": [
            {"id": f"c{number}", "kind": kind, "severity": "soft" if weight else "hard",
             "params": params, "weight": weight or 1}
            for number, (kind, weight, params) in enumerate(asked)
        ],
    }  # fmt: skip


def _assignments(rng: random.Random, names: list[str]) -> tuple[list[Json], dict[str, int]]:
    """Return the assignments, and each teacher's lessons a week."""
    found: list[Json] = []
    loads: dict[str, int] = {}
    for subject, weekly in WEEKLY.items():
        teacher, load, full = "", FULL, FULL
        for class_ in rng.sample(names, len(names)):
            if load + weekly > full:
                teacher, load = f"{subject} {len(loads)}", 0
                full = FULL + rng.choice((-6, -2, 0, 2))
            load += weekly
            loads[teacher] = load
            found.append(
                {"id": f"a{len(found)}", "class": class_, "subject": subject, "teacher": teacher,
                 "weeklyPeriods": weekly}
            )  # fmt: skip
    return found, loads


def _of_school(classes: int, names: list[str]) -> list[tuple[str, int, Json]]:
    """Return kind, weight (0 if it must hold) and params of what is asked of all classes."""
    asked: list[tuple[str, int, Json]] = [
        ("resource_capacity", 0, {"capacity": 2 + round(share * classes), "subjects": [subject],
                                  "resource": place})
        for subject, (place, share) in PLACES.items()
    ]  # fmt: skip
    asked += [
        ("subject_daily_max_periods", 0, {"subject": subject, "maxPerDay": 2 if weekly > 3 else 1})
        for subject, weekly in WEEKLY.items()
        if weekly > 2
    ]
    asked += [
        ("subject_consecutive", 3, {"subject": "Science"}),
        ("subject_consecutive", 3, {"subject": "Art"}),
        ("subject_not_last_period", 2, {"subject": "Mathematics"}),
        ("subject_preferred_periods", 1, {"subject": "Language", "periods": [1, 2, 3, 4, 5]}),
        ("subject_min_gap_days", 2, {"subject": "Music", "minGapDays": 2}),
        ("subject_pin_period", 1, {"subject": "Homeroom", "periods": [1]}),
    ]
    for class_ in names:
        heavy = ["Mathematics", "Language", "Science", "English"]
        asked.append(("class_no_gaps", 0, {"class": class_}))
        asked.append(("class_first_period_required", 0, {"class": class_}))
        asked.append(
            ("class_max_heavy_subjects_per_day", 2,
             {"class": class_, "subjects": heavy, "maxHeavy": 3})
        )  # fmt: skip
    return asked


def _of_teachers(rng: random.Random, loads: dict[str, int]) -> list[tuple[str, int, Json]]:
    asked: list[tuple[str, int, Json]] = []
    for teacher, load in loads.items():
        who = {"teacher": teacher}
        asked.append(("teacher_max_per_day", 0, {**who, "maxPerDay": 6}))
        asked.append(("teacher_max_gaps", 2, {**who, "maxGaps": 1}))
        asked.append(("teacher_max_consecutive", 1, {**who, "maxConsecutive": 4}))
        asked.append(("teacher_min_per_day", 1, {**who, "minPerDay": 2}))
        if load <= 16 and rng.random() < 0.5:
            asked.append(("teacher_block_day", 0, {**who, "day": rng.choice(DAYS)}))
        elif rng.random() < 0.5:
            asked.append(("teacher_max_working_days", 4, {**who, "maxDays": 4}))
        for _ in range(rng.randrange(3)):
            slot = {"day": rng.choice(DAYS), "period": rng.choice(PERIODS)}
            asked.append(("teacher_block_slot", rng.choice((0, 2)), {**who, **slot}))
    return asked
