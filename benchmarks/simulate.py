"""Judging on many nodes, simulated: queue times, idle cells, the driver's load, what is lost.

The queue is the real one (proctor.judging.dispatch), fed as judging on Ray feeds it; what is around
it takes measured times. SIMULATION.md has results and what they mean.
"""

import argparse
import logging
from dataclasses import replace

import report
from simulation.driver import Costs
from simulation.figures import percentile
from simulation.nodes import Wires
from simulation.workload import SCENARIOS
from simulation.world import GATHER, ROOM, Cluster, Run, simulate

from proctor.verdict import Verdict

HEAD = [
    "scenario", "nodes", "s", "ideal s", "wait s: mean", "p50", "p99", "max", "idle %",
    "while work waits", "wasted %", "first s", "tail s", "driver %", "Ray %", "a call", "in flight MB",
    "driver MB", "problems GB", "again", "faults", "never",
]  # fmt: skip


def row(scenario: str, nodes: int, run: Run) -> list[str]:
    figures = run.figures
    waits = sorted(figures.waits)
    ends = figures.ends
    made = len(ends) or 1
    tail = run.seconds - percentile(ends, 0.99)
    cells, seconds = figures.cells, run.seconds or 1.0
    return [
        scenario, str(nodes), f"{run.seconds:.1f}", f"{run.ideal:.1f}",
        f"{sum(waits) / made:.1f}",
        *(f"{percentile(waits, share):.1f}" for share in (0.5, 0.99, 1)),
        f"{100 * cells.idle:.0f}", f"{100 * figures.before.idle:.0f}",
        f"{100 * cells.wasted / cells.there:.1f}", f"{figures.first:.1f}", f"{tail:.1f}",
        f"{100 * run.driver / seconds:.0f}", f"{100 * figures.ray / seconds:.0f}",
        f"{2 * made / figures.calls:.1f}", f"{figures.flight.most / 1e6:.0f}",
        f"{figures.memory.most / 1e6:.0f}", f"{figures.sent / 1e9:.1f}", str(run.again),
        str(run.outcomes.get(Verdict.INFRA_FAULT, 0)), str(run.left),
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--cells", type=int, default=16, help="cells of each node")
    parser.add_argument("--judgements", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scenario", nargs="+", choices=[*SCENARIOS], default=[*SCENARIOS])
    parser.add_argument("--times", type=float, default=1.0, help="times the measured test seconds")
    parser.add_argument("--room", type=int, default=ROOM, help="judgements for each cell")
    parser.add_argument("--gather", type=float, default=GATHER, help="seconds")
    parser.add_argument("--bandwidth", type=float, default=10.0, help="Gbit/s of each machine")
    parser.add_argument("--latency", type=float, default=0.5, help="ms, one way")
    parser.add_argument("--free-driver", action="store_true", help="let the driver cost nothing")
    parser.add_argument("--markdown", action="store_true")
    given = parser.parse_args()
    logging.disable(logging.WARNING)  # of judgements given up: the table counts them
    rows = [HEAD]
    for scenario in given.scenario:
        for nodes in given.nodes:
            cluster = Cluster(
                nodes, given.cells, given.room, given.gather,
                wires=Wires(given.bandwidth * 1e9 / 8, given.latency / 1e3),
            )  # fmt: skip
            run = simulate(cluster, given.judgements, scenario, given.times, given.seed)
            rows.append(row(scenario, nodes, run))
            print("\t".join(rows[-1]), f"({run.took:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
