"""The queue over sites that may be lost: each judgement is answered once, whatever happens."""

import random
from concurrent.futures import Future

import pytest

from proctor.errors import InputError, NoLanguage, PoolClosed
from proctor.judgement import Judgement
from proctor.judging.dispatch import TRIES, Dispatcher, PendingJudgement, Site
from proctor.judging.remote import PackedProblem
from proctor.verdict import Verdict

RIGHT = Judgement(Verdict.AC, 1.0, ())
PROBLEM = PackedProblem("digest", b"")


def begun(*names: str, cells: int = 1, room: int = 4) -> tuple[Dispatcher, list[Site]]:
    dispatcher = Dispatcher()
    sites = [Site(name, cells, room) for name in names]
    dispatcher.sites.update(sites)
    return dispatcher, sites


def added(dispatcher: Dispatcher, count: int) -> list[Future[Judgement]]:
    futures: list[Future[Judgement]] = [Future() for _ in range(count)]
    for number, future in enumerate(futures):
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


def test_a_suspect_is_alone_on_its_site() -> None:
    dispatcher, (a, b, c) = begun("a", "b", "c")
    added(dispatcher, 9)
    assert ids(dispatcher.take(a)) == [0, 1]
    dispatcher.lost(a, "gone")
    assert ids(dispatcher.take(b)) == [0, 1]
    assert ids(dispatcher.take(c)) == [2, 3]
    dispatcher.lost(b, "gone")  # 0 and 1 are suspects now
    assert dispatcher.take(c) == []  # it is to be empty first
    dispatcher.answered(c, 2, RIGHT)
    dispatcher.answered(c, 3, RIGHT)
    assert ids(dispatcher.take(c)) == [0]
    assert dispatcher.take(c) == []
    dispatcher.answered(c, 0, RIGHT)
    assert ids(dispatcher.take(c)) == [1]
    dispatcher.answered(c, 1, RIGHT)
    assert ids(dispatcher.take(c)) == [4, 5]


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
    chance = random.Random(seed)
    dispatcher, sites = begun("0", "1", "2", cells=2, room=8)
    futures = added(dispatcher, 300)
    deadly = set(chance.sample(range(300), 2))
    named = 3
    while not all(future.done() for future in futures):
        site = chance.choice(sites)
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
