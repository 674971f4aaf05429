"""A schedule: lessons, by teacher, class and whatever else constraints name."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.timetable.instance import TimetableAssignment, TimetableInput
from proctor.timetable.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """An entry of a schedule whose assignment and slot exist."""

    assignment: TimetableAssignment
    day: int
    """Position in the input's `days`."""
    period: int
    """Period as the input names it."""
    at: int
    """Position among the periods of its day: neighbours in time differ by one."""
    room: str | None
    entry: Mapping[str, Any]
    """Entry of the result, in a form that can be shown."""

    @property
    def slot(self) -> tuple[int, int]:
        """Day and position in it, which sort by time."""
        return self.day, self.at

    @property
    def group(self) -> tuple[str, str]:
        """The class, as for the assignment."""
        return self.assignment.group


class Schedule:
    """Lessons by teacher, class, subject, assignment and slot, each list in the order of time."""

    def __init__(self, instance: TimetableInput, lessons: Iterable[Lesson]) -> None:
        self.instance = instance
        self.lessons: tuple[Lesson, ...] = tuple(sorted(lessons, key=lambda each: each.slot))
        self.teacher: dict[str, list[Lesson]] = defaultdict(list)
        self.class_: dict[str, list[Lesson]] = defaultdict(list)
        self.subject: dict[str, list[Lesson]] = defaultdict(list)
        self.assignment: dict[str, list[Lesson]] = defaultdict(list)
        self.slot: dict[tuple[int, int], list[Lesson]] = defaultdict(list)
        for lesson in self.lessons:
            about = lesson.assignment
            if about.teacher is not None:
                self.teacher[about.teacher].append(lesson)
            if about.class_ is not None:
                self.class_[about.class_].append(lesson)
            self.subject[about.subject].append(lesson)
            self.assignment[about.id].append(lesson)
            self.slot[lesson.slot].append(lesson)
        self.vocabulary = Vocabulary(instance)
        self.groups: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
        """Params of each `subject_group` by its name, whatever its severity."""
        for each in instance.constraints:
            group = each.params.get("groupName") if each.kind == "subject_group" else None
            if isinstance(group, str):
                self.groups[group].append(each.params)
        self.by_id = {each.id: each for each in instance.assignments}
        self.day_at = {day: i for i, day in enumerate(instance.days)}
        self.position = tuple(
            {period: i for i, period in enumerate(periods)} for periods in instance.periods_of
        )

    def of_teacher(self, teacher: str) -> Sequence[Lesson]:
        return self.teacher.get(teacher, ())

    def of_class(self, class_: str) -> Sequence[Lesson]:
        return self.class_.get(class_, ())

    def of_subject(self, subject: str, classes: Sequence[str] | None = None) -> list[Lesson]:
        """Return lessons of a subject, to these classes if they are given."""
        found = self.subject.get(subject, ())
        if classes is None:
            return list(found)
        wanted = set(classes)
        return [each for each in found if each.assignment.class_ in wanted]

    def of_assignment(self, assignment: str) -> Sequence[Lesson]:
        return self.assignment.get(assignment, ())

    def of_slot(self, day: str, period: int) -> Sequence[Lesson]:
        """Return the lessons in a slot; none if the day has no such period."""
        day_at = self.day_at[day]
        at = self.position[day_at].get(period)
        return () if at is None else self.slot.get((day_at, at), ())

    def where(self, day: int, period: int | None = None) -> str:
        """Return a day or a slot in words."""
        name = self.instance.days[day]
        return name if period is None else f"{name} period {period}"


def by_day(lessons: Iterable[Lesson]) -> dict[int, list[Lesson]]:
    """Return the lessons of each day that has some, days and lessons in the order of time."""
    found: dict[int, list[Lesson]] = {}
    for lesson in sorted(lessons, key=lambda each: each.slot):
        found.setdefault(lesson.day, []).append(lesson)
    return found


def by_group(lessons: Iterable[Lesson]) -> dict[tuple[str, str], list[Lesson]]:
    """Return the lessons of each class."""
    found: dict[tuple[str, str], list[Lesson]] = {}
    for lesson in lessons:
        found.setdefault(lesson.group, []).append(lesson)
    return found


def runs(lessons: Iterable[Lesson]) -> Iterator[list[Lesson]]:
    """Yield runs of one day's lessons, in order: a free period ends a run."""
    run: list[Lesson] = []
    for lesson in lessons:
        if run and lesson.at > run[-1].at + 1:
            yield run
            run = []
        run.append(lesson)
    if run:
        yield run


def length(run: Sequence[Lesson]) -> int:
    """Return the number of periods of a run: lessons at the same time count once."""
    return run[-1].at - run[0].at + 1


def free_between(lessons: Sequence[Lesson]) -> int:
    """Return the number of free periods between the first and the last of a day's lessons."""
    return length(lessons) - len({each.at for each in lessons})
