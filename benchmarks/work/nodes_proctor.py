"""LiveCodeBench rows on a Ray cluster of this machine. Usage: ... PROBLEMS PROGRAMS JUDGES.

JUDGES is `1` or `2` nodes, of one CPU and so one cell each, or without Ray `pool`, of one cell, or
`pools`, two of those in a process each. The argument of a request is a list of line numbers of
PROGRAMS.
"""

import json
import multiprocessing
import sys
from contextlib import ExitStack
from pathlib import Path

import loop

from proctor import JudgeSettings, judge_many, load_problems, open_pool

PROBLEMS, PROGRAMS, JUDGES = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
CHUNK = 8
"""Judgements that one of two pools is handed at once."""
rows = [json.loads(line) for line in PROGRAMS.read_text("utf-8").splitlines()]
problems = load_problems(PROBLEMS)
pools = []
"""This process's pool, once it is open."""


def open_cluster(stack):
    from ray.cluster_utils import Cluster

    from proctor.integrations.ray import RayCluster

    head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": 200 << 20}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    for _ in range(int(JUDGES)):
        cluster.add_node(num_cpus=1, object_store_memory=200 << 20)
    stack.callback(cluster.shutdown)
    judges = stack.enter_context(RayCluster(cluster.address))
    judges.nodes()
    return judges


def open_own_pool():
    pools.append(open_pool(cells=1).__enter__())


def judge(numbers, **judges):
    pairs = ((problems[rows[n]["question_id"]], rows[n]["code"]) for n in numbers)
    verdicts = [""] * len(numbers)
    for judged in judge_many(pairs, settings=JudgeSettings(stop="first"), **judges):
        verdicts[judged.index] = judged.judgement.verdict.value
    return verdicts


def judge_in_own_pool(numbers):
    return judge(numbers, pool=pools[0])


def judge_by_two(processes, numbers):
    chunks = (numbers[at : at + CHUNK] for at in range(0, len(numbers), CHUNK))
    return [verdict for each in processes.imap(judge_in_own_pool, chunks) for verdict in each]


def main():
    with ExitStack() as opened:
        if JUDGES == "pool":
            open_own_pool()
            opened.push(pools[0])
            loop.serve(judge_in_own_pool)
        elif JUDGES == "pools":
            # Without exit handlers the cells of a worker end with it, as they do by kill -9.
            context = multiprocessing.get_context("fork")
            processes = opened.enter_context(context.Pool(2, open_own_pool))
            loop.serve(lambda numbers: judge_by_two(processes, numbers))
        else:
            cluster = open_cluster(opened)
            loop.serve(lambda numbers: judge(numbers, on=cluster))


if __name__ == "__main__":
    main()
