"""Tens of thousands of judgements queued at once on a cluster or a fleet, with losses on request.

    python benchmarks/queued.py [--judgements 45000] [--kill 1] [--fleet]

Two Ray nodes of one CPU each, or three servers, on this machine. With `--kill N` a node's raylet,
or a server, is killed at N random moments, and another started. Says how often each judgement was
answered, how long they waited, and what memory driver and nodes had.
"""

import argparse
import collections
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from measure import processes

from proctor import JudgeSettings, Problem, Test

PROBLEMS = [
    Problem(f"double {n}", tuple(Test(f"{t}\n", f"{2 * t + n}\n") for t in range(3)))
    for n in range(64)
]


@contextmanager
def ray_cluster() -> Iterator[tuple[Any, Callable[[], None], Callable[[], int]]]:
    """Yield judges on two nodes, what kills one and starts another, and the bytes of actors."""
    from ray.cluster_utils import Cluster

    from proctor.integrations.ray import RayCluster

    small = 200 << 20
    head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": small}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    nodes = [cluster.add_node(num_cpus=1, object_store_memory=small) for _ in range(2)]

    def kill() -> None:
        cluster.remove_node(nodes.pop(0), allow_graceful=False)
        nodes.append(cluster.add_node(num_cpus=1, object_store_memory=small))

    def memory() -> int:
        return sum(map(_private, _named("ray::NodeActor")))

    try:
        with RayCluster(cluster.address) as judges:
            judges.nodes()
            yield judges, kill, memory
    finally:
        cluster.shutdown()


@contextmanager
def fleet() -> Iterator[tuple[Any, Callable[[], None], Callable[[], int]]]:
    """Yield judges on three servers, what kills one and starts it again, and the servers' bytes."""
    from proctor.clients.fleet import Fleet

    ports = [_free_port() for _ in range(3)]
    servers = {port: _serve(port) for port in ports}

    def kill() -> None:
        port = random.choice(ports)
        servers[port].kill()
        servers[port].wait()
        servers[port] = _serve(port)

    def memory() -> int:
        return sum(_private(each.pid) for each in servers.values())

    try:
        with Fleet(",".join(f"http://127.0.0.1:{port}" for port in ports)) as judges:
            yield judges, kill, memory
    finally:
        for each in servers.values():
            each.send_signal(signal.SIGTERM)
        for each in servers.values():
            each.wait()


def _free_port() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def _serve(port: int) -> subprocess.Popen[bytes]:
    argv = [str(Path(sys.executable).with_name("proctor")), "serve", "--port", str(port)]
    server = subprocess.Popen([*argv, "--cells", "1", "--json"], stdout=subprocess.PIPE)
    assert server.stdout is not None
    json.loads(server.stdout.readline())
    return server


def _named(name: str) -> list[int]:
    found = []
    for pid in processes(os.getpid()):
        try:
            if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(name.encode()):
                found.append(pid)
        except OSError:
            continue
    return found


def _private(pid: int) -> int:
    """Return the bytes of memory that a process shares with no other; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Private_"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgements", type=int, default=45_000)
    parser.add_argument("--kill", type=int, default=0)
    parser.add_argument("--fleet", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    random.seed(wanted.seed)
    with (fleet if wanted.fleet else ray_cluster)() as (judges, kill, memory):
        run(wanted, judges, kill, memory)


def run(wanted: Any, judges: Any, kill: Callable[[], None], memory: Callable[[], int]) -> None:
    """Queue all, and print what became of them."""
    count, answers = wanted.judgements, collections.Counter[int]()
    moments = sorted(random.sample(range(count // 10, count * 9 // 10), wanted.kill))
    verdicts: collections.Counter[str] = collections.Counter()
    began, done = time.monotonic(), threading.Event()
    settings = JudgeSettings()

    def note(index: int, future: Any) -> None:
        answers[index] += 1
        verdicts[future.result().verdict.value] += 1
        if len(answers) == count:
            done.set()

    for index in range(count):
        n = index % len(PROBLEMS)
        code = f"print(2 * int(input()) + {n})  # {index}"
        future = judges.start(PROBLEMS[n], code, settings)
        future.add_done_callback(lambda made, index=index: note(index, made))
    print(f"{count} queued in {time.monotonic() - began:.1f} s", flush=True)
    _show(len(answers), memory)
    marks = [count * part // 4 for part in (1, 2, 3)]
    while not done.wait(0.05):
        if moments and len(answers) >= moments[0]:
            print(f"at {moments.pop(0)}: one is killed, another started", flush=True)
            kill()
        if marks and len(answers) >= marks[0]:
            marks.pop(0)
            _show(len(answers), memory)
    wall = time.monotonic() - began
    _show(len(answers), memory)
    times = judges.queue_times
    print(
        f"{len(answers)} answered, at most {max(answers.values())} times each; {dict(verdicts)};"
        f" {judges.given_out_again} given out again; {count / wall:.0f}/s;"
        f" waited {times.total / times.count:.1f} s on average, {times.longest:.1f} s at most"
    )
    if set(answers.values()) != {1} or len(answers) != count or set(verdicts) != {"AC"}:
        sys.exit("NOT each was answered once and rightly")


def _show(answered: int, memory: Callable[[], int]) -> None:
    driver, nodes = _private(os.getpid()) / 1e6, memory() / 1e6
    print(
        f"{answered} answered: driver {driver:.0f} MB, nodes or servers {nodes:.0f} MB", flush=True
    )


if __name__ == "__main__":
    main()
