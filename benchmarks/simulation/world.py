"""A simulated run: nodes that join, leave, stall and die, and the driver until all is judged."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import dataclass, field

from proctor.judging.dispatch import Site
from proctor.verdict import Verdict
from simulation.driver import Costs, Driver, Seat
from simulation.events import Events
from simulation.figures import Cells, Figures
from simulation.nodes import Network, Node, Wires
from simulation.workload import SCENARIOS, Scenario, workload

ROOM, GATHER = 32, 0.25
"""Those of integrations/ray, which would want Ray; a test compares them."""
OPENING = 5.0
"""Seconds in which a node opens its pool; those there at the begin have opened theirs."""
NOTED = 30.0
"""Seconds until a dead node is missed, by Ray's health checks; one that was to go is so at once."""
NEVER = 3600.0
"""Seconds without any answer after which a run is over: the rest never comes."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster, and how it is used."""

    nodes: int
    cells: int = 16
    """Cells of each node."""
    room: int = ROOM
    """Judgements that a node has at once, for each of its cells."""
    gather: float = GATHER
    costs: Costs = field(default_factory=Costs)
    wires: Wires = field(default_factory=Wires)


@dataclass(slots=True)
class Run:
    """Result of a run."""

    figures: Figures
    seconds: float
    """Until the last row was written, or no more came."""
    ideal: float
    """The same if all cells of the begin had been busy until the end."""
    driver: float
    """CPU seconds under the interpreter's lock."""
    again: int
    outcomes: Counter[Verdict]
    left: int
    """Judgements that never ended."""


class World:
    """All that happens in one run."""

    def __init__(
        self, cluster: Cluster, judgements: int, scenario: Scenario, times: float, seed: int
    ) -> None:
        self._cluster, self._scenario = cluster, scenario
        self._chance = random.Random(seed)
        self.events, self.figures = Events(), Figures()
        self.work = workload(judgements, scenario, times, self._chance)
        self._network = Network(cluster.wires, self.events, self.figures, self._chance)
        self.driver = Driver(self.work, cluster.costs, self.events, self._network, self.figures)
        self._nodes: list[Node] = []
        self._seats: dict[Node, Seat] = {}
        count = math.ceil(scenario.slow * cluster.nodes)
        slow = set(self._chance.sample(range(cluster.nodes), count))
        for number in range(cluster.nodes):
            self._join(scenario.slowness if number in slow else 1.0)
        self.ideal = sum(self.work.seconds) / sum(
            cluster.cells / node.slowness for node in self._nodes
        )
        for node in self._chance.sample(self._nodes, min(scenario.stalled, cluster.nodes)):
            self.events.after(0.2 * self.ideal, self._stall, node)
        if scenario.wave:
            for share in (0.4, 0.6):
                self.events.after(share * self.ideal, self._wave)

    def run(self) -> Run:
        """Let time pass until all is judged, or nothing happens any more."""
        driver, figures = self.driver, self.figures
        latest, answered, unmarked = 0.0, 0, True
        while driver.left and self.events.now - latest < NEVER and self.events.step():
            if len(figures.ends) > answered:
                answered, latest = len(figures.ends), self.events.now
            if unmarked and driver.all_given:
                unmarked, figures.before = False, self._cells()
        figures.cells = self._cells()
        seconds = latest if driver.left else self.events.now
        return Run(
            figures, seconds, self.ideal, driver.core.busy, driver.dispatcher.again,
            driver.outcomes, driver.left,
        )  # fmt: skip

    def _cells(self) -> Cells:
        """Seconds of cells so far, those of judgements that are not answered yet included."""
        now = self.events.now
        cells = Cells(0.0, self.figures.cells.judged, self.figures.cells.wasted)
        for node in self._nodes:
            cells.there += node.cells * ((now if node.left is None else node.left) - node.joined)
            if not node.silent:
                for number, begun in node.running.items():
                    if self.driver.is_answered(number):
                        cells.wasted += now - begun
                    else:
                        cells.judged += now - begun
        return cells

    def _join(self, slowness: float) -> None:
        name = str(len(self._nodes))
        cluster = self._cluster
        node = Node(
            cluster.cells, slowness, cluster.gather, self.work, self.events, self.figures,
            self._network, lambda node: self._leave(node, noticed=False), joined=self.events.now,
        )  # fmt: skip
        self._nodes.append(node)
        site = Site(name, cluster.cells, cluster.cells * cluster.room)
        self._seats[node] = Seat(site, node)
        self.driver.join(self._seats[node])
        if self._scenario.life < math.inf:
            noticed = self._chance.random() < self._scenario.noticed
            life = self._chance.expovariate(1 / self._scenario.life)
            self.events.after(life, self._leave, node, noticed)

    def _leave(self, node: Node, noticed: bool) -> None:
        if node.left is not None:
            return
        now = self.events.now
        self.figures.cells.wasted += sum(now - begun for begun in node.running.values())
        node.leave()
        seat = self._seats[node]
        self.events.after(0.0 if noticed else NOTED, self.driver.lose, seat, noticed)
        self.events.after(self._scenario.rejoins + OPENING, self._join, node.slowness)

    def _stall(self, node: Node) -> None:
        node.silent = True

    def _wave(self) -> None:
        there = [node for node in self._nodes if node.left is None]
        for node in self._chance.sample(there, round(self._scenario.wave * len(there))):
            self._leave(node, noticed=False)


def simulate(
    cluster: Cluster, judgements: int, scenario: str = "calm", times: float = 1.0, seed: int = 1
) -> Run:
    """Judge so many on a cluster. `times`: how many times the measured seconds tests take."""
    return World(cluster, judgements, SCENARIOS[scenario], times, seed).run()
