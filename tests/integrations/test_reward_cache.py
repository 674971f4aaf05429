"""Rewards: equal completions of a batch are judged once; with a cache, equal ones ever after."""

import pickle
from collections import Counter
from concurrent.futures import Future
from pathlib import Path
from typing import Any, ClassVar

import pytest

import ioi_task
from proctor import Pool, open_pool
from proctor.errors import InputError
from proctor.integrations import reward_judges
from proctor.integrations.grading import CompletionGrader
from proctor.integrations.ioi_grading import IoiCompletionGrader
from proctor.integrations.rewards import make_code_reward
from proctor.integrations.verl import compute_score
from proctor.judgement import Judgement
from proctor.judging.judge import PoolJudges
from proctor.verdict import Verdict

ROW = {"test_cases": [{"input": "2\n", "output": "4\n"}, {"input": "3\n", "output": "6\n"}]}
RIGHT, WRONG = "```python\nprint(int(input()) * 2)\n```", "```python\nprint(4)\n```"
GROUP = [RIGHT, WRONG, RIGHT, "no code", RIGHT, WRONG, f"Words.\n\n{RIGHT}"]


class Counted(PoolJudges):
    """Real judges that count the programs they are asked for."""

    asked: ClassVar[Counter[str]] = Counter()

    def start(self, problem: Any, program: Any, settings: Any, subtasks: Any = None) -> Any:
        self.asked[program.source] += 1
        return super().start(problem, program, settings, subtasks)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    monkeypatch.setattr(reward_judges, "PoolJudges", Counted)
    Counted.asked = Counter()
    return Counted.asked


def test_equal_completions_of_a_batch_are_judged_once(pool: Pool, asked: Counter[str]) -> None:
    grader = CompletionGrader(pool=pool)
    for times in (1, 2):  # the next batch is judged anew
        graded = grader.grade([dict(ROW) for _ in GROUP], GROUP)
        assert [each.reward for each in graded] == [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0]
        assert set(asked.values()) == {times}


def test_equal_programs_of_unlike_rows_are_not_one(pool: Pool, asked: Counter[str]) -> None:
    other = {"test_cases": [{"input": "2\n", "output": "5\n"}]}
    graded = CompletionGrader(pool=pool).grade([ROW, other], [RIGHT, RIGHT])
    assert [each.reward for each in graded] == [1.0, 0.0]
    assert asked.total() == 2


def test_with_a_cache_they_are_judged_once_and_never_again(
    pool: Pool, asked: Counter[str], tmp_path: Path
) -> None:
    for _ in range(2):  # another grader, as in the next run
        grader = CompletionGrader(pool=pool, cache=str(tmp_path / "cache"))
        for _ in range(2):
            graded = grader.grade([ROW] * len(GROUP), GROUP)
            assert [each.verdict for each in graded][:4] == ["AC", "WA", "AC", "NC"]
    assert set(asked.values()) == {1}
    assert "cache" not in repr(grader)  # an address may hold a password


def test_the_functions_of_trainers_take_a_cache(
    pool: Pool, asked: Counter[str], tmp_path: Path
) -> None:
    cache = str(tmp_path / "cache")
    reward = make_code_reward(pool=pool, cache=cache)
    assert reward([RIGHT, WRONG], test_cases=[ROW["test_cases"]] * 2) == [1.0, 0.0]
    for _ in range(2):
        score = compute_score("any", RIGHT, ROW["test_cases"], pool=pool, cache=cache)
        assert (score["score"], score["verdict"]) == (1.0, "AC")
    assert asked[RIGHT.split("\n")[1]] <= 2  # verl's limits are spelled out


def test_a_cache_that_cannot_be_opened_is_an_error(pool: Pool, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be used as a cache"):
        CompletionGrader(pool=pool, cache=str(tmp_path / "file")).grade([ROW], [RIGHT])


def test_a_closed_pool_is_not_used_again(asked: Counter[str]) -> None:
    with open_pool(cells=1) as first:
        grader = CompletionGrader(pool=first)
        assert grader.grade([ROW], [RIGHT])[0].reward == 1.0
    assert grader.grade([ROW], [RIGHT])[0].verdict == "INFRA_FAULT"


def test_a_row_of_the_ioi_without_a_judgement_costs_no_other(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Judges that lost their machines know of no subtask."""

    class Lost(PoolJudges):
        def start(self, problem: Any, program: Any, settings: Any, subtasks: Any = None) -> Any:
            future: Future[Judgement] = Future()
            lost = Judgement(Verdict.INFRA_FAULT, 0.0, (), "3 machines were lost")
            future.set_result(lost if "odd" in program.source else Judgement(Verdict.NC, 0.0, ()))
            return future

    monkeypatch.setattr(reward_judges, "PoolJudges", Lost)
    tests = ioi_task.write(tmp_path / "tests.jsonl", ioi_task.test_rows())
    completions = [f"```cpp\nint main() {{ {name}; }}\n```" for name in ("odd", "even")]
    rows = [ioi_task.subtask_rows()[2]] * 2
    graded = IoiCompletionGrader(tests=str(tests), pool=pool).grade(rows, completions)
    assert [(each.reward, each.verdict) for each in graded] == [(None, "INFRA_FAULT"), (0.0, "NC")]


def test_a_grader_can_be_sent_to_another_process() -> None:
    grader = CompletionGrader(tolerance=0.5)
    assert pickle.loads(pickle.dumps(grader)) == grader


@pytest.mark.compiler
def test_rows_of_the_ioi(pool: Pool, asked: Counter[str], tmp_path: Path) -> None:
    rows = [row for row in ioi_task.subtask_rows() if row["subtask"] == "2-all"]
    tests = ioi_task.write_tasks(tmp_path / "tasks")
    completions = [f"```cpp\n{ioi_task.SOLUTIONS[name]}```" for name in ("right", "wrong", "right")]
    grader = IoiCompletionGrader(
        pool=pool, tests=str(tests / "test_cases.jsonl"), cache=str(tmp_path / "cache")
    )
    for _ in range(3):
        graded = grader.grade([dict(rows[0]) for _ in completions], completions)
        assert [each.reward for each in graded] == [1.0, 0.0, 1.0]
    assert set(asked.values()) == {2}  # what is compiled is judged twice
