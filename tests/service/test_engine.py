"""The engine itself: what is called off ends, what waits is not lost, faults are no verdicts."""

import asyncio
import os
from collections.abc import Coroutine
from typing import Any

import pytest

from proctor.errors import InputError, NoLanguage
from proctor.judging.settings import JudgeSettings
from proctor.languages.run import RunRequest
from proctor.limits import MIB, Limits
from proctor.problem import Problem, Subtask, Test
from proctor.program import Program
from proctor.service.admission import RequestContext
from proctor.service.engine import Engine, open_engine
from proctor.service.jobs import Job, Jobs
from proctor.service.run_verdicts import verdict_of
from proctor.verdict import Verdict
from waiting import until_true

FOREVER = RunRequest(Program("print(1, flush=True)\nwhile True: pass"), limits=Limits(cpu=600))
PRINT = RunRequest(Program("print(1)"))


def within(work: Any) -> Any:
    async def main() -> Any:
        async with open_engine(cells=2) as engine:
            return await work(engine)

    return asyncio.run(main())


def test_a_run_that_is_called_off_frees_its_place() -> None:
    async def work(engine: Engine) -> None:
        for _ in range(3):
            begun = asyncio.Event()
            tasks = [
                asyncio.ensure_future(engine.run(FOREVER, RequestContext(on_start=begun.set)))
                for _ in range(4)
            ]
            await begun.wait()
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
            assert all(isinstance(each, asyncio.CancelledError) for each in ended)
        assert verdict_of(await engine.run(PRINT)) == "OK"
        assert (engine.admission.waiting, engine.admission.running) == (0, 0)

    within(work)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["python", "c"])
def test_a_contest_judgement_is_called_off_in_the_middle(language: str) -> None:
    source = {"python": "while True: pass", "c": "int main(){for(;;);}"}[language]
    tests = tuple(Test("", "1", name=str(at)) for at in range(50))
    problem = Problem(
        "p",
        tests,
        subtasks=(Subtask("all", 1, tuple(test.name for test in tests)),),
        limits=Limits(cpu=600),
    )

    async def work(engine: Engine) -> None:
        begun = asyncio.Event()
        judging = asyncio.ensure_future(
            engine.judge(
                problem,
                Program(source, language),
                JudgeSettings(),
                RequestContext(on_start=begun.set),
            )
        )
        await begun.wait()
        await until_true(lambda: any(cell is not None for cell in list(engine.pool._live.values())))
        judging.cancel()
        with pytest.raises(asyncio.CancelledError):
            await judging
        made = await engine.judge(problem, Program("print(1)"), JudgeSettings())
        assert made.judgement.verdict is Verdict.AC

    within(work)


def test_a_plain_judgement_is_called_off_and_the_next_is_right() -> None:
    problem = Problem("p", (Test("", "1"),))
    settings = JudgeSettings(limits=Limits(cpu=600))

    async def work(engine: Engine) -> None:
        begun = asyncio.Event()
        judging = asyncio.ensure_future(
            engine.judge(
                problem, Program("while True: pass"), settings, RequestContext(on_start=begun.set)
            )
        )
        await begun.wait()
        judging.cancel()
        with pytest.raises(asyncio.CancelledError):
            await judging
        made = await engine.judge(problem, Program("print(1)"), settings)
        assert made.judgement.verdict is Verdict.AC

    within(work)


@pytest.mark.slow
def test_crowds_wait_and_none_is_lost() -> None:
    async def work(engine: Engine) -> None:
        contexts = [RequestContext(str(at % 7)) for at in range(300)]
        ran = await asyncio.gather(*(engine.run(PRINT, context) for context in contexts))
        assert [verdict_of(each) for each in ran] == ["OK"] * 300
        assert max(each.queue for each in ran) > 0

    within(work)


def test_files_come_back_from_every_kind_of_program() -> None:
    c = '#include <stdio.h>\nint main(int n, char **a){fputs(a[1], fopen("o", "w")); return 0;}'
    python = "import sys\nopen('o', 'w').write(sys.argv[1])"

    async def work(engine: Engine) -> None:
        for program in (Program(c, "c"), Program(python)):
            asked = RunRequest(program, args=("hi",), collect=("o", "p"), limits=Limits(disk=MIB))
            assert (await engine.run(asked)).files == {"o": b"hi"}

    within(work)


def test_what_cannot_be_run_is_said_and_costs_no_place() -> None:
    async def work(engine: Engine) -> None:
        with pytest.raises(InputError):
            await engine.run(RunRequest(Program("", "cobol")))
        with pytest.raises((NoLanguage, InputError)):
            await engine.run(RunRequest(Program("", "ghost")))
        assert verdict_of(await engine.run(PRINT)) == "OK"

    within(work)


def test_nothing_of_the_host_is_in_the_environment() -> None:
    os.environ["PROCTOR_SECRET_TEST"] = "1"
    try:
        source = "import os; print('PROCTOR_SECRET_TEST' in os.environ, os.environ['A'])"
        asked = RunRequest(Program(source), environment={"A": "b"})

        async def work(engine: Engine) -> bytes:
            ran = await engine.run(asked)
            assert ran.execution is not None
            return ran.execution.stdout

        assert within(work) == b"False b\n"
    finally:
        del os.environ["PROCTOR_SECRET_TEST"]


def jobs(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


def test_jobs_are_their_owners_and_old_ones_are_forgotten() -> None:
    async def main() -> None:
        kept = Jobs()

        async def work(job: Job) -> int:
            job.begin()
            return 7

        first = kept.start("a", work, key="k", fingerprint=b"1")
        assert await first.wait() == 7
        assert kept.start("a", work, key="k", fingerprint=b"1") is first
        assert kept.start("b", work, key="k", fingerprint=b"1") is not first
        with pytest.raises(InputError):
            kept.start("a", work, key="k", fingerprint=b"2")
        assert kept.get("a", first.id) is first
        assert kept.get("b", first.id) is None
        assert [event.name async for event in first.listen()] == ["queued", "started", "done"]
        for _ in range(1001):
            await kept.start("a", work).wait()
        await asyncio.sleep(0)
        assert kept.get("a", first.id) is None
        assert kept.start("a", work, key="k", fingerprint=b"2") is not first

    jobs(main())
