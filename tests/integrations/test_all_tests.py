"""Where rewards come from, a wrong answer is no end: further tests are run.

So that a test is run tells a policy nothing of the answers before. What is reported of them stays
what each door's original says.
"""

import asyncio
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import ioi_task
from proctor import Pool, open_pool
from proctor.errors import SettingsError
from proctor.integrations import rewards, verl
from proctor.integrations.open_r1 import Client, cf_scoring, ioi_scoring
from proctor.judging.judge import PoolJudges
from proctor.service.admission import RequestContext
from proctor.service.engine import Engine, open_engine
from proctor.service.http.sandbox_fusion import datasets

CASES = [{"input": f"{at}\n", "output": f"{at * 2}\n"} for at in range(1, 5)]
WRONG = "print(int(input()) ** 2 + 2)"
REPLY = f"```python\n{WRONG}\n```"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    tests = ioi_task.write(tmp_path_factory.mktemp("ioi") / "t.jsonl", ioi_task.test_rows())
    with open_pool(cells=1) as contest_pool, Client(pool=contest_pool, tests=str(tests)) as opened:
        yield opened


@pytest.fixture(scope="module")
def contest_pool(client: Client) -> Pool:
    return client.pool


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str], list[Any]]:
    """Keeps what a module's function returns, which goes on to do what it does."""

    def keep(module: Any, name: str) -> list[Any]:
        real, kept = getattr(module, name), []

        def call(*given: Any, **named: Any) -> Any:
            kept.append(real(*given, **named))
            return kept[-1]

        async def call_async(*given: Any, **named: Any) -> Any:
            kept.append(await real(*given, **named))
            return kept[-1]

        is_async = inspect.iscoroutinefunction(real)
        monkeypatch.setattr(module, name, call_async if is_async else call)
        return kept

    return keep


Made = Callable[[Any, str], list[Any]]


@pytest.mark.parametrize(("options", "ran"), [({}, 4), ({"stop": "first"}, 1)])
def test_rewards(options: Any, ran: int, pool: Pool, made: Made) -> None:
    futures = made(PoolJudges, "start")
    reward = rewards.make_code_reward(pool=pool, **options)
    assert reward([REPLY], test_cases=[CASES]) == [0.0]
    assert [len(each.result().tests) for each in futures] == [ran]


def test_verl(pool: Pool, made: Made) -> None:
    futures = made(PoolJudges, "start")
    score = verl.compute_score("mine", REPLY, CASES, pool=pool)
    assert (score["score"], score["verdict"]) == (0.0, "WA")
    assert [len(each.result().tests) for each in futures] == [4]


def test_parts_take_all_tests() -> None:
    with pytest.raises(SettingsError, match="takes all tests"):
        rewards.make_code_reward(scoring="fraction", stop="first")
    for make in (rewards.make_code_reward, rewards.make_ioi_reward):
        with pytest.raises(SettingsError, match="first or crash or never"):
            make(stop="later")  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize(("options", "ran"), [({}, 3), ({"stop": "first"}, 2)])
def test_ioi_rewards(options: Any, ran: int, contest_pool: Pool, made: Made, tmp_path: Any) -> None:
    tests = ioi_task.write(tmp_path / "tests.jsonl", ioi_task.test_rows())
    futures = made(PoolJudges, "start")
    reward = rewards.make_ioi_reward(tests=str(tests), pool=contest_pool, **options)
    row = ioi_task.subtask_rows()[2]
    columns = {name: [value] for name, value in row.items()}
    assert reward([f"```cpp\n{ioi_task.SOLUTIONS['wrong']}\n```"], **columns) == [0.0]
    assert [len(each.result().tests) for each in futures] == [ran]


def test_open_r1(client: Client, made: Made) -> None:
    judgements = made(ioi_scoring, "judge_async")
    row, wrong = ioi_task.subtask_rows()[2], ioi_task.SOLUTIONS["wrong"]
    found = asyncio.run(ioi_scoring.score_subtask(client, row, wrong))
    assert [each.status for each in found.test_results] == ["AC", "WA", "SKIPPED"]
    # What another subtask's failure decides, too.
    cache = {"2-1": ioi_scoring.TestResult("2-1", 0.0, "WA")}
    found = asyncio.run(ioi_scoring.score_subtask(client, row, wrong, cache))
    assert [each.status for each in found.test_results] == ["SKIPPED", "SKIPPED", "WA"]
    assert [len(each.tests) for each in judgements] == [3, 2]


def test_codeforces_rows(client: Client, made: Made) -> None:
    judgements = made(cf_scoring, "judge_async")
    row = {
        "id": "7/A", "time_limit": 2.0, "memory_limit": 256.0, "title": "", "description": "",
        "official_tests": CASES, "generated_checker": None, "input_mode": "stdio",
        "generated_tests": 0,
    }  # fmt: skip
    score = cf_scoring.score_submission(
        client, row, WRONG, scoring_mode="pass_fail", submission_language="python"
    )
    assert asyncio.run(score) == 0.0
    assert [len(each.tests) for each in judgements] == [4]


def with_engine(work: Callable[[Engine], Any]) -> Any:
    async def go() -> Any:
        async with await asyncio.to_thread(lambda: open_engine(cells=1, sessions=0)) as engine:
            return await work(engine)

    return asyncio.run(go())


def test_submissions_to_sandbox_fusion(made: Made) -> None:
    tried = made(datasets, "_tested")
    cases = [{"input": {"stdin": c["input"]}, "output": {"stdout": c["output"]}} for c in CASES]
    config = datasets.TestConfig(
        dataset_type="CommonOJDataset", language="python", provided_data={"id": 1, "test": cases}
    )
    data = datasets.SubmitRequest("mine", 1, REPLY, config)
    row = datasets.find_row("mine", config, 1)
    found = with_engine(
        lambda engine: datasets.submit(engine, data, row, RequestContext(unlimited=True))
    )
    assert not found.accepted
    assert [each.passed for each in found.tests] == [False]
    assert len(tried) == 4
