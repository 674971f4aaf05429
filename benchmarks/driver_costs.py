"""CPU of the driver of judging on Ray, for each judgement: defaults of the simulation's Costs.

All of the driver is real (the loop of `proctor judge`, results file, queue, calls), the nodes'
actors too but for their cells: a stand-in answers after a while with judgements that were made
before. Hundreds of such nodes share two processes. Needs Ray, and PROCTOR_TEST_DATA.
"""

import argparse
import asyncio
import heapq
import json
import statistics
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from measure import data_directory

from proctor import JudgeSettings, Program, judge_many, load_problems
from proctor.evals.durable import DurableRun, FinishedEntry
from proctor.formats.programs import SubmittedProgram
from proctor.formats.results import Digests, ResultsFile, judgement_row
from proctor.judgement import Judgement, Machine
from proctor.judging.packed import pack, unpack
from proctor.judging.remote import PackedProblems, payload_of
from proctor.problem import Problem, Test
from proctor.version import __version__

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Ray's own
    import ray
    from ray.cluster_utils import Cluster

from proctor.integrations.ray import RayCluster, connection
from proctor.integrations.ray import node as node_module
from proctor.integrations.ray.connection import RayNode
from proctor.integrations.ray.node import NodeActor, NodeFacts

CELLS = 16
PROCESSES = 2
STORE = 200 << 20


class StandInCells:
    """Cells that wait instead of judging, and answer with the same judgements in turn."""

    def __init__(self, seconds: float, made: list[Judgement]) -> None:
        self._free, self._seconds, self._made = [0.0] * CELLS, seconds, made
        self._loop, self._count = asyncio.get_running_loop(), 0

    def start(self, *_: object) -> "Future[Judgement]":
        future: Future[Judgement] = Future()
        future.set_running_or_notify_cancel()
        end = max(self._loop.time(), heapq.heappop(self._free)) + self._seconds
        heapq.heappush(self._free, end)
        self._count += 1
        made = self._made[self._count % len(self._made)]
        self._loop.call_at(end, future.set_result, made)
        return future


class Host:
    """A process with the actors of many nodes."""

    def __init__(self, seconds: float, gather: float, packed: list[bytes]) -> None:
        self._seconds, self._made = seconds, [unpack(each, Judgement) for each in packed]
        self._nodes: dict[str, NodeActor] = {}
        node_module.GATHER = gather

    async def open(self, name: str) -> tuple[bytes, bytes]:
        node = self._nodes[name] = NodeActor(CELLS, {}, None)
        node._judges = StandInCells(self._seconds, self._made)  # noqa: SLF001 - the only stand-in
        facts = NodeFacts(name, "", "", "", CELLS, "namespaces", (), "", "", __version__)
        return pack(facts), b""

    async def take(self, name: str, *given: Any) -> list[str]:
        return await self._nodes[name].take(*given)

    async def finished(self, name: str, enough: int) -> Any:
        return await self._nodes[name].finished(enough)


@dataclass
class Call:
    """A method of one of a host's nodes."""

    method: Any
    name: str
    calls: list[str]

    def remote(self, *given: Any) -> Any:
        self.calls.append(self.name)
        return self.method.remote(self.name, *given)


class Handle:
    """A node's actor as its seat sees it."""

    def __init__(self, host: Any, name: str, calls: list[str]) -> None:
        self.open, self.take, self.finished = (
            Call(getattr(host, each), name, calls) for each in ("open", "take", "finished")
        )


