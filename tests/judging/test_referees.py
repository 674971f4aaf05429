"""Checkers, interactors and managers that fail at their own work, one file each in referees/.

Whatever they do, and whatever the submission is worth: a fault of the task, with no score, since
they fail without the submission, too.
"""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from tasks import HERE, partner, problem

from proctor.grading import Checker, Convention
from proctor.judgement import Judgement
from proctor.judging import grader, interaction
from proctor.judging.judge import judge
from proctor.problem import Communication, Interactive
from proctor.program import Program
from proctor.sandbox.pool import Pool
from proctor.verdict import Verdict

FILES = sorted((HERE / "referees").iterdir())
_HEADER = re.compile(r"(?://|#) As: (\w+)(?: ([\w-]+))?\. Says: (.+)\.")
# It reads all that there is and then says what may be right.
HONEST = Program(
    '#include <cstdio>\nint main() { while (getchar() != EOF) {} puts("word"); }', "cpp17"
)


def header(path: Path) -> tuple[str, str, str]:
    found = _HEADER.fullmatch(path.read_text().splitlines()[0])
    assert found, f"{path} does not say what it is"
    return found[1], found[2] or "", found[3]


def judged(path: Path, contest_pool: Pool) -> Judgement:
    kind, convention, _ = header(path)
    program = partner(f"referees/{path.name}")
    answer = b"word\n"
    if kind == "checker":
        checker = Checker(program, Convention(convention))
        return judge(problem(path.stem, "", answer, grading=checker), HONEST, pool=contest_pool)
    running = Interactive(program) if kind == "interactor" else Communication(program)
    task = replace(problem(path.stem, "", answer, running), accepted=HONEST)
    return judge(task, HONEST, pool=contest_pool)


@pytest.fixture(scope="module")
def judgements(contest_pool: Pool) -> dict[str, Judgement]:
    """All of them, four at once. A second of CPU time is as much in vain as their twenty."""
    limits = replace(grader.LIMITS, cpu=1.0, output=1 << 20, memory=256 << 20)
    with pytest.MonkeyPatch.context() as patch:
        for module in (grader, interaction):
            patch.setattr(module, "LIMITS", limits)
        with ThreadPoolExecutor(4) as threads:
            found = threads.map(lambda path: judged(path, contest_pool), FILES)
            return {path.name: each for path, each in zip(FILES, found, strict=True)}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_is_a_fault_of_the_task(path: Path, judgements: dict[str, Judgement]) -> None:
    found = judgements[path.name]
    assert found.verdict is Verdict.TASK_FAULT, found
    assert found.points is None
    assert [each.score for each in found.subtasks] == [None]
    (result,) = found.tests
    assert result.score == 0
    assert re.search(header(path)[2], result.message), result.message
