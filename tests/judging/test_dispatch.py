"""The queue over sites that may be lost: each judgement is answered once, whatever happens."""

import random
from concurrent.futures import Future

import pytest

from proctor.errors import InputError, NoLanguage, PoolClosed
from proctor.judgement import Judgement
from proctor.judging.dispatch import LATE, TRIES, Dispatcher, PendingJudgement, Site
from proctor.judging.remote import PackedProblem
from proctor.verdict import Verdict

RIGHT = Judgement(Verdict.AC, 1.0, ())
PROBLEM = PackedProblem("digest", b"")


class Clock:
    """A clock that stands still until it is set."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def begun(
    *names: str, cells: int = 1, room: int = 4, clock: Clock | None = None
) -> tuple[Dispatcher, list[Site]]:
    dispatcher = Dispatcher(clock or Clock())
    sites = [Site(name, cells, room) for name in names]
    dispatcher.sites.update(sites)
    return dispatcher, sites


def added(dispatcher: Dispatcher, count: int, first: int = 0) -> list[Future[Judgement]]:
    futures: list[Future[Judgement]] = [Future() for _ in range(count)]
    for number, future in enumerate(futures, first):
        dispatcher.add(PendingJudgement(number, PROBLEM, b"", future))
    return futures


def ids(tasks: list[PendingJudgement]) -> list[int]:
    return [task.id for task in tasks]


def test_a_site_gets_what_it_has_room_for_in_order() -> None:
    dispatcher, (a, b) = begun("a", "b")
    added(dispatcher, 40)
    assert ids(dispatcher.take(a)) == [0, 1, 2, 3]
    assert ids(dispatcher.take(a)) == []
    assert ids(dispatcher.take(b)) == [4, 5, 6, 7]
    dispatcher.answered(a, 1, RIGHT)
    assert ids(dispatcher.take(a)) == [8]
    assert (dispatcher.waiting, dispatcher.under_way) == (31, 8)


def test_as_the_queue_runs_out_sites_share_it() -> None:
    dispatcher, (a, b) = begun("a", "b", room=100)
    added(dispatcher, 12)
    assert len(dispatcher.take(a)) == 3
    assert len(dispatcher.take(b)) == 2  # for the cell, and one that waits
    dispatcher.answered(b, 3, RIGHT)
    assert len(dispatcher.take(b)) == 1


def test_what_is_cancelled_before_it_is_taken_is_not_judged() -> None:
    dispatcher, (a,) = begun("a")
    futures = added(dispatcher, 3)
    assert futures[1].cancel()
    assert ids(dispatcher.take(a)) == [0, 2]
    assert not futures[0].cancel()


def test_what_was_under_way_where_a_site_is_lost_is_given_out_again_first() -> None:
    dispatcher, (a, b) = begun("a", "b")
    futures = added(dispatcher, 6)
    assert ids(dispatcher.take(a)) == [0, 1]
    dispatcher.answered(a, 0, RIGHT)
    dispatcher.lost(a, "gone")
    assert ids(dispatcher.take(b)) == [1, 2]
    dispatcher.answered(a, 1, Judgement(Verdict.WA, 0.0, ()))  # late, from a site that was lost
    assert not futures[1].done()
    dispatcher.answered(b, 1, RIGHT)
    dispatcher.answered(b, 1, Judgement(Verdict.WA, 0.0, ()))  # a second answer
    assert futures[1].result(0).verdict is Verdict.AC
    assert dispatcher.again == 1


def test_what_kills_every_site_is_found_out_and_costs_no_other_judgement() -> None:
    dispatcher, sites = begun(*(f"site {n}" for n in range(9)))
    futures = added(dispatcher, 8)
    lost = 0
    while not all(future.done() for future in futures):
        site = sites.pop()
        while tasks := dispatcher.take(site):
            if 5 in ids(tasks):
                dispatcher.lost(site, "it died")
                lost += 1
                break
            for task in tasks:
                dispatcher.answered(site, task.id, RIGHT)
    assert lost == TRIES
    assert [future.result(0).verdict for future in futures].count(Verdict.AC) == 7
    fault = futures[5].result(0)
    assert fault.verdict is Verdict.INFRA_FAULT
    assert "3 machines were lost" in fault.message
    assert "it died" in fault.message


def test_what_was_lost_together_is_not_given_out_together() -> None:
    dispatcher, (a, *others) = begun("a", "b", "c", "d", "e", cells=8, room=8)
    added(dispatcher, 60)
    lost = ids(dispatcher.take(a))
    assert len(lost) == 8
    dispatcher.lost(a, "gone")
    for site in others:
        dispatcher.take(site)
    assert [sum(each in lost for each in site.tasks) for site in others] == [3, 2, 1, 1]
    assert [len(site.tasks) for site in others] == [8, 8, 8, 8]
    assert dispatcher.again == 8


def test_a_suspect_is_alone_on_its_site() -> None:
    dispatcher, (a, b, c) = begun("a", "b", "c")
    added(dispatcher, 9)
    assert ids(dispatcher.take(a)) == [0, 1]
    dispatcher.lost(a, "gone")
    assert ids(dispatcher.take(b)) == [0, 2]
    assert ids(dispatcher.take(c)) == [1, 3]
    dispatcher.lost(b, "gone")  # 0 is a suspect now
    assert dispatcher.take(c) == []  # it is to be empty first
    dispatcher.answered(c, 1, RIGHT)
    assert dispatcher.take(c) == []
    dispatcher.answered(c, 3, RIGHT)
    assert ids(dispatcher.take(c)) == [0]
    assert dispatcher.take(c) == []
    dispatcher.answered(c, 0, RIGHT)
    assert ids(dispatcher.take(c)) == [2, 4, 5]


def with_suspects(count: int, sites: int) -> tuple[Dispatcher, list[Site]]:
    dispatcher, made = begun(*(str(n) for n in range(2 * count + sites)), room=1)
    added(dispatcher, count)
    for doomed in (made[:count], made[count : 2 * count]):
        assert [ids(dispatcher.take(site)) for site in doomed] == [[n] for n in range(count)]
        for site in reversed(doomed):
            dispatcher.lost(site, "gone")
    return dispatcher, made[2 * count :]


def test_a_quarter_of_the_sites_is_kept_for_suspects_while_others_wait() -> None:
    dispatcher, sites = with_suspects(3, sites=8)
    added(dispatcher, 6, first=10)
    taken = [ids(dispatcher.take(site)) for site in sites]
    assert taken == [[0], [1], [10], [11], [12], [13], [14], [15]]
    dispatcher.answered(sites[1], 1, RIGHT)
    assert ids(dispatcher.take(sites[1])) == [2]


def test_all_sites_are_for_suspects_when_nothing_else_waits() -> None:
    dispatcher, sites = with_suspects(3, sites=4)
    assert [ids(dispatcher.take(site)) for site in sites] == [[0], [1], [2], []]


def test_a_site_that_does_not_become_empty_is_not_all_that_suspects_wait_for() -> None:
    clock = Clock()
    dispatcher, (a, b, c, d) = begun("a", "b", "c", "d", room=1, clock=clock)
    added(dispatcher, 9)
    for site in (a, b, c, d):
        dispatcher.take(site)
    dispatcher.answered(b, 1, RIGHT)
    dispatcher.lost(a, "gone")
    assert ids(dispatcher.take(b)) == [0]
    dispatcher.lost(b, "gone")
    assert dispatcher.take(c) == []  # 0 is for it when it has done 2
    dispatcher.answered(d, 3, RIGHT)
    assert ids(dispatcher.take(d)) == [4]
    clock.now = 61
    dispatcher.answered(d, 4, RIGHT)
    assert ids(dispatcher.take(d)) == [0]


def test_when_nothing_waits_what_is_late_is_judged_elsewhere_too() -> None:
    clock = Clock()
    dispatcher, (slow, b, c) = begun("slow", "b", "c", cells=2, clock=clock)
    first, second, third = added(dispatcher, 3)
    assert ids(dispatcher.take(slow)) == [0, 1, 2]
    clock.now = LATE - 1
    assert dispatcher.take(b) == []
    clock.now = LATE
    assert dispatcher.take(slow) == []  # it has them already
    assert ids(dispatcher.take(b)) == [0]
    assert ids(dispatcher.take(b)) == [1]
    assert dispatcher.take(b) == []  # no cell is free
    dispatcher.answered(b, 0, RIGHT)
    dispatcher.answered(slow, 0, Judgement(Verdict.WA, 0.0, ()))
    dispatcher.answered(slow, 1, RIGHT)
    dispatcher.answered(b, 1, Judgement(Verdict.WA, 0.0, ()))
    assert first.result(0) is second.result(0) is RIGHT
    assert ids(dispatcher.take(c)) == [2]
    dispatcher.lost(slow, "gone")
    assert dispatcher.again == 0  # c has it
    dispatcher.answered(c, 2, RIGHT)
    assert third.result(0) is RIGHT
    assert (dispatcher.waiting, dispatcher.under_way) == (0, 0)


def test_a_third_site_has_what_is_late_alone_and_no_fourth_has_it() -> None:
    clock = Clock()
    dispatcher, (a, b, c, d, e) = begun("a", "b", "c", "d", "e", cells=2, clock=clock)
    (future,) = added(dispatcher, 1)
    dispatcher.take(a)
    clock.now = LATE
    assert ids(dispatcher.take(b)) == [0]
    clock.now = 2 * LATE - 1
    added(dispatcher, 1, first=1)
    assert ids(dispatcher.take(c)) == [1]
    clock.now = 2 * LATE
    assert ids(dispatcher.take(c)) == []  # it has another
    assert ids(dispatcher.take(d)) == [0]
    clock.now = 3 * LATE
    assert dispatcher.take(d) == []  # it is alone there
    assert ids(dispatcher.take(e)) == [1]
    for site in (a, b):
        dispatcher.lost(site, "gone")
    assert not future.done()
    dispatcher.lost(d, "gone")
    assert future.result(0).verdict is Verdict.INFRA_FAULT


def test_a_site_that_stalls_gets_nothing_more() -> None:
    clock = Clock()
    dispatcher, (stalled, b) = begun("stalled", "b", clock=clock)
    futures = added(dispatcher, 2)
    dispatcher.take(stalled)
    clock.now = LATE
    for each in (0, 1):
        assert ids(dispatcher.take(b)) == [each]
        dispatcher.answered(b, each, RIGHT)
    assert all(future.done() for future in futures)
    added(dispatcher, 1, first=2)
    assert dispatcher.take(stalled) == []
    assert ids(dispatcher.take(b)) == [2]
    dispatcher.fail_all(PoolClosed("closed"))
    dispatcher.lost(stalled, "gone")
    assert (dispatcher.waiting, dispatcher.under_way) == (0, 0)


def test_what_a_site_returns_is_given_out_again_before_all_others() -> None:
    dispatcher, (a, b) = begun("a", "b")
    added(dispatcher, 6)
    assert ids(dispatcher.take(a, 1)) == [0]
    assert ids(dispatcher.take(a)) == [1]
    dispatcher.returned(a, 0)
    dispatcher.returned(a, 0)
    assert ids(dispatcher.take(b)) == [0, 2]
    assert dispatcher.again == 0


def test_sites_that_were_to_go_make_no_suspects() -> None:
    dispatcher, sites = begun(*(f"spot {n}" for n in range(6)))
    (future,) = added(dispatcher, 1)
    for site in sites[:5]:
        assert ids(dispatcher.take(site)) == [0]
        dispatcher.lost(site, "preempted", blameless=True)
    assert ids(dispatcher.take(sites[5])) == [0]
    dispatcher.answered(sites[5], 0, RIGHT)
    assert future.result(0) is RIGHT


def test_a_language_that_one_site_lacks_is_asked_of_another() -> None:
    dispatcher, (a, b) = begun("a", "b")
    futures = added(dispatcher, 2)
    taken = dispatcher.take(a)
    dispatcher.answered(a, 0, NoLanguage("no rust here"))
    dispatcher.answered(a, 1, NoLanguage("no rust here"))
    assert dispatcher.take(a) == []
    assert sorted(ids(dispatcher.take(b))) == ids(taken)
    dispatcher.answered(b, 0, RIGHT)
    dispatcher.answered(b, 1, NoLanguage("nor here"))
    assert futures[0].result(0) is RIGHT
    with pytest.raises(NoLanguage, match="nor here"):
        futures[1].result(0)


def test_errors_are_handed_over_and_closing_answers_all() -> None:
    dispatcher, (a,) = begun("a")
    futures = added(dispatcher, 7)
    dispatcher.take(a)
    dispatcher.answered(a, 0, InputError("cannot be used"))
    assert futures[6].cancel()
    dispatcher.fail_all(PoolClosed("closed"))
    with pytest.raises(InputError):
        futures[0].result(0)
    for future in futures[1:6]:
        with pytest.raises(PoolClosed):
            future.result(0)
    assert (dispatcher.waiting, dispatcher.under_way) == (0, 0)


@pytest.mark.parametrize("seed", range(20))
def test_each_is_answered_once_whatever_happens(seed: int) -> None:
    chance, clock = random.Random(seed), Clock()
    dispatcher, sites = begun("0", "1", "2", cells=2, room=8, clock=clock)
    futures = added(dispatcher, 300)
    deadly = set(chance.sample(range(300), 2))
    named = 3
    while not all(future.done() for future in futures):
        site = chance.choice(sites)
        clock.now += chance.choice((0, 0, LATE))
        dispatcher.take(site)
        under_way = list(site.tasks)
        if deadly & set(under_way) or chance.random() < 0.02:
            blameless = not deadly & set(under_way)
            dispatcher.lost(site, "gone", blameless=blameless)
            sites[sites.index(site)] = new = Site(str(named), 2, 8)
            dispatcher.sites.add(new)
            named += 1
        else:
            for each in chance.sample(under_way, k=chance.randint(0, len(under_way))):
                dispatcher.answered(site, each, RIGHT)
    verdicts = [future.result(0).verdict for future in futures]
    assert {n for n, verdict in enumerate(verdicts) if verdict is not Verdict.AC} == deadly
