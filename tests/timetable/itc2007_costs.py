"""The competition's costs, straight from its files, by the definition in its technical report.

Nothing here is shared with the package: it reads `.ctt` text and lines of a solution by itself.
Lectures, Conflicts, Availability and RoomOccupancy are counted in their own units; RoomCapacity costs 1
for each student without a seat, MinimumWorkingDays 5 for each day missing, CurriculumCompactness
2 for each lecture without neighbour, RoomStability 1 for each room beyond the first of a course.
"""

import itertools
from dataclasses import dataclass


@dataclass(frozen=True)
class Costs:
    lectures: int
    conflicts: int
    availability: int
    room_occupancy: int
    room_capacity: int
    minimum_working_days: int
    curriculum_compactness: int
    room_stability: int

    @property
    def violations(self) -> int:
        return self.lectures + self.conflicts + self.availability + self.room_occupancy

    @property
    def total(self) -> int:
        return (
            self.room_capacity
            + self.minimum_working_days
            + self.curriculum_compactness
            + self.room_stability
        )


def costs(ctt: str, lines: str) -> Costs:
    words = dict(_sections(ctt))
    days = int(words["Days"][0][0])
    courses = {row[0]: row for row in words["COURSES"]}
    seats = {row[0]: int(row[1]) for row in words["ROOMS"]}
    curricula = [row[2:] for row in words["CURRICULA"]]
    closed = {tuple(row) for row in words["UNAVAILABILITY_CONSTRAINTS"]}
    placed = [line.split() for line in lines.splitlines() if line.strip()]
    at: dict[tuple[str, str], list[str]] = {}
    for course, _, day, period in placed:
        at.setdefault((day, period), []).append(course)
    conflicting = {
        frozenset((a, b)) for each in curricula for a, b in itertools.combinations(each, 2)
    }
    for a, b in itertools.combinations(courses, 2):
        if courses[a][1] == courses[b][1]:
            conflicting.add(frozenset((a, b)))
    of = {id_: [row for row in placed if row[0] == id_] for id_ in courses}
    return Costs(
        lectures=sum(abs(int(row[2]) - len(of[id_])) for id_, row in courses.items()),
        conflicts=sum(
            frozenset(pair) in conflicting
            for here in at.values()
            for pair in itertools.combinations(here, 2)
        ),
        availability=sum((course, day, period) in closed for course, _, day, period in placed),
        room_occupancy=len(placed) - len({tuple(row[1:]) for row in placed}),
        room_capacity=sum(
            max(0, int(courses[course][4]) - seats[room]) for course, room, _, _ in placed
        ),
        minimum_working_days=5
        * sum(
            max(0, int(row[3]) - len({day for _, _, day, _ in of[id_]}))
            for id_, row in courses.items()
        ),
        curriculum_compactness=2
        * sum(_alone(set(each), placed, str(day)) for each in curricula for day in range(days)),
        room_stability=sum(max(0, len({row[1] for row in rows}) - 1) for rows in of.values()),
    )


def _alone(curriculum: set[str], placed: list[list[str]], day: str) -> int:
    periods = [int(row[3]) for row in placed if row[0] in curriculum and row[2] == day]
    return sum(each - 1 not in periods and each + 1 not in periods for each in periods)


def _sections(ctt: str) -> list[tuple[str, list[list[str]]]]:
    found: list[tuple[str, list[list[str]]]] = []
    for line in ctt.splitlines():
        head, colon, rest = line.partition(":")
        if colon:
            found.append((head.strip(), [rest.split()] if rest.strip() else []))
        elif line.strip() and line.strip() != "END.":
            found[-1][1].append(line.split())
    return found
