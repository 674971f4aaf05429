"""Conversations: whose fault it is, on a busy machine too, and when a cell fails."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from tasks import SECRET, partner, problem, problems

from proctor.errors import CellStartFailed
from proctor.execution import LimitHit
from proctor.judgement import Judgement
from proctor.judging.conversation import Interaction, InteractionClock, Member
from proctor.judging.environment import open_environment
from proctor.judging.judge import judge
from proctor.limits import Limits
from proctor.problem import Communication, Interactive, Problem
from proctor.program import Program
from proctor.sandbox.backend import Backend, CellSetup
from proctor.sandbox.cell import Cell
from proctor.sandbox.clock import Reading
from proctor.sandbox.command import Command, Streams
from proctor.sandbox.pool import Pool
from proctor.verdict import Verdict

THINKS = r"""
#include <cstdio>
#include <cstring>
#include <ctime>
int main() {
    char word[32] = "";
    while (clock() < 6.5 * CLOCKS_PER_SEC) {}
    puts("word");
    fflush(stdout);
    return scanf("%31s", word) == 1 && !strcmp(word, "word") ? 42 : 43;
}
"""
REPEATS = '#include <cstdio>\nint main() { char s[99]; scanf("%98s", s); puts(s); }'
LISTENS = "import sys\nsys.exit(42 if sys.stdin.readline() == 'word\\n' else 43)"
DEAF = "import time\nwhile True:\n    time.sleep(100)"
DECIDES = "import sys\ninput()\nsys.exit(43)"
CRASHES_AFTERWARDS = r"""
#include <cstdio>
#include <cstdlib>
int main() { int less; puts("word"); fflush(stdout); if (scanf("%d", &less) != 1) abort(); }
"""
CRASHES_AT_ONCE = "#include <cstdlib>\nint main() { abort(); }"


def talk(interactor: str, language: str, submission: str, contest_pool: Pool) -> Judgement:
    running = Interactive(Program(interactor, language))
    program = Program(submission, "cpp17")
    task = replace(problem("talk", "", None, running), accepted=program)
    return judge(task, program, pool=contest_pool)


@pytest.fixture(scope="module")
def verdicts(contest_pool: Pool) -> dict[str, Verdict]:
    """All at once, on four cells: each waits most of its time, while the first one computes."""
    cases = {
        "slow thinker": (THINKS, "cpp17", REPEATS),
        "deadlock": (LISTENS, "python", REPEATS),
        "hanging interactor": (DEAF, "python", REPEATS),
    }
    with ThreadPoolExecutor(3) as threads:
        found = threads.map(lambda case: talk(*case, contest_pool), cases.values())
        return {name: each.verdict for name, each in zip(cases, found, strict=True)}


def test_waiting_for_an_interactor_that_computes_is_not_idle(verdicts: dict[str, Verdict]) -> None:
    """It computes for longer than a submission may be idle."""
    assert verdicts["slow thinker"] is Verdict.AC


def test_if_both_wait_it_is_the_submission_that_should_have_spoken(
    verdicts: dict[str, Verdict],
) -> None:
    assert verdicts["deadlock"] is Verdict.ILE


def test_an_interactor_that_waits_for_nothing_is_found_to_hang(
    verdicts: dict[str, Verdict],
) -> None:
    """That is no idleness; the submission is known to be right, so the task is to blame."""
    assert verdicts["hanging interactor"] is Verdict.TASK_FAULT


@pytest.mark.parametrize(
    ("submission", "expected"),
    [(CRASHES_AFTERWARDS, Verdict.WA), (CRASHES_AT_ONCE, Verdict.RE)],
    ids=["after the verdict", "before it"],
)
def test_who_ended_first_is_no_matter_of_luck(
    submission: str, expected: Verdict, contest_pool: Pool
) -> None:
    """Both end within a moment; four pairs at a time compete for the CPUs."""
    task = problem("first", "", None, Interactive(Program(DECIDES, "python")))
    program = Program(submission, "cpp17")
    with ThreadPoolExecutor(4) as threads:
        found = threads.map(lambda _: judge(task, program, pool=contest_pool).verdict, range(24))
        assert set(found) == {expected}


class Refusing:
    """The real backend, but for the first cells it is asked for."""

    def __init__(self, real: Backend, refusals: int) -> None:
        self._real, self.left = real, refusals
        self.arrangement = real.arrangement

    def open_cell(self, setup: CellSetup, slot: int) -> Cell:
        if self.left > 0:
            self.left -= 1
            raise CellStartFailed("no more cells today")
        return self._real.open_cell(setup, slot)


@pytest.fixture
def new_pool(cache_directory: Path) -> Iterator[Pool]:
    with open_environment(cells=1) as opened:
        yield opened


@pytest.fixture(scope="module")
def two() -> Problem:
    return problem(
        "two",
        f"{SECRET}\n",
        None,
        Communication(partner("partners/separate.cpp"), 2, False, ("open",)),
    )


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize(
    ("refusals", "verdict"), [(1, Verdict.AC), (2, Verdict.AC), (40, Verdict.INFRA_FAULT)]
)
def test_a_cell_that_does_not_start_keeps_nobody_waiting(
    new_pool: Pool, two: Problem, refusals: int, verdict: Verdict,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    program = Program(
        '#include <cstdio>\nint main() { char s[99]; scanf("%98s", s); puts(s); }', "cpp17"
    )
    assert judge(two, program, pool=new_pool).verdict is Verdict.AC
    for cell in new_pool._live.values():
        cell.odd = True  # so that the next job needs a fresh one
    before = descriptors()
    monkeypatch.setattr(new_pool, "backend", Refusing(new_pool.backend, refusals))
    found = judge(two, program, pool=new_pool)
    assert found.verdict is verdict, found
    assert (found.points is None) == found.verdict.is_fault
    assert descriptors() <= before
    monkeypatch.undo()
    assert judge(two, program, pool=new_pool).verdict is Verdict.AC


def test_many_talks_at_once_on_one_cell(new_pool: Pool, tmp_path: Path) -> None:
    (tmp_path / "answer").write_text(SECRET)
    found = problems(tmp_path / "answer")
    tasks = [found[name] for name in ("guess", "open-secret", "echo")]
    sources = ("guess_honest.cpp", "talk_honest.cpp", "honest.cpp")
    programs = [Program(partner(f"attacks/{name}").source, "cpp17") for name in sources]
    with ThreadPoolExecutor(9) as threads:
        verdicts = threads.map(
            lambda i: judge(tasks[i % 3], programs[i % 3], pool=new_pool).verdict, range(27)
        )
        assert set(verdicts) == {Verdict.AC}


class Seen:
    """What a talk asks of the cell of a party."""

    def __init__(self) -> None:
        self.busy = True

    def runs(self) -> bool:
        return self.busy


def test_nobody_is_idle_while_another_wants_a_cpu_or_was_not_looked_at() -> None:
    """Its waits are counted when they are over, and noted only when somebody looks."""
    limits = Limits(cpu=1.0)
    command = Command(("true",))
    talk = Interaction([Member(command, Streams(), limits, grader=True),
                 Member(command, Streams(), limits)])  # fmt: skip
    partner, clock = Seen(), InteractionClock(limits, talk, 1)
    talk._seats[0].cell = partner  # type: ignore[assignment]
    assert clock.check(4.9, Reading(0.0, 4.9)) is None
    assert clock.check(6.0, Reading(0.0, 6.0)) is None
    talk.note(0, 0.0, idle=True)
    assert clock.check(6.1, Reading(0.0, 6.1)) is None
    partner.busy = False
    assert clock.check(6.2, Reading(0.0, 6.2)) is LimitHit.IDLE
    talk.note(0, 3.0, idle=False)
    assert clock.check(6.3, Reading(0.0, 6.3)) is None
    clock.pause(6.3, Reading(0.0, 6.3))
    assert clock.check(8.1, Reading(0.0, 8.1)) is None  # suspected anew, and not looked at since
    talk.note(0, 3.0, idle=True)
    assert clock.check(8.2, Reading(0.0, 8.2)) is LimitHit.IDLE
    assert clock.check(60.1, Reading(0.0, 60.1)) is LimitHit.IDLE
