"""Work to be judged: service times from a measured table, problems with sizes, and what goes wrong.

`service_times.json` has quantiles of CPU seconds per judgement (see service_times.py).
"""

import json
import math
import random
from bisect import bisect_right
from dataclasses import dataclass, field
from pathlib import Path

TABLE = Path(__file__).parent / "service_times.json"
PROBLEMS = 1055
"""Problems in LiveCodeBench's release_v6."""
MEDIAN, SPREAD, LARGEST = 0.3e6, 2.4, 50e6
"""Packed problems, in bytes: a lognormal distribution, cut off. Its sum for 1,055 problems is about
the 4.5 GB of release_v6's files."""
LONGEST = 60.0
"""Seconds beyond which `times` makes no program longer: what runs to a limit is stopped there."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """Things that go wrong."""

    about: str
    slow: float = 0.0
    """Share of nodes that take `slowness` times as long."""
    slowness: float = 5.0
    long: float = 0.0
    """Share of programs that run for 10 to 300 seconds (Pareto, 1.1)."""
    life: float = math.inf
    """Mean seconds until a node leaves."""
    noticed: float = 0.0
    """Share of leaving nodes of which the cluster knows that they were to go."""
    wave: float = 0.0
    """Share of nodes that leave at once, in the middle of the work, and again a little later."""
    rejoins: float = 120.0
    """Seconds after which another node comes for one that left."""
    deadly: int = 0
    """Judgements that kill their node, however often they are tried."""
    stalled: int = 0
    """Nodes that cease to answer early on, and are not known to be dead."""
    problems: bool = False
    """True if problems have sizes, and are to be sent to nodes."""
    shuffled: bool = False
    """True if judgements of a problem do not follow each other."""


SCENARIOS = {
    "calm": Scenario("nothing goes wrong"),
    "slow": Scenario("one node in twenty is five times slower", slow=0.05),
    "long": Scenario("one program in a hundred runs for 10 to 300 s", long=0.01),
    "spot": Scenario("nodes live ten minutes, half go without notice", life=600.0, noticed=0.5),
    "wave": Scenario("a third of the nodes goes without notice, then another third", wave=0.33),
    "deadly": Scenario("three judgements kill their node each time", deadly=3),
    "stalled": Scenario("a node stalls and is not known to be dead", stalled=1),
    "problems": Scenario("5 GB of problems, judgements ordered by problem", problems=True),
    "shuffled": Scenario("5 GB of problems, in any order", problems=True, shuffled=True),
    "all": Scenario(
        "all of it", slow=0.05, long=0.005, life=1200.0, noticed=0.5, deadly=2, stalled=1,
        problems=True,
    ),
}  # fmt: skip


@dataclass(slots=True)
class Workload:
    """Judgements by number."""

    seconds: list[float]
    """CPU seconds that a cell needs for each, on a node of usual speed."""
    problem: list[int]
    """Number of the problem of each."""
    sizes: list[float]
    """Bytes of each problem."""
    deadly: frozenset[int] = field(default_factory=frozenset)


def workload(count: int, scenario: Scenario, times: float, chance: random.Random) -> Workload:
    """Draw judgements. `times`: how many times the measured seconds their tests take."""
    table = json.loads(TABLE.read_text())
    shares, values = [row[0] for row in table["quantiles"]], [row[1] for row in table["quantiles"]]
    seconds = [_longer(_drawn(shares, values, chance.random()), times) for _ in range(count)]
    if scenario.long:
        for number in chance.sample(range(count), int(count * scenario.long)):
            seconds[number] = min(300.0, 10 * chance.paretovariate(1.1))
    kinds = min(PROBLEMS, count)
    problem = [number * kinds // count for number in range(count)]
    if scenario.shuffled:
        chance.shuffle(problem)
    sizes = [0.0] * kinds
    if scenario.problems:
        drawn = (chance.lognormvariate(math.log(MEDIAN), SPREAD) for _ in range(kinds))
        sizes = [min(each, LARGEST) for each in drawn]
    deadly = frozenset(chance.sample(range(count), min(scenario.deadly, count)))
    return Workload(seconds, problem, sizes, deadly)


def _drawn(shares: list[float], values: list[float], share: float) -> float:
    above = min(bisect_right(shares, share), len(shares) - 1)
    low, high = shares[above - 1], shares[above]
    part = (share - low) / (high - low)
    return values[above - 1] * (1 - part) + values[above] * part


def _longer(seconds: float, times: float) -> float:
    return min(seconds * times, max(seconds, LONGEST))
