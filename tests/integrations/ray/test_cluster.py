"""Judging on Ray: the same verdicts, each once, whatever happens to nodes."""

import json
import os
import signal
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any, get_type_hints

import clusters
import pytest
from ray.cluster_utils import Cluster

import proctor
from proctor import InputError, Program, judge_many
from proctor.errors import PoolClosed, Unreachable, UsageError
from proctor.formats.livecodebench import load_problems
from proctor.grading import Checker, Convention
from proctor.integrations.ray import RayCluster, connection
from proctor.integrations.ray.node import Answer, NodeActor
from proctor.judgement import Judgement
from proctor.judging.settings import JudgeSettings
from proctor.limits import Limits
from proctor.prediction import CallTask
from proctor.problem import Interactive, Problem, Subtask, Test
from proctor.verdict import Verdict
from waiting import PATIENCE

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("ignore:.*:DeprecationWarning:ray")]

BUNDLED = Path(proctor.__file__).parent / "bundled"
SQUARE = Problem("square", (Test("3\n", "9\n"), Test("4\n", "16\n")))
RIGHT = "print(int(input()) ** 2)"
ACCEPT = '#include <cstdio>\nint main(int, char** a) { return fopen(a[2], "r") ? 0 : 1; }\n'
ECHO = """
import sys
print(7, flush=True)
sys.exit(42 if input() == "8" else 43)
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with clusters.started(1, 1) as made:
        yield made


@pytest.fixture
def judges(cluster: Cluster) -> Iterator[RayCluster]:
    with RayCluster(cluster.address) as opened:
        yield opened


def labelled() -> list[tuple[dict[str, Any], Problem, Program]]:
    text = (BUNDLED / "programs.jsonl").read_text()
    rows = [json.loads(line) for line in text.splitlines()]
    problems = load_problems(BUNDLED / "problems.jsonl", {row["question_id"] for row in rows})
    return [(row, problems[row["question_id"]], Program(row["code"])) for row in rows]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", ["standard", "official"])
def test_verdicts_are_those_of_this_machine(judges: RayCluster, mode: Any) -> None:
    rows, settings = labelled(), JudgeSettings(mode, Limits(cpu=0.5))
    found: list[Any] = [None] * len(rows)
    for each in judge_many(((p, c) for _, p, c in rows), settings=settings, on=judges):
        assert found[each.index] is None
        found[each.index] = each.judgement
    assert [each.verdict.value for each in found] == [row["label"][mode] for row, _, _ in rows]
    nodes = {node.facts.id: node.facts for node in judges.nodes() if node.facts is not None}
    for each in found:
        assert nodes[each.machine.id].cpu == each.machine.cpu
        assert each.isolation is None or each.isolation.level == nodes[each.machine.id].level
        assert (each.upstream is not None) == (mode == "official")


@pytest.mark.compiler
def test_all_kinds_of_problems_travel(judges: RayCluster) -> None:
    cpp = Program(
        "#include <iostream>\nint main() { int n; std::cin >> n; std::cout << n * n; }", "cpp"
    )
    pointed = Problem(
        "points", (Test("1", "1", name="a"), Test("2", "5", name="b")),
        subtasks=(Subtask("s", 30.0, ("a",)), Subtask("t", 70.0, ("b",))),
    )  # fmt: skip
    checked = Problem(
        "checked", (Test("1", "2"),), grading=Checker(Program(ACCEPT, "cpp"), Convention.EXIT_CODE)
    )
    talk = Problem("talk", (Test(""),), running=Interactive(Program(ECHO), Convention.KATTIS))
    call = CallTask("def f(n):\n    return n + 1", "f", "f(1)", "2")
    pairs = [
        (SQUARE, cpp),
        (SQUARE, "print(1)"),
        (pointed, cpp),
        (checked, Program("print(5)")),
        (talk, Program("print(int(input()) + 1)")),
        (talk, Program("print(int(input()) + 2)")),
        (Problem("value", (), running=call), Program("2")),
        (Problem("value", (), running=call), Program("3")),
        (Problem("empty", ()), Program("2")),
        (Problem("function", (Test("2", "4"),), function="f"), Program("def f(x): return x * 2")),
    ]
    found = {each.index: each.judgement for each in judge_many(pairs, on=judges)}
    here = {each.index: each.judgement for each in judge_many(pairs)}
    assert [found[n].verdict for n in range(10)] == [here[n].verdict for n in range(10)]
    assert [each.verdict for each in found.values()].count(Verdict.AC) == 5
    assert found[2].points == here[2].points == 30.0
    assert found[2].subtasks == here[2].subtasks


def test_one_bad_item_costs_no_other(judges: RayCluster) -> None:
    pairs: list[Any] = [(SQUARE, RIGHT)] * 4
    pairs[1] = (SQUARE, Program("x", "no-such"))
    pairs[2] = (SQUARE, 5)
    made: list[int] = []
    with pytest.raises(InputError) as raised:
        made.extend(each.index for each in judge_many(pairs, on=judges))
    assert sorted(made) == [0, 3]
    assert "not judged: pairs 1, 2" in raised.value.__notes__[0]


def test_a_problem_goes_to_each_node_once(judges: RayCluster, monkeypatch: Any) -> None:
    put: list[int] = []
    real = connection.put
    monkeypatch.setattr(judges._problems, "_put", lambda data: put.append(len(data)) or real(data))
    big = Problem("big", (Test("3\n", "9\n"), Test("x" * 4_000_000, "y")))
    verdicts = [j.judgement.verdict for j in judge_many([(big, RIGHT)] * 50, on=judges)]
    assert verdicts == [Verdict.RE] * 50
    assert len(put) == 1


def test_versions_are_those_of_the_nodes(judges: RayCluster) -> None:
    assert judges.version_of("python").startswith("3.")
    with pytest.raises(InputError, match="no-such"):
        judges.version_of("no-such")


def test_a_level_that_a_node_cannot_give_leaves_out_that_node(cluster: Cluster) -> None:
    weak = clusters.add_node(cluster, PROCTOR_ISOLATION="landlock")
    try:
        with RayCluster(cluster.address, min_isolation="namespaces") as judges:
            nodes = judges.nodes()
            (refused,) = [node for node in nodes if node.refused]
            assert refused.facts is None
            assert "landlock" in refused.refused
            assert len([node for node in nodes if node.facts is not None]) == 2
            made = list(judge_many([(SQUARE, RIGHT)] * 30, on=judges))
        assert {each.judgement.verdict for each in made} == {Verdict.AC}
        names = {f"node {j.judgement.machine.id[:12]}" for j in made if j.judgement.machine}
        assert refused.name not in names
    finally:
        cluster.remove_node(weak)


def test_where_no_node_can_judge_the_error_names_each(cluster: Cluster) -> None:
    with RayCluster(cluster.address, isolation="container") as judges:
        future = judges.start(SQUARE, RIGHT, JudgeSettings())
        with pytest.raises(Unreachable) as raised:
            future.result(PATIENCE)
        for node in judges.nodes():
            assert node.refused
            assert node.name in str(raised.value)


def test_wrong_use_is_told() -> None:
    with pytest.raises(UsageError, match="no Ray cluster answers at"):
        RayCluster("127.0.0.1:1")
    with pytest.raises(UsageError, match="must be at least 1"):
        RayCluster(cpus=0)


def test_closing_ends_what_waits(cluster: Cluster) -> None:
    judges = RayCluster(cluster.address)
    judges.nodes()
    slow = [judges.start(SQUARE, "while True: pass", JudgeSettings()) for _ in range(100)]
    judges.close()
    for future in slow:
        with pytest.raises(PoolClosed):
            future.result(0)
    with pytest.raises(PoolClosed):
        judges.start(SQUARE, RIGHT, JudgeSettings())
    judges.close()


COUNT = 800


@pytest.mark.sampled(2)
@pytest.mark.parametrize("moment", [30, 400])
def test_killed_nodes_lose_nothing_and_double_nothing(cluster: Cluster, moment: int) -> None:
    """A node's raylet is killed as by a machine that goes; another joins later."""
    extra = clusters.add_node(cluster)
    pairs = ((SQUARE, f"print(int(input()) ** 2)  # {n}") for n in range(COUNT))
    seen: Counter[int] = Counter()
    with RayCluster(cluster.address) as judges:
        assert len([node for node in judges.nodes() if node.facts]) == 3
        for each in judge_many(pairs, on=judges):
            seen[each.index] += 1
            assert each.judgement.verdict is Verdict.AC
            if seen.total() == moment:
                cluster.remove_node(extra, allow_graceful=False)
            if seen.total() == moment + 100:
                extra = clusters.add_node(cluster)
        assert judges.queue_times.count == COUNT + judges.given_out_again
        if moment < COUNT - 100:
            assert judges.given_out_again > 0
    cluster.remove_node(extra)
    assert seen == Counter(range(COUNT))


