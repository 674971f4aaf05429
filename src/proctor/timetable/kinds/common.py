"""Checks that kinds of several families share: one breach per lesson, day or run."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from proctor.timetable.checking import Breach
from proctor.timetable.schedule import (
    Lesson,
    Schedule,
    by_day,
    free_between,
    length,
    runs,
)
from proctor.timetable.vocabulary import CannotCheck


def each_lesson(
    schedule: Schedule, lessons: Iterable[Lesson], wrong: Callable[[Lesson], bool], why: str
) -> Iterator[Breach]:
    """Yield one unit for each lesson that stands where it must not."""
    for lesson in lessons:
        if wrong(lesson):
            where = schedule.where(lesson.day, lesson.period)
            yield Breach(f"{title(lesson)} on {where}: {why}", (lesson,))


def over_per_day(
    schedule: Schedule, lessons: Iterable[Lesson], most: int, who: str
) -> Iterator[Breach]:
    """Yield a breach per day with over `most` lessons, of one unit for each one over."""
    for day, found in by_day(lessons).items():
        if len(found) > most:
            where = schedule.where(day)
            yield Breach(
                f"{who} has {count(len(found), 'lesson')} on {where}, at most {most} are allowed",
                found,
                len(found) - most,
            )


def over_in_run(
    schedule: Schedule, lessons: Iterable[Lesson], most: int, who: str
) -> Iterator[Breach]:
    """Yield a breach per run of over `most` periods, of one unit for each one over."""
    for day, found in by_day(lessons).items():
        for run in runs(found):
            if length(run) > most:
                where = f"{schedule.where(day, run[0].period)} on"
                yield Breach(
                    f"{who} has {count(length(run), 'period')} in a row from {where}, "
                    f"at most {most} are allowed",
                    run,
                    length(run) - most,
                )


def gaps(schedule: Schedule, lessons: Iterable[Lesson], most: int, who: str) -> Iterator[Breach]:
    """Yield a breach per day with over `most` free periods in between, one unit for each over."""
    for day, found in by_day(lessons).items():
        free = free_between(found)
        if free > most:
            where = schedule.where(day)
            allowed = "none is allowed" if most == 0 else f"at most {most} are allowed"
            yield Breach(
                f"{who} has {count(free, 'free period')} between lessons on {where}, {allowed}",
                found,
                free - most,
            )


def distinct_per_day(
    schedule: Schedule,
    lessons: Iterable[Lesson],
    of: Callable[[Lesson], object],
    most: int,
    who: str,
    what: str,
) -> Iterator[Breach]:
    """Yield a breach per day with over `most` different things, of one unit for each one over."""
    for day, found in by_day(lessons).items():
        different = {of(each) for each in found}
        if len(different) > most:
            where = schedule.where(day)
            yield Breach(
                f"{who} has {len(different)} different {what} on {where}, "
                f"at most {most} are allowed",
                found,
                len(different) - most,
            )


def sessions(schedule: Schedule, session: str | Sequence[int] | None) -> tuple[frozenset[int], ...]:
    """Return the positions of a session's periods in each day; all if it is None.

    Raises CannotCheck for a name that is neither the input's nor `morning` or `afternoon`.
    """
    instance = schedule.instance
    if session is None:
        return tuple(frozenset(range(len(each))) for each in instance.periods_of)
    if isinstance(session, str):
        periods = instance.sessions.get(session)
        if periods is None:
            return tuple(_half(session, len(each)) for each in instance.periods_of)
    else:
        periods = tuple(session)
        for period in periods:
            if period not in schedule.vocabulary.names["period"]:
                raise CannotCheck(f"`session` names {period}, and the input has no such period")
    wanted = set(periods)
    return tuple(
        frozenset(at for at, period in enumerate(each) if period in wanted)
        for each in instance.periods_of
    )


def _half(session: str, periods: int) -> frozenset[int]:
    middle = (periods + 1) // 2
    if session == "morning":
        return frozenset(range(middle))
    if session == "afternoon":
        return frozenset(range(middle, periods))
    raise CannotCheck(f"`session` names {session!r}, and the input has no such session")


def count(number: int, what: str) -> str:
    """Return a number of things in words."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def title(lesson: Lesson) -> str:
    """Return a lesson in words, without its slot."""
    about = lesson.assignment
    whose = f" of {about.class_}" if about.class_ is not None else ""
    return f"{about.subject}{whose} ({about.id})"


def group_name(group: tuple[str, str]) -> str:
    """Return a class, or an assignment without one, in words."""
    return f"{group[0]} {group[1]}"


def listed(names: Sequence[str]) -> str:
    """Return the first few of many names."""
    few = ", ".join(names[:6])
    return few if len(names) <= 6 else f"{few} and {len(names) - 6} more"
