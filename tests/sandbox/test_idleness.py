"""Idle time and load told apart, whatever the scheduler does between two looks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.sandbox.idleness import Idleness, JobSnapshot
from proctor.sandbox.machine.procfs import Task, Tasks


def task(state: str, cpu: float, waited: float = 0.0) -> Task:
    return Task(state, round(cpu * 1e9), round(waited * 1e9))


def after(*looks: JobSnapshot, tasks: Tasks | None = None) -> Idleness:
    idleness = Idleness(tasks)
    for look in looks:
        idleness.add(look, at_rest=look.at_rest)
    return idleness


def test_what_a_living_task_waited_is_known() -> None:
    assert after(JobSnapshot(9.0, 2.0, {7: task("S", 2.0, 4.0)})).seconds == pytest.approx(3.0)


def test_a_wait_that_goes_on_is_no_idle_time() -> None:
    waiting = JobSnapshot(9.0, 2.0, {7: task("R", 2.0)})
    assert after(waiting).seconds == 0
    assert after(
        waiting, JobSnapshot(10.0, 2.1, {7: task("S", 2.1, 7.5)})
    ).seconds == pytest.approx(0.4)


def test_the_wait_of_a_thread_that_has_ended_is_no_idle_time() -> None:
    """The example that was judged TLE on a busy machine: start a thread, join it."""
    main = task("S", 0.1)
    looks = [JobSnapshot(wall, 0.1 + wall / 20, {7: main, 8: task("R", wall / 20)})
             for wall in (10.0, 50.0)]  # fmt: skip
    idleness = after(*looks)
    assert idleness.seconds == 0
    assert idleness.at_end(JobSnapshot(100.0, 5.1, {7: main})) == 0


def test_the_wait_of_a_thread_that_nobody_saw_is_no_idle_time() -> None:
    """It shows in the CPU time that no living task has used."""
    idleness = after(JobSnapshot(0.1, 0.1, {7: task("R", 0.1)}))
    assert idleness.at_end(JobSnapshot(50.0, 0.2001, {7: task("S", 0.2)})) == 0


def test_the_wait_of_a_child_that_has_ended_is_no_idle_time() -> None:
    parent = task("S", 0.1)
    looks = [JobSnapshot(wall, 0.1 + wall / 20, {7: parent, 100 + number: task("R", 0.01)})
             for number, wall in enumerate((1.0, 2.0, 3.0, 9.0))]  # fmt: skip
    assert after(*looks).seconds == 0


def test_who_sleeps_after_threads_have_ended_is_idle_from_then_on() -> None:
    busy = JobSnapshot(3.0, 0.5, {7: task("S", 0.1), 8: task("R", 0.3)})
    idleness = after(busy, JobSnapshot(3.2, 0.5, {7: task("S", 0.1)}))
    assert idleness.seconds == pytest.approx(0.2), "since the look before; what was then is unknown"
    idleness.add(JobSnapshot(9.2, 0.5, {7: task("S", 0.1)}), at_rest=True)
    assert idleness.seconds == pytest.approx(6.2)


def test_a_pause_between_two_looks_that_saw_it_work_is_found_when_it_rests() -> None:
    looks = [JobSnapshot(1.0, 0.5, {7: task("R", 0.5)}), JobSnapshot(2.0, 1.0, {7: task("R", 1.0)})]
    assert after(*looks).seconds == 0
    assert after(*looks, JobSnapshot(2.1, 1.0, {7: task("S", 1.0)})).seconds == pytest.approx(1.1)


def test_nothing_is_no_job_at_rest() -> None:
    """Before the first process has begun its agent may be waiting for a CPU."""
    assert not JobSnapshot(3.0, 0.0, {}).at_rest
    assert not JobSnapshot(3.0, 0.0, {7: task("D", 0.0)}).at_rest, "held up in the kernel"
    assert JobSnapshot(3.0, 0.0, {7: task("T", 0.0)}).at_rest, "stopped"


def test_the_past_of_a_serving_process_does_not_count() -> None:
    past = {7: task("S", 3.0, 8.0)}
    now = JobSnapshot(5.0, 1.0, {7: task("S", 4.0, 9.0)})
    assert after(now, tasks=past).seconds == pytest.approx(3.0)


def test_a_program_that_is_over_rests_for_that_reason() -> None:
    """Only a stretch since the last look can have been idle: the looks before saw it work."""
    looks = [JobSnapshot(1.0, 0.5, {7: task("R", 0.5)}), JobSnapshot(2.0, 1.0, {7: task("R", 1.0)})]
    assert after(*looks).at_end(JobSnapshot(3.0, 1.2, {7: task("S", 1.2)})) == pytest.approx(0.8)


@dataclass
class Worker:
    """One thread in a made-up machine."""

    work: int
    """Ticks of CPU that it wants."""
    then: Callable[[], None] = lambda: None
    """Called when it has had them, and ends."""
    lives_on: bool = False
    cpu: int = 0
    waited: int = 0
    waiting: int = 0
    """Not counted yet: the wait goes on."""
    done: bool = False


class Machine:
    """A job on a busy CPU; the scheduler gives it a tick now and then."""

    def __init__(self) -> None:
        self.workers: dict[int, Worker] = {}
        self.now = self.cpu = self.rested = 0

    def add(self, worker: Worker) -> None:
        self.workers[len(self.workers) + 1] = worker

    def wanting(self) -> list[Worker]:
        return [worker for worker in self.workers.values() if worker.work and not worker.done]

    def tick(self, granted: bool) -> None:
        self.now += 1
        wanting = self.wanting()
        self.rested += not wanting
        for number, worker in enumerate(wanting):
            if number or not granted:
                worker.waiting += 1
                continue
            worker.waited, worker.waiting = worker.waited + worker.waiting, 0
            worker.cpu, worker.work, self.cpu = worker.cpu + 1, worker.work - 1, self.cpu + 1
            if not worker.work:
                worker.done = not worker.lives_on
                worker.then()

    def look(self) -> JobSnapshot:
        alive = {name: worker for name, worker in self.workers.items() if not worker.done}
        tasks = {name: task("R" if worker.work else "S", worker.cpu, worker.waited)
                 for name, worker in alive.items()}  # fmt: skip
        return JobSnapshot(self.now, self.cpu, tasks)


schedules = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=200)
"""For each tick: whether the job gets the CPU, and whether it is looked at afterwards."""


def charged(machine: Machine, schedule: list[tuple[bool, bool]]) -> Iterator[float]:
    """Run it; yield the idle time charged at each look."""
    idleness = Idleness()
    for granted, seen in schedule:
        machine.tick(granted)
        if seen:
            look = machine.look()
            idleness.add(look, at_rest=look.at_rest)
            yield idleness.seconds


@given(schedules, st.lists(st.integers(1, 5), min_size=1, max_size=20), st.booleans())
def test_a_job_of_which_one_always_works_is_never_idle(
    schedule: list[tuple[bool, bool]], works: list[int], wide: bool
) -> None:
    """Main waits for thread after thread, or for two at once, at any load, looked at anyhow."""
    machine, turns = Machine(), iter(works * 200)

    def follow() -> None:
        for _ in range(1 + (wide and len(machine.wanting()) < 2)):
            machine.add(Worker(next(turns), follow))

    machine.add(Worker(1, follow, lives_on=True))
    assert all(seconds == 0 for seconds in charged(machine, schedule))


@given(schedules, st.lists(st.tuples(st.integers(1, 5), st.integers(0, 9)), max_size=20))
def test_of_one_thread_all_idle_time_is_known_when_it_rests(
    schedule: list[tuple[bool, bool]], pauses: list[tuple[int, int]]
) -> None:
    """It computes and sleeps in turns; whenever it is seen asleep the sum is exact."""
    machine = Machine()
    main = Worker(1, lives_on=True)
    machine.add(main)
    idleness, wakes, due = Idleness(), iter(pauses), 0
    for granted, seen in schedule:
        if not main.work and machine.now >= due:
            main.work, pause = next(wakes, (0, 0))
            due = machine.now + pause
        machine.tick(granted)
        look = machine.look()
        if seen:
            idleness.add(look, at_rest=look.at_rest)
            assert idleness.seconds <= machine.rested
            if look.at_rest:
                assert idleness.seconds == pytest.approx(machine.rested)


@given(schedules, st.integers(1, 20))
def test_who_starts_threads_and_then_sleeps_is_charged_for_the_sleep(
    schedule: list[tuple[bool, bool]], threads: int
) -> None:
    """What may be charged beside it is a stretch between two looks, once."""
    machine, left = Machine(), iter(range(threads))

    def follow() -> None:
        if next(left, None) is not None:
            machine.add(Worker(1, follow))

    machine.add(Worker(1, follow, lives_on=True))
    schedule = [*schedule, *[(True, False)] * (threads + 1), *[(True, True)] * 50]
    gaps, last = [0], 0
    for number, (_, seen) in enumerate(schedule, 1):
        if seen:
            gaps.append(number - last)
            last = number
    seconds = [0.0, *charged(machine, schedule)][-1]
    assert 49 <= seconds <= machine.rested + max(gaps)


def test_what_was_there_before_is_not_taken_for_what_has_ended() -> None:
    """Process 1 of a job has used CPU time before its first test."""
    first, main = task("S", 30e-6), task("S", 0.1)
    known = after(tasks={1: first, 7: main})
    slept = JobSnapshot(9.0, 0.001, {1: first, 7: task("S", 0.101)})
    assert known.at_end(slept) == pytest.approx(9.0 - 0.001)
    assert after(tasks={7: main}).at_end(slept) == 0


def test_a_late_look_does_not_charge_waits_that_nobody_knows() -> None:
    """Threads have come and gone, on a busy machine, before it rests."""
    main = task("S", 0.1)
    idleness = after(JobSnapshot(1.0, 0.15, {7: main, 8: task("R", 0.05)}))
    idleness.add(JobSnapshot(3.0, 0.3, {7: main}), at_rest=True, at_most=0.03)
    assert idleness.seconds == pytest.approx(0.03)
    idleness.add(JobSnapshot(4.0, 0.3, {7: main}), at_rest=True, at_most=0.03)
    assert idleness.seconds == pytest.approx(1.03)  # from then on all is known


def test_a_look_that_is_late_to_see_it_wake_hides_no_idle_time() -> None:
    """It rested when its tasks were read, and had run when they were read again."""
    idleness = after(tasks={7: task("S", 0.1)})
    idleness.add(JobSnapshot(8.0, 0.1, {7: task("S", 0.2)}), at_rest=False)
    assert idleness.seconds == 0
    assert idleness.at_end(JobSnapshot(9.0, 0.2, {7: task("S", 0.3)})) == pytest.approx(8.8)


def test_before_a_look_that_saw_it_held_up_nothing_is_idle_at_the_end() -> None:
    """A wait for a disk, which nothing adds up."""
    idleness = after(tasks={7: task("S", 0.1)})
    idleness.add(JobSnapshot(8.0, 0.1, {7: task("D", 0.2)}), at_rest=False)
    assert idleness.at_end(JobSnapshot(9.0, 0.2, {7: task("S", 0.3)})) == pytest.approx(0.9)