class DyingActor(NodeActor):
    """A node that a certain program brings down, and another makes unfit."""

    def _start(self, digest: str, payload: bytes) -> Future[Judgement]:
        if b"brings down every node" in payload:
            os.kill(os.getpid(), signal.SIGKILL)
        return super()._start(digest, payload)


def test_so_many_actors_wherever_there_is_room(cluster: Cluster) -> None:
    with RayCluster(cluster.address, actors=2, cpus=1) as judges:
        assert [each.name for each in judges.nodes()] == ["actor 0", "actor 1"]
        made = [each.judgement for each in judge_many([(SQUARE, RIGHT)] * 60, on=judges)]
        assert {each.verdict for each in made} == {Verdict.AC}
        assert sum(each.judged for each in judges.nodes()) == 60


def test_what_kills_every_node_is_stopped(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    clusters.ray.cloudpickle.register_pickle_by_value(__import__(__name__))
    monkeypatch.setattr(connection, "NodeActor", DyingActor)
    pairs = [(SQUARE, f"{RIGHT}  # {n}") for n in range(200)]
    pairs[50] = (SQUARE, "print()  # brings down every node")
    with RayCluster(cluster.address) as judges:
        found = {each.index: each.judgement for each in judge_many(pairs, on=judges)}
        # (On a busy machine a node may not have started before the others are done.)
        assert not any(node.refused for node in judges.nodes())
    assert len(found) == 200
    assert found.pop(50).verdict is Verdict.INFRA_FAULT
    assert {each.verdict for each in found.values()} == {Verdict.AC}


def test_answers_of_nodes_are_read_as_bytes() -> None:
    """Nothing that is sent either way is an object of ours that would be unpickled."""
    assert set(get_type_hints(Answer).values()) == {int, bytes}
