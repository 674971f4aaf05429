"""Rewards from actors: any loop, many batches, handles for others, and faults that are masked."""

import asyncio
import pickle
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import clusters
import pytest
from ray.cluster_utils import Cluster

import ioi_task
from proctor.errors import InputError, NoLanguage, SettingsError, UsageError
from proctor.integrations.ioi_grading import IoiCompletionGrader
from proctor.integrations.ray import RayCluster, RewardActors, SharedRewardActors, connection
from proctor.integrations.rewards import make_code_reward, make_ioi_reward
from proctor.languages import registry
from proctor.limits import Limits

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("ignore:.*:DeprecationWarning:ray")]

ray = clusters.ray
ROW = {"test_cases": [{"input": "2\n", "output": "4\n"}, {"input": "3\n", "output": "6\n"}]}
LOST = {"test_cases": []}
RIGHT = "```python\nprint(2 * int(input()))\n```"
SQUARE = "```python\nprint(int(input()) ** 2)\n```"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with clusters.started(1, 1) as made:
        # Now: whatever connects by itself would take any cluster of this machine.
        ray.init(made.address, log_to_driver=False)
        yield made


@pytest.fixture
def actors(cluster: Cluster) -> Iterator[RewardActors]:
    with RewardActors(2, address=cluster.address, scoring="fraction") as opened:
        yield opened


@pytest.fixture
def shared(cluster: Cluster) -> Iterator[SharedRewardActors]:
    handle = RewardActors.shared(2, address=cluster.address, scoring="fraction")
    yield handle
    handle.close()


def no_language() -> dict[str, Any]:
    """A row in a language that this machine lacks."""
    for language in registry.languages().values():
        try:
            registry.find(language)
        except NoLanguage:
            return {**ROW, "language": language.id}
    pytest.skip("no case: this machine has all languages")


def rewards(made: list[Any]) -> list[float | None]:
    return [each.reward for each in made]


def test_a_reward_function_on_a_cluster(cluster: Cluster) -> None:
    with RayCluster(cluster.address) as judges:
        reward = make_code_reward(on=judges)
        cases = [ROW["test_cases"]] * 3
        assert reward([RIGHT, SQUARE, "no code"], test_cases=[*cases[:2], []]) == [1.0, 0.0, None]
    with pytest.raises(UsageError, match="either pool or on"):
        make_code_reward(on=judges, pool=object())
    with pytest.raises(UsageError, match="either pool or on"):
        IoiCompletionGrader(on=judges, pool=object())  # type: ignore[arg-type]
    assert reward([RIGHT], test_cases=[ROW["test_cases"]]) == [None]  # it is closed


def test_several_batches_at_once(actors: RewardActors) -> None:
    async def all_batches() -> list[list[Any]]:
        return await asyncio.gather(
            actors.score([ROW] * 40, [RIGHT, SQUARE] * 20),
            actors.score([ROW, LOST], [SQUARE, RIGHT]),
            actors.score([], []),
        )

    many, few, none = asyncio.run(all_batches())
    assert rewards(many) == [1.0, 0.5] * 20
    assert rewards(few) == [0.5, None]
    assert [each.masked for each in few] == [False, True]
    assert (few[1].verdict, none) == ("TASK_FAULT", [])
    assert sum(node.judged for node in actors.nodes()) <= 3  # equal ones of a batch once


def test_wrong_use_is_told(cluster: Cluster, actors: RewardActors) -> None:
    with pytest.raises(InputError, match="2 rows for 1 completion"):
        asyncio.run(actors.score([ROW] * 2, [RIGHT]))
    for start in (RewardActors, RewardActors.shared):
        with pytest.raises(SettingsError, match="tolerence"):
            start(1, tolerence=0.1)
        with pytest.raises(SettingsError, match="pools of their own"):
            start(1, on=None)
        with pytest.raises(UsageError, match="must be at least 1"):
            start(0, address=cluster.address)


def test_what_makes_every_reward_impossible_raises(actors: RewardActors) -> None:
    with pytest.raises(NoLanguage):
        asyncio.run(actors.score([no_language()] * 9, ["```\nx\n```"] * 9))


def test_what_is_under_way_when_actors_close_is_masked(cluster: Cluster) -> None:
    actors = RewardActors(1, address=cluster.address)
    actors.nodes()
    endless = "```python\nwhile True: pass\n```"

    async def closed_meanwhile() -> list[Any]:
        scoring = asyncio.create_task(actors.score([ROW] * 100, [endless] * 100))
        await asyncio.sleep(0)
        await asyncio.to_thread(actors.close)
        return await scoring

    assert {(each.verdict, each.reward) for each in asyncio.run(closed_meanwhile())} == {
        ("INFRA_FAULT", None)
    }


def test_cancelling_takes_back_what_has_not_begun(cluster: Cluster) -> None:
    with RewardActors(1, address=cluster.address, limits=Limits(cpu=0.5)) as actors:
        actors.nodes()
        endless = "```python\nwhile True: pass\n```"

        async def cancelled() -> list[Any]:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(actors.score([ROW] * 2000, [endless] * 2000), 0.1)
            return await actors.score([ROW], [RIGHT])

        assert rewards(asyncio.run(cancelled())) == [1.0]
        assert sum(node.judged for node in actors.nodes()) < 100


