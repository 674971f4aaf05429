"""Judging on many nodes, simulated: queue times, idle cells, the driver's load, what is lost.

The queue is the real one (proctor.judging.dispatch), fed as judging on Ray feeds it; what is around
it takes measured times. SIMULATION.md has results, what they mean, and what the columns are.
"""

import argparse
import logging
import time

from simulation.driver import FREE, Costs
from simulation.figures import percentile
from simulation.nodes import Wires
from simulation.workload import SCENARIOS
from simulation.world import GATHER, ROOM, Cluster, Run, simulate

from proctor.verdict import Verdict

HEAD = [
    "scenario", "nodes", "s", "ideal s", "wait s", "p50", "p99", "max", "idle %", "with work %",
    "wasted %", "first s", "tail s", "driver %", "Ray %", "a call", "in flight MB", "driver MB",
    "problems GB", "again", "faults", "never",
]  # fmt: skip


def row(scenario: str, nodes: int, run: Run) -> list[str]:
    figures, cells, before = run.figures, run.figures.cells, run.figures.before
    waits, ends, seconds = sorted(figures.waits), figures.ends, run.seconds or 1.0
    made = len(ends) or 1
    return [
        scenario, str(nodes), f"{run.seconds:.0f}", f"{run.ideal:.0f}", f"{sum(waits) / made:.1f}",
        *(f"{percentile(waits, share):.1f}" for share in (0.5, 0.99, 1)),
        f"{100 * cells.idle:.0f}", f"{100 * before.idle:.0f}",
        f"{100 * cells.wasted / cells.there:.1f}", f"{figures.first:.1f}",
        f"{run.seconds - percentile(ends, 0.99):.0f}",
        f"{100 * run.driver / seconds:.0f}", f"{100 * figures.ray / seconds:.0f}",
        f"{2 * made / figures.calls:.1f}", f"{figures.flight.most / 1e6:.0f}",
        f"{figures.memory.most / 1e6:.0f}", f"{figures.sent / 1e9:.0f}", str(run.again),
        str(run.outcomes.get(Verdict.INFRA_FAULT, 0)), str(run.left),
    ]  # fmt: skip


def main() -> None:
    about = "; ".join(f"{name}: {each.about}" for name, each in SCENARIOS.items())
    parser = argparse.ArgumentParser(description=__doc__, epilog=f"Scenarios: {about}.")
    parser.add_argument("--nodes", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--cells", type=int, default=16, help="cells of each node")
    parser.add_argument("--judgements", type=int, default=45_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scenario", nargs="+", choices=[*SCENARIOS], default=[*SCENARIOS])
    parser.add_argument("--times", type=float, default=1.0, help="times the measured test seconds")
    parser.add_argument("--room", type=int, default=ROOM, help="judgements of a node for each cell")
    parser.add_argument("--gather", type=float, default=GATHER, help="seconds that answers wait")
    parser.add_argument("--bandwidth", type=float, default=10.0, help="Gbit/s of each machine")
    parser.add_argument("--latency", type=float, default=0.5, help="milliseconds, one way")
    parser.add_argument("--free-driver", action="store_true", help="let the driver cost nothing")
    given = parser.parse_args()
    logging.disable(logging.WARNING)  # of judgements given up, which the table counts
    print("|", " | ".join(HEAD), "|")
    print("|---|", "---:|" * (len(HEAD) - 1), sep="", flush=True)
    begun = time.perf_counter()
    costs = FREE if given.free_driver else Costs()
    wires = Wires(given.bandwidth * 1e9 / 8, given.latency / 1e3)
    for scenario in given.scenario:
        for nodes in given.nodes:
            cluster = Cluster(nodes, given.cells, given.room, given.gather, costs, wires)
            run = simulate(cluster, given.judgements, scenario, given.times, given.seed)
            print("|", " | ".join(row(scenario, nodes, run)), "|", flush=True)
    print(f"\n{given.judgements} judgements each, simulated in {time.perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
