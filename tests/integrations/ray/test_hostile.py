"""Hostile parts of a cluster: nodes, jobs and drivers that send what no part of proctor's sends.

What Ray itself gives away is not tried: see "Ray" in docs/explanation/threat-model.md.
"""

import asyncio
import hashlib
from collections.abc import Iterator
from typing import Any

import clusters
import pytest
from ray.cluster_utils import Cluster

from proctor import Problem, Test, judge_many
from proctor.errors import PlatformError
from proctor.integrations.ray import RayCluster, RewardActors, connection
from proctor.integrations.ray.node import NodeActor
from proctor.integrations.ray.seat import unpacked_error
from proctor.judgement import Judgement
from proctor.judging.packed import pack
from proctor.verdict import Verdict

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("ignore:.*:DeprecationWarning:ray")]

ray = clusters.ray
SQUARE = Problem("square", (Test("3\n", "9\n"), Test("4\n", "16\n")))
RIGHT = "print(int(input()) ** 2)"
ROW = {"test_cases": [{"input": "2\n", "output": "4\n"}]}
REPLY = f"```python\n{RIGHT}\n```"
GRADE = (1.0, "AC", "")
WORDS = "answers what no actor of proctor's does"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    ray.cloudpickle.register_pickle_by_value(__import__(__name__))
    with clusters.started(1, 1) as made:
        ray.init(made.address, log_to_driver=False)
        yield made


class HostileNode(NodeActor):
    """A node's actor that answers what it likes, on the first of the nodes."""

    answers: Any = None

    async def finished(self, enough: int) -> Any:
        made = await super().finished(enough)
        return made if _spared() else self.answers


def _spared() -> bool:
    here = ray.get_runtime_context().get_node_id()
    return here != min(each["NodeID"] for each in ray.nodes() if each["Resources"].get("CPU"))


@pytest.mark.parametrize(
    "answers",
    [
        None,
        7,
        [None],
        [(0, b"no judgement", b"")],
        [(0, b"", b"no error")],
        [(0, b"")],
        [("0", b"", b"")],
        [(0, b"", b"\x81\xa5title" + b"\x91" * 100_000)],
    ],
    ids=["None", "number", "no answer", "judgement", "error", "short", "text", "deep"],
)
def test_a_node_that_answers_anything_is_left_out(
    answers: Any, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HostileNode, "answers", answers)
    monkeypatch.setattr(connection, "NodeActor", HostileNode)
    pairs = [(SQUARE, f"{RIGHT}  # {n}") for n in range(60)]
    with RayCluster(cluster.address) as judges:
        judges.nodes()
        found = [each.judgement for each in judge_many(pairs, on=judges)]
        refused = [each.refused for each in judges.nodes() if each.refused]
    assert [each.verdict for each in found] == [Verdict.AC] * 60
    assert len(refused) == 1
    assert WORDS in refused[0]


def test_a_node_answers_for_its_own_work_alone(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers for judgements that it does not have, or that it gave before, are not heard."""
    lies = [(n, _packed_lie(), b"") for n in range(1_000, 1_100)]

    class Liar(NodeActor):
        async def finished(self, enough: int) -> Any:
            made = await super().finished(enough)
            return made if _spared() else [*lies, *made, *made]

    monkeypatch.setattr(connection, "NodeActor", Liar)
    pairs = [(SQUARE, f"print({n})") for n in range(60)]
    with RayCluster(cluster.address) as judges:
        found = [each.judgement.verdict for each in judge_many(pairs, on=judges)]
    assert found == [Verdict.WA] * 60


def _packed_lie() -> bytes:
    return pack(Judgement(Verdict.AC, 1.0, ()))


@ray.remote(num_cpus=0)
class HostileHub:
    """An actor that another job started under the name of a hub."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    async def score(self, *_what: Any) -> Any:
        return self.answer


@pytest.mark.parametrize(
    "answer",
    [
        None,
        (1, [GRADE], b""),
        (1, [GRADE] * 3, b""),
        (1, [GRADE, ("1", "AC", "")], b""),
        (1, [GRADE, (float("nan"), "AC", "")], b""),
        (1, [GRADE, (1.0, "well done", "")], b""),
        (1, [GRADE, (None, "AC", "")], b""),
        (1, [GRADE, (1.0, "INFRA_FAULT", "")], b""),
        (1, [], b"no error"),
        ("many", [GRADE] * 2, b""),
    ],
)
def test_grades_that_no_hub_gives_are_none(answer: Any, cluster: Cluster) -> None:
    handle = RewardActors.shared(1, name="taken")
    hub = HostileHub.options(name=handle._full_name, namespace=connection.NAMESPACE).remote(answer)
    try:
        with pytest.raises(PlatformError, match=f"the actor taken-.* {WORDS}"):
            asyncio.run(handle.score([ROW] * 2, [REPLY] * 2))
    finally:
        ray.kill(hub)


def test_a_driver_that_sends_anything_harms_no_other(cluster: Cluster) -> None:
    actor = connection.start_actor(None, 1, {}, None)
    try:
        ray.get(actor.open.remote())
        for data in (b"no problem", pack(SQUARE)):
            digest = hashlib.sha256(data).hexdigest()
            with pytest.raises(connection.Raised, match="is not"):
                ray.get(actor.take.remote([], [digest], data if data == b"no problem" else b""))
        ray.get(actor.take.remote([(1, digest, b"no payload")], [digest], data))
        (answer,) = ray.get(actor.finished.remote(1))
        assert answer.id == 1
        assert unpacked_error(answer.error, "it")
        for junk in ([None], [(1,)], 7):
            with pytest.raises(connection.Raised):
                ray.get(actor.take.remote(junk, []))
        version, error = ray.get(actor.version_of.remote("python"))
        assert version
        assert not error
    finally:
        connection.kill_actor(actor)
