"""Places are given to owners in turn, and whoever gives up loses nobody else's."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import Busy
from proctor.service.admission import Admission, RequestContext
from waiting import settled


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


async def queue_up(admission: Admission, owners: str, order: list[str]) -> list[asyncio.Task[None]]:
    async def one(owner: str) -> None:
        async with admission.place(RequestContext(owner, unlimited=True)):
            order.append(owner)

    tasks = [asyncio.ensure_future(one(owner)) for owner in owners]
    await settled()
    return tasks


def test_owners_take_turns_whoever_came_first() -> None:
    async def work() -> list[str]:
        admission, order = Admission(1, 100), list[str]()
        await admission.enter("x")
        tasks = await queue_up(admission, "aaaaabcb", order)
        assert (admission.waiting, admission.running) == (8, 1)
        admission.leave()
        await asyncio.gather(*tasks)
        assert (admission.waiting, admission.running) == (0, 0)
        return order

    assert "".join(run(work())) == "abcabaaa"


def test_too_much_is_refused_but_to_the_patient() -> None:
    async def work() -> None:
        admission = Admission(1, 2)
        await admission.enter("a")
        tasks = await queue_up(admission, "aa", [])
        with pytest.raises(Busy) as caught:
            await admission.enter("a")
        assert caught.value.retry_after >= 1
        other = asyncio.ensure_future(admission.enter("b"))  # another's line is his own
        patient = asyncio.ensure_future(admission.enter("a", unlimited=True))
        await settled()
        assert not other.done()
        admission.leave()
        for _ in range(3):
            await settled()
        assert other.done()
        admission.leave()
        await asyncio.gather(*tasks, patient)

    run(work())


def test_a_place_given_to_one_who_has_just_given_up_goes_to_the_next() -> None:
    async def work() -> None:
        admission, order = Admission(1, 10), list[str]()
        await admission.enter("x")
        first, second = await queue_up(admission, "ab", order)
        first.cancel()  # it has not noticed when the place is given
        admission.leave()
        await asyncio.gather(first, second, return_exceptions=True)
        assert order == ["b"]
        assert (admission.waiting, admission.running) == (0, 0)

    run(work())


def test_who_gives_up_with_a_place_in_hand_gives_it_back() -> None:
    async def work() -> None:
        admission, order = Admission(1, 10), list[str]()
        await admission.enter("x")
        first, second = await queue_up(admission, "ab", order)
        admission.leave()  # it is first's now
        first.cancel()
        await asyncio.gather(first, second, return_exceptions=True)
        assert order == ["b"]
        assert (admission.waiting, admission.running) == (0, 0)

    run(work())


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["stay", "cancel", "leave"]))))
def test_no_place_is_ever_lost_or_made(steps: list[tuple[str, str]]) -> None:
    async def work() -> None:
        admission = Admission(2, 1000)
        inside = 0
        most = 0

        async def one(owner: str, stay: asyncio.Event) -> None:
            nonlocal inside, most
            async with admission.place(RequestContext(owner)):
                inside += 1
                most = max(most, inside)
                try:
                    await stay.wait()
                finally:
                    inside -= 1

        jobs: list[tuple[asyncio.Task[None], asyncio.Event]] = []
        for at, (owner, step) in enumerate(steps):
            stay = asyncio.Event()
            jobs.append((asyncio.ensure_future(one(owner, stay)), stay))
            if at % 3:
                await settled()
            if step == "cancel":
                jobs[at // 2][0].cancel()
            elif step == "leave":
                jobs[at // 2][1].set()
        for _, stay in jobs:
            stay.set()
        await asyncio.gather(*(task for task, _ in jobs), return_exceptions=True)
        assert most <= 2
        assert (admission.waiting, admission.running, inside) == (0, 0, 0)

    run(work())


@pytest.mark.slow
def test_a_crowd_that_gives_up_at_once_costs_little(ends: None) -> None:
    async def work() -> None:
        admission = Admission(1, 100_000)
        await admission.enter("x")
        tasks = await queue_up(admission, "a" * 45_000, [])
        assert admission.waiting == 45_000
        for task in reversed(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert admission.waiting == 0

    run(work())
