"""Jobs that are kept: how many bytes, which keys, and those that never began."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from proctor.errors import Busy, InfraFault, InputError, PoolClosed
from proctor.judging.settings import JudgeSettings
from proctor.languages.run import RunRequest
from proctor.limits import MIB, Limits
from proctor.problem import Problem, Subtask, Test
from proctor.program import Program
from proctor.service import jobs as kept
from proctor.service.engine import open_engine
from proctor.service.jobs import AskedFor, Job, Jobs, size_of
from proctor.service.live import PIECE_OVERHEAD


def ended(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


async def end(job: Job) -> None:
    async for _ in job.listen():
        pass
    assert job.task is not None
    await asyncio.wait({job.task})
    await asyncio.sleep(0)  # its callbacks come after it


def test_large_results_push_out_the_oldest_of_the_same_owner(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kept, "_MOST_HELD", 10 * MIB)

    async def work(_job: Job) -> bytes:
        return bytes(3 * MIB)

    async def main() -> None:
        jobs = Jobs()
        other = jobs.start("b", work, key="k")
        await end(other)
        mine = []
        for at in range(5):
            mine.append(jobs.start("a", work, key=str(at)))
            await end(mine[-1])
        there = [jobs.get("a", each.id) is not None for each in mine]
        assert there == [False, False, True, True, True]
        assert jobs.get("b", other.id) is other
        assert jobs.start("a", work, key="0") is not mine[0]
        assert jobs.start("a", work, key="4") is mine[4]

    ended(main())


def test_the_latest_is_kept_however_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_MOST_HELD", 1)

    async def work(_job: Job) -> bytes:
        return bytes(MIB)

    async def main() -> None:
        jobs = Jobs()
        first, second = jobs.start("a", work), jobs.start("a", work)
        await end(first)
        await end(second)
        assert [jobs.get("a", each.id) for each in (first, second)] == [None, second]

    ended(main())


@pytest.mark.parametrize("error", [InfraFault("a cell died"), Busy("later", 1.0), OSError("full")])
def test_a_key_does_not_stand_for_a_fault(error: Exception) -> None:
    async def fails(_job: Job) -> None:
        raise error

    async def works(_job: Job) -> int:
        return 1

    async def main() -> None:
        jobs = Jobs()
        first = jobs.start("a", fails, key="k", fingerprint=b"f")
        await end(first)
        second = jobs.start("a", works, key="k", fingerprint=b"f")
        assert await second.wait() == 1
        jobs.drop(first)  # which must not take the second one's key with it
        assert jobs.start("a", works, key="k", fingerprint=b"f") is second

    ended(main())


def test_a_key_stands_for_what_the_request_itself_deserves() -> None:
    async def fails(_job: Job) -> None:
        raise InputError("no such language")

    async def main() -> None:
        jobs = Jobs()
        first = jobs.start("a", fails, key="k")
        await end(first)
        assert jobs.start("a", fails, key="k") is first

    ended(main())


def test_a_job_that_is_called_off_before_it_begins_ends_too() -> None:
    async def work(_job: Job) -> int:
        return 1

    async def main() -> None:
        jobs = Jobs()
        job = jobs.start("a", work, key="k")
        job.cancel()
        assert [each.name async for each in job.listen()] == ["queued", "cancelled"]
        assert jobs.start("a", work, key="k") is not job

    ended(main())


def test_size_counts_what_is_within() -> None:
    assert size_of({"a": [b"x" * 1000, ("y" * 1000,)]}) >= 2000
    assert size_of(None) < 1000


def test_small_pieces_of_stdin_count_for_more_than_their_bytes() -> None:
    async def main() -> None:
        request = RunRequest(Program("import sys\nprint(len(sys.stdin.read()))"))
        async with open_engine(cells=1) as engine, engine.live(request) as run:
            for _ in range(5000):
                run.write(b"x")
            assert run.unwritten == 5000 * (1 + PIECE_OVERHEAD)
            run.close_stdin()
            assert b"".join([data async for _, data in run.output()]) == b"5000\n"
            assert run.unwritten == 0
            await run.result()

    ended(main())


def test_a_judgement_that_comes_to_a_closed_engine_is_told_so() -> None:
    test = Test("", "1", name="1")
    problem = Problem("p", (test,), subtasks=(Subtask("all", 1, ("1",)),), limits=Limits())

    async def main() -> None:
        engine = open_engine(cells=1)
        await asyncio.to_thread(engine.close)
        with pytest.raises(PoolClosed):
            await engine.judge(problem, Program("print(1)"), JudgeSettings())

    ended(main())


def test_large_requests_are_forgotten_before_their_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST_REQUESTS", 10 * MIB)

    async def work(_job: Job) -> int:
        return 1

    async def main() -> None:
        jobs = Jobs()
        other = jobs.start("b", work, asked=AskedFor("run", "other", MIB))
        await end(other)
        mine = []
        for at in range(5):
            mine.append(jobs.start("a", work, asked=AskedFor("judge", at, MIB)))
            assert mine[-1].asked is not None
            await end(mine[-1])
        huge = jobs.start("a", work, asked=AskedFor("judge", "huge", 100 * MIB))
        small = jobs.start("a", work, asked=AskedFor("judge", "small", 1))
        assert [each.asked is not None for each in mine] == [False, False, False, True, True]
        await end(huge)
        await end(small)
        assert [each.asked is not None for each in (*mine, huge, small)] == [
            False, False, False, True, True, False, True,
        ]  # fmt: skip
        assert [jobs.get("a", each.id) for each in mine] == mine
        assert other.asked is not None
        last = jobs.start("a", work, asked=AskedFor("judge", "last", MIB))
        await end(last)
        assert last.asked is not None
        for each in (*mine, huge, small, last, other):
            jobs.drop(each)
        assert jobs._requests == {}

    ended(main())


def test_requests_of_dropped_jobs_take_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST_REQUESTS", 10 * MIB)

    async def work(_job: Job) -> int:
        return 1

    async def main() -> None:
        jobs = Jobs()
        first = jobs.start("a", work, asked=AskedFor("judge", "first", MIB))
        await end(first)
        for _ in range(5):
            job = jobs.start("a", work, asked=AskedFor("judge", "dropped", MIB))
            await end(job)
            jobs.drop(job)
        assert first.asked is not None

    ended(main())