@ray.remote(num_cpus=0)
class Trainer:
    """A worker of a trainer, that was handed the actors."""

    def __init__(self, actors: SharedRewardActors) -> None:
        self.actors = actors

    async def step(self, completions: list[str]) -> list[float | None]:
        return rewards(await self.actors.score([ROW] * len(completions), completions))


def test_trainers_share_actors(cluster: Cluster, shared: SharedRewardActors) -> None:
    ray.cloudpickle.register_pickle_by_value(__import__(__name__))
    copy = pickle.loads(pickle.dumps(shared))
    assert copy == shared
    assert rewards(asyncio.run(copy.score([ROW, LOST], [SQUARE, RIGHT]))) == [0.5, None]
    trainers = [Trainer.remote(shared) for _ in range(3)]
    steps = [each.step.remote([RIGHT, SQUARE] * 25) for each in trainers]
    assert ray.get(steps) == [[1.0, 0.5] * 25] * 3
    # Two actors with a CPU each are all that there is: had trainers their own, they would wait.
    assert ray.available_resources().get("CPU", 0) == 0


def test_who_wants_other_rewards_has_other_actors(shared: SharedRewardActors) -> None:
    other = RewardActors.shared(2, scoring="all")
    assert other._full_name != shared._full_name
    assert RewardActors.shared(2, scoring="fraction")._full_name == shared._full_name
    assert RewardActors.shared(2, scoring="fraction", name="a")._full_name != shared._full_name
    two = RewardActors.shared(1, no_code=1.0, fast=True)
    assert two._full_name == RewardActors.shared(1, fast=True, no_code=1.0)._full_name


def test_errors_of_shared_actors_are_ours(shared: SharedRewardActors) -> None:
    with pytest.raises(NoLanguage):
        asyncio.run(shared.score([no_language()], ["```\nx\n```"]))
    with pytest.raises(InputError, match="1 row for 0 completions"):
        asyncio.run(shared.score([ROW], []))


def test_a_hub_that_is_lost_is_started_again(shared: SharedRewardActors) -> None:
    assert rewards(asyncio.run(shared.score([ROW], [RIGHT]))) == [1.0]

    async def killed_meanwhile() -> list[Any]:
        scoring = asyncio.create_task(shared.score([ROW] * 200, [RIGHT, SQUARE] * 100))
        await shared.score([ROW], [RIGHT])
        await asyncio.to_thread(ray.kill, shared._hub, no_restart=False)
        return await scoring

    assert rewards(asyncio.run(killed_meanwhile())) == [1.0, 0.5] * 100


def test_handles_outlive_who_started_the_actors(cluster: Cluster) -> None:
    """The hub ends with the trainer that was first; another starts one for itself."""
    handle = RewardActors.shared(1, name="outlived")
    ray.cloudpickle.register_pickle_by_value(__import__(__name__))
    first = Trainer.remote(handle)
    assert ray.get(first.step.remote([RIGHT])) == [1.0]
    assert rewards(asyncio.run(handle.score([ROW], [RIGHT]))) == [1.0]
    ray.kill(first)
    assert rewards(asyncio.run(handle.score([ROW] * 20, [SQUARE] * 20))) == [0.0] * 20
    handle.close()


def test_detached_actors_outlive_all_who_use_them(cluster: Cluster) -> None:
    handle = RewardActors.shared(1, name="detached", detached=True)
    ray.cloudpickle.register_pickle_by_value(__import__(__name__))
    first = Trainer.remote(handle)
    assert ray.get(first.step.remote([RIGHT])) == [1.0]
    hub = ray.get_actor(handle._full_name, connection.NAMESPACE)._actor_id
    ray.kill(first)
    assert rewards(asyncio.run(handle.score([ROW], [RIGHT]))) == [1.0]
    assert ray.get_actor(handle._full_name, connection.NAMESPACE)._actor_id == hub
    handle.close()
    with pytest.raises(ValueError, match="Failed to look up actor"):
        ray.get_actor(handle._full_name, connection.NAMESPACE)
    handle.close()


@pytest.mark.compiler
def test_ioi_rows_on_a_cluster(cluster: Cluster, tmp_path: Path) -> None:
    tests = ioi_task.write(tmp_path / "tests.jsonl", ioi_task.test_rows())
    row = ioi_task.subtask_rows()[2]
    right, wrong = (f"```cpp\n{ioi_task.SOLUTIONS[name]}\n```" for name in ("right", "wrong"))
    with RayCluster(cluster.address) as judges:
        reward = make_ioi_reward(tests=str(tests), on=judges)
        columns = {name: [row[name]] * 3 for name in row}
        assert reward([right, wrong, "no code"], **columns) == [1.0, 0.0, 0.0]
        assert sum(node.judged for node in judges.nodes()) == 3


def test_lost_nodes_change_no_reward(cluster: Cluster) -> None:
    extra = clusters.add_node(cluster)
    with RewardActors(3, address=cluster.address, scoring="fraction") as actors:
        actors.nodes()

        async def lost_meanwhile() -> list[Any]:
            scoring = asyncio.create_task(actors.score([ROW] * 600, [RIGHT, SQUARE] * 300))
            await actors.score([ROW] * 50, [RIGHT] * 50)
            await asyncio.to_thread(cluster.remove_node, extra, False)
            return await scoring

        made = asyncio.run(lost_meanwhile())
    assert Counter(rewards(made)) == Counter([1.0, 0.5] * 300)
    assert rewards(made) == [1.0, 0.5] * 300