def recorded() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The problems, and the rows of programs."""
    home = data_directory()
    if home is None or not (home / "livecodebench").is_dir():
        sys.exit("PROCTOR_TEST_DATA names no folder with livecodebench")
    rows = (home / "livecodebench/programs.jsonl").read_text().splitlines()
    return load_problems(home / "livecodebench/problems.jsonl"), [json.loads(row) for row in rows]


def threads() -> dict[str, float]:
    """CPU seconds of the main thread, of the event loop's, and of all of Ray's."""
    names = {each.native_id: each.name for each in threading.enumerate()}
    found = {"MainThread": 0.0, "proctor-client": 0.0, "Ray": 0.0}
    for task in Path("/proc/self/task").iterdir():
        name = names.get(int(task.name), "Ray")
        seconds = int((task / "schedstat").read_text().split()[0]) / 1e9
        found[name if name in found else "Ray"] += seconds
    return found


def drive(judges: RayCluster, entries: Iterator[SubmittedProgram], problems: Any) -> int:
    """Judge entries as `proctor judge --ray` does; returns how many."""
    digests = Digests({})
    settings = JudgeSettings()

    def start(entry: SubmittedProgram) -> Future[Judgement]:
        return judges.start(problems[entry.question_id], Program(entry.code), settings)

    def finish(
        entry: SubmittedProgram, future: Future[Judgement]
    ) -> FinishedEntry[SubmittedProgram]:
        judgement = future.result()
        digest = digests.of(problems[entry.question_id], entry.code)
        row = judgement_row(entry, judgement, digest=digest)
        return FinishedEntry(entry, judgement.verdict, row)

    with tempfile.TemporaryDirectory() as place, ResultsFile(Path(place, "rows"), {}) as results:
        run = DurableRun(start, finish, lambda: judges.at_once, results)
        return sum(map(len, run.run(entries)))


def load(address: str, nodes: int, judgements: int, given: argparse.Namespace) -> None:
    """Judge on so many nodes, and print what it cost."""
    problems, rows = recorded()
    pairs = [(problems[row["question_id"]], row["code"]) for row in rows[::19]]
    machine = Machine("node 0123456789ab", "Some CPU @ 2.00GHz")
    packed = [pack(replace(each.judgement, machine=machine)) for each in judge_many(pairs)]
    kind = ray.remote(Host).options(num_cpus=1, max_concurrency=10_000)
    hosts = [kind.remote(given.seconds, given.gather, packed) for _ in range(PROCESSES)]
    made = {str(number): RayNode(str(number), "", CELLS) for number in range(nodes)}
    calls: list[str] = []
    connection.alive_nodes = lambda: made
    connection.kill_actor = lambda _actor: None
    connection.start_actor = lambda node, *_: Handle(
        hosts[int(node.id) % PROCESSES], node.id, calls
    )
    with RayCluster(address) as judges:
        judges.nodes()
        entries = (
            SubmittedProgram(
                row=number, question_id=row["question_id"], code=row["code"], index=0,
                language="python", extra={},
            )
            for number in range(judgements)
            for row in [rows[number % len(rows)]]
        )  # fmt: skip
        calls.clear()
        before, begun = threads(), time.monotonic()
        count = drive(judges, entries, problems)
        spent = {name: cpu - before[name] for name, cpu in threads().items()}
        took = time.monotonic() - begun
    shown = ", ".join(f"{name} {1e6 * cpu / count:.0f}" for name, cpu in spent.items())
    a_call = f"{len(calls) / count:.3f} calls a judgement"
    print(f"{nodes} nodes: {count} judgements in {took:.1f} s, {a_call}; µs each: {shown}")
    for host in hosts:
        ray.kill(host)


def parts() -> None:
    """Print what single steps cost."""
    problems, rows = recorded()
    settings = JudgeSettings()
    programs = [Program(row["code"]) for row in rows]
    pairs = [(problems[row["question_id"]], row["code"]) for row in rows[::19]]
    packed = [pack(each.judgement) for each in judge_many(pairs)]

    def timed(what: str, each: Any, values: list[Any]) -> None:
        rounds = []
        for _ in range(9):
            begun = time.process_time()
            for value in values:
                each(value)
            rounds.append((time.process_time() - begun) / len(values))
        print(f"{what}: {1e6 * statistics.median(rounds):.1f} µs")

    payloads = [len(payload_of(program, settings, None)) for program in programs]
    print(f"packed program: {statistics.mean(payloads):.0f} bytes on average")
    print(f"packed judgement: {statistics.mean(map(len, packed)):.0f} bytes on average")
    timed("pack a program", lambda program: payload_of(program, settings, None), programs)
    timed("unpack a judgement", lambda data: unpack(data, Judgement), packed * 20)
    tests = tuple(Test(str(number) * 20_000, "1\n" * 1000) for number in range(100))
    begun = time.process_time()
    size = len(PackedProblems().get(Problem("large", tests)).data)
    a_byte = 1e9 * (time.process_time() - begun) / size
    print(f"pack a problem of {size / 1e6:.0f} MB: {a_byte:.1f} ns a byte")
    begun = time.process_time()
    for _ in range(100):
        ray.nodes()
    cost, there = (time.process_time() - begun) / 100, len(ray.nodes())
    print(f"look at {there} nodes: {1e6 * cost:.0f} µs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="*", default=[10, 100])
    parser.add_argument("--judgements", type=int, default=40_000)
    parser.add_argument("--seconds", type=float, default=0.05, help="that each takes in a cell")
    parser.add_argument("--gather", type=float, default=0.25, help="as in the actor")
    given = parser.parse_args()
    head = {"num_cpus": PROCESSES, "object_store_memory": STORE, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        ray.init(address=cluster.address, log_to_driver=False)
        parts()
        for nodes in given.nodes:
            load(cluster.address, nodes, given.judgements, given)
    finally:
        ray.shutdown()
        cluster.shutdown()


if __name__ == "__main__":
    main()
