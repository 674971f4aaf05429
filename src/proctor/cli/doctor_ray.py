"""`proctor doctor --ray`."""

from collections.abc import Mapping

import msgspec
from rich.table import Table

from proctor.cli import terminal
from proctor.cli.screen import Screen, coloured
from proctor.integrations.ray import NodeState, RayCluster


def run(address: str | None, *, speed: bool, as_json: bool) -> int:
    """Print what each node of a cluster can do; returns 0 only if all of them judge."""
    with RayCluster(address) as cluster:
        nodes, speeds = cluster.nodes(), cluster.speeds() if speed else {}
    if as_json:
        terminal.write_json([
            {**msgspec.to_builtins(node), "speed": speeds.get(node.name, "")} for node in nodes
        ])  # fmt: skip
    else:
        _show(nodes, speeds)
    return 0 if nodes and all(node.facts is not None for node in nodes) else 1


def _show(nodes: list[NodeState], speeds: Mapping[str, str]) -> None:
    console = Screen(wide=True)
    table = Table(box=None, pad_edge=False)
    for heading in (
        "node",
        "address",
        "cells",
        "level",
        "Python",
        "kernel",
        "CPU",
        "proctor",
        "speed",
    ):
        table.add_column(heading, overflow="fold")
    for node in nodes:
        cells = [""] * 7
        if (facts := node.facts) is not None:
            cells = [
                facts.address, str(facts.cells), facts.level, facts.python, facts.kernel,
                facts.cpu, facts.proctor,
            ]  # fmt: skip
        table.add_row(node.name, *cells, speeds.get(node.name, ""))
    console.print(table)
    for node in nodes:
        if node.refused:
            console.print(coloured(f"{node.name} judges nothing: {node.refused}", "red"))
        elif node.facts is None:
            console.print(coloured(f"{node.name} has no free CPUs: others hold them", "yellow"))
        for gap in node.facts.gaps if node.facts is not None else ():
            console.print(f"{node.name}: {gap}")
    if not nodes:
        console.print(coloured("the cluster has no node with CPUs", "red"))
