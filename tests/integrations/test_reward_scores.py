"""Scores where a trainer takes a number for every completion."""

import asyncio
import re
from concurrent.futures import Future
from typing import Any

import pytest

from proctor import InfraFault, Pool
from proctor.errors import InputError, NoLanguage, SettingsError, Unreachable
from proctor.integrations.grading import CompletionGrader, GradedCompletion, graded
from proctor.integrations.openrlhf import END, _answer, make_reward_func
from proctor.integrations.scoring import options_of, scores
from proctor.integrations.verl import compute_scores
from proctor.judging.judge import PoolJudges

ROW = {"test_cases": [{"input": "2\n", "output": "4\n"}, {"input": "3\n", "output": "6\n"}]}
LOST = {"test_cases": []}
RIGHT = "```python\nprint(2 * int(input()))\n```"


class OutOfReach:
    """Judges behind a line that is broken for so many judgements."""

    def __init__(self, pool: Pool, failing: int, error: Exception) -> None:
        self._judges, self._failing, self._error = PoolJudges(pool), failing, error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._judges, name)

    def start(self, *arguments: Any, **options: Any) -> Future[Any]:
        if self._failing > 0:
            self._failing -= 1
            raise self._error
        return self._judges.start(*arguments, **options)


def scored(pool: Pool, rows: list[Any], failing: int = 0, on_fault: float | None = None) -> Any:
    grader = CompletionGrader(on=OutOfReach(pool, failing, Unreachable("the line is broken")))
    made = asyncio.run(scores(grader.grade_async, rows, [RIGHT] * len(rows), on_fault))
    return [(score, each.masked) for score, each in made]


def test_faults_of_the_machine_are_judged_once_more(pool: Pool) -> None:
    assert scored(pool, [ROW] * 3, failing=2) == [(1.0, False)] * 3
    with pytest.raises(InfraFault, match="the line is broken"):
        scored(pool, [ROW], failing=2)
    assert scored(pool, [ROW, ROW], failing=3, on_fault=0.25) == [(0.25, True), (1.0, False)]


def test_who_is_judged_once_more_keeps_his_place() -> None:
    asked: list[list[str]] = []
    lost = GradedCompletion(None, "INFRA_FAULT")
    answers = [
        [GradedCompletion(1.0, "AC"), lost, GradedCompletion(0.0, "WA"), lost],
        [GradedCompletion(0.5, "AC"), GradedCompletion(0.25, "AC")],
    ]

    async def grade(_rows: Any, completions: Any) -> list[GradedCompletion]:
        asked.append(list(completions))
        return answers[len(asked) - 1]

    made = asyncio.run(scores(grade, [{}] * 4, list("abcd"), None))
    assert [score for score, _ in made] == [1.0, 0.5, 0.0, 0.25]
    assert asked == [list("abcd"), list("bd")]


def test_faults_of_a_row_are_not(pool: Pool) -> None:
    with pytest.raises(InputError, match="no tests"):
        scored(pool, [ROW, LOST])
    assert scored(pool, [ROW, LOST], on_fault=-1) == [(1.0, False), (-1.0, True)]


def test_what_makes_every_reward_impossible_ends_the_batch(pool: Pool) -> None:
    judges = OutOfReach(pool, 1, NoLanguage("there is no compiler"))
    grader = CompletionGrader(on=judges)
    with pytest.raises(NoLanguage):
        grader.grade([ROW] * 100, [RIGHT] * 100)
    assert [each.reward for each in grader.grade([ROW], [RIGHT])] == [1.0]


def test_no_more_are_under_way_than_there_is_room_for() -> None:
    most = now = 0

    async def one(row: int, completion: str) -> str:
        nonlocal most, now
        now += 1
        most = max(most, now)
        await asyncio.sleep(0)
        now -= 1
        return f"{row}{completion}"

    made = asyncio.run(graded(one, lambda: 3, range(50), "x" * 50))
    assert made == [f"{number}x" for number in range(50)]
    assert most == 3


def test_options() -> None:
    chosen, others = options_of({"actors": 4, "cpu": 2, "scoring": "fraction"})
    assert (chosen.actors, chosen.cpu, others) == (4, 2, {"scoring": "fraction"})
    with pytest.raises(SettingsError, match="tolerence"):
        make_reward_func(tolerence=0.1)


def test_a_batch_of_verl() -> None:
    truths = [ROW["test_cases"], ROW["test_cases"], []]
    made = compute_scores(["taco"] * 3, [RIGHT, "none", RIGHT], truths, [None, {}, {}], on_fault=0)
    assert [(each["score"], each["verdict"], each["masked"]) for each in made] == [
        (1.0, "AC", 0.0), (0.0, "NC", 0.0), (0.0, "TASK_FAULT", 1.0),
    ]  # fmt: skip


@pytest.mark.parametrize("end", ["", "<|im_end|>", "<|im_end|>\n", "<｜end▁of▁sentence｜>", "</s>"])
def test_answers_of_openrlhf(end: str) -> None:
    """What ends an answer would hide the fence before it."""
    query = f"<|user|>double it<|assistant|>{RIGHT}{end}"
    assert _answer(query, "double it<|assistant|>", re.compile(END)) == RIGHT
    with pytest.raises(InputError, match="does not hold its prompt"):
        _answer(query, "halve it", re.compile(END))
