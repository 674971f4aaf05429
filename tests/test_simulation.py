"""The simulation of many nodes (benchmarks/simulate.py) loses nothing, and is the same each time.

Its seconds are simulated: no load changes them. So it also holds the queue to what it is good for.
"""

from collections import Counter

import pytest
from simulation.workload import SCENARIOS
from simulation.world import GATHER, ROOM, Cluster, Run, World, simulate

from proctor.verdict import Verdict

SMALL = Cluster(nodes=8, cells=2)
COUNT = 600
DELAY = 120.0
"""Seconds; a program may run for 60 of them, twice if its node dies, and a death is missed in 30."""


def facts(run: Run) -> tuple[object, ...]:
    return run.seconds, run.driver, run.again, list(run.figures.ends), list(run.figures.waits)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_each_judgement_is_answered_once(scenario: str, seed: int) -> None:
    world = World(SMALL, COUNT, SCENARIOS[scenario], 20, seed)
    run = world.run()
    assert run.left == 0
    assert run.outcomes.total() == COUNT
    answered = [number for number in range(COUNT) if world.driver.is_answered(number)]
    assert len(answered) == len(run.figures.ends) == run.outcomes[Verdict.AC]
    assert not world.work.deadly & set(answered)
    assert (world.driver.dispatcher.waiting, run.figures.memory.now) == (0, 0)
    assert min(run.figures.waits) > 0
    assert 0 < run.driver < run.seconds


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_seed_decides_everything(scenario: str) -> None:
    first, again, other = (simulate(SMALL, COUNT, scenario, 5, seed) for seed in (1, 1, 2))
    assert facts(first) == facts(again)
    assert facts(first) != facts(other)


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ["slow", "spot", "wave", "deadly", "stalled"])
def test_faults_delay_a_run_by_minutes(scenario: str) -> None:
    cluster = Cluster(nodes=50)
    calm, run = (simulate(cluster, 10_000, each, 20) for each in ("calm", scenario))
    assert run.seconds < calm.seconds + DELAY
    assert run.outcomes == Counter(
        {Verdict.AC: 10_000 - run.outcomes[Verdict.INFRA_FAULT]}
    ) + Counter({Verdict.INFRA_FAULT: SCENARIOS[scenario].deadly})


def test_a_run_that_cannot_end_is_noticed() -> None:
    run = simulate(Cluster(nodes=1), COUNT, "stalled")
    assert run.left > 0
    assert run.left + run.outcomes.total() == COUNT


@pytest.mark.ray
@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning:ray")
def test_nodes_are_fed_as_on_ray() -> None:
    from proctor.integrations.ray import node, seat

    assert (seat.ROOM, node.GATHER) == (ROOM, GATHER)
