"""A program that somebody killed is judged once more; one that kills itself has failed."""

import os
import signal
import threading
from collections.abc import Callable, Iterator

import pytest

from proctor import JudgeSettings, Limits, Pool, Problem, Program, Test, judge, open_pool
from proctor.judgement import Judgement, TestResult
from proctor.judging.judge import start, submit
from proctor.judging.settings import Stop
from proctor.languages.compiler import Compiler
from proctor.sandbox.agent_process import AgentProcess
from proctor.sandbox.cell import Cell
from proctor.sandbox.executor import in_pool, unless_killed
from proctor.verdict import Verdict
from waiting import PATIENCE, until

pytestmark = pytest.mark.user

BUSY = "import time\nwhile time.process_time() < 0.7: pass\n"
"""Time to be killed in, which is the longer the busier the machine is."""
PROBLEM = Problem("echo", (Test("word\n", "word\n"),))


@pytest.fixture
def own_pool() -> Iterator[Pool]:
    with open_pool(cells=1) as pool:
        yield pool


def youngest(pool: Pool, least: int) -> int:
    """The youngest process of a job that has so many, or 0."""
    for cell in list(pool._live.values()):
        assert isinstance(cell, AgentProcess)
        if len(pids := cell.job_pids()) >= least:
            return max(pids)
    return 0


def killed_once(pool: Pool, least: int) -> Callable[[], None]:
    """Kill the youngest process of the pool's cell, once, when its job has so many; a joiner."""

    def watch() -> None:
        os.kill(until(lambda: youngest(pool, least)), signal.SIGKILL)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread.join


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "processes"), [("standard", 3), ("official", 2)])
def test_killed_from_outside(mode: str, processes: int, own_pool: Pool) -> None:
    """Its stub, in standard mode its server, and it itself."""
    settings = JudgeSettings(mode=mode)  # type: ignore[arg-type]
    assert judge(PROBLEM, "print(input())", settings=settings, pool=own_pool).passed
    join = killed_once(own_pool, processes)
    found = judge(PROBLEM, f"word = input()\n{BUSY}print(word)", settings=settings, pool=own_pool)
    join()
    assert found.verdict is Verdict.AC


@pytest.mark.parametrize("processes", [1, 2])
def test_killed_from_outside_before_its_tests(processes: int, own_pool: Pool) -> None:
    """While it is compiled, and while it is loaded."""
    problem = Problem("double", (Test("4", "8"),), function="double")
    source = f"{BUSY}def double(n):\n    return 2 * n"
    assert judge(PROBLEM, "print(input())", pool=own_pool).passed
    join = killed_once(own_pool, processes)
    found = judge(problem, source, pool=own_pool)
    join()
    assert found.verdict is Verdict.AC


@pytest.mark.slow
def test_a_compiled_program_killed_from_outside(own_pool: Pool) -> None:
    program = Program(
        "#include <time.h>\n#include <stdio.h>\n"
        'int main(void) { while (clock() < 0.7 * CLOCKS_PER_SEC); puts("word"); }',
        "c",
    )
    built = Compiler(in_pool(own_pool)).build(program)
    limits = Limits()
    command = built.command(memory=limits.memory, judged=True)
    join = killed_once(own_pool, 2)
    done = unless_killed(in_pool(own_pool))(command, b"", built.limits(limits, command))
    join()
    assert done.execution.stdout == b"word\n"


@pytest.mark.parametrize("mode", ["standard", "official"])
def test_who_kills_itself_has_failed(mode: str, pool: Pool) -> None:
    source = "import ctypes, os\nctypes.CDLL(None).kill(os.getpid(), 9)"
    settings = JudgeSettings(mode=mode)  # type: ignore[arg-type]
    assert judge(PROBLEM, source, settings=settings, pool=pool).verdict is Verdict.RE


@pytest.mark.parametrize("stop", ["first", "crash", "never"])
def test_progress_tells_of_each_test_once(stop: Stop, pool: Pool) -> None:
    """Though it was judged twice."""
    problem = Problem("three", tuple(Test(f"{n}\n", f"{n}\n") for n in range(3)))
    source = "import os\nn = int(input())\nprint(n)\nif n == 1:\n    os.kill(os.getpid(), 9)"
    told: list[TestResult] = []
    found = start(problem, source, JudgeSettings(stop=stop), pool, progress=told.append).result()
    assert found.verdict is Verdict.RE
    assert tuple(told) == found.tests


def test_a_wrong_answer_before_is_final(pool: Pool) -> None:
    """Nor may a program that kills itself answer an earlier test again."""
    problem = Problem("two", (Test("1\n", "a\n"), Test("2\n", "b\n")))
    source = (
        "import os, signal\n"
        "if input() == '1':\n    print('wrong')\nelse:\n    os.kill(os.getpid(), signal.SIGKILL)"
    )
    for stop in ("first", "crash", "never"):
        found = judge(problem, source, settings=JudgeSettings(stop=stop), pool=pool)  # type: ignore[arg-type]
        assert found.verdict is Verdict.WA


@pytest.mark.parametrize(
    ("first", "verdict", "times"),
    [("WA", "WA", 2), ("AC", "AC", 2), ("TLE", "TLE", 2), ("RE", "AC", 2), (None, "AC", 1)],
)
def test_a_second_try_corrects_nothing_but_the_kill(
    first: str | None, verdict: str, times: int, pool: Pool
) -> None:
    """A program that answers right the second time; `first` None is one that nobody kills.

    It is tried twice whatever it answered, so that this does not tell it whether it was right.
    """
    made: list[Judgement] = []

    def judged(cell: Cell) -> Judgement:
        verdict = Verdict.AC if made or first is None else Verdict(first)
        cell.killed = not made and first is not None
        made.append(Judgement(verdict, float(verdict.passed), ()))
        return made[-1]

    assert submit(judged, pool).result(timeout=PATIENCE).verdict == verdict
    assert len(made) == times


def test_a_kill_is_not_remembered_for_the_next_program(own_pool: Pool) -> None:
    tried: list[str] = []

    def kills(cell: Cell) -> Judgement:
        tried.append("kills")
        cell.killed = True
        return Judgement(Verdict.RE, 0.0, ())

    def fails(_cell: Cell) -> Judgement:
        tried.append("fails")
        return Judgement(Verdict.RE, 0.0, ())

    for judged in (kills, fails):
        submit(judged, own_pool).result(timeout=PATIENCE)
    assert tried == ["kills", "kills", "fails"]
