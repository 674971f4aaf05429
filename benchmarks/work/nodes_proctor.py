"""LiveCodeBench rows on a Ray cluster of this machine. Usage: ... PROBLEMS PROGRAMS NODES.

A node has one CPU and so one cell; with 0 nodes a pool of one cell judges, without Ray. The
argument of a request is a list of line numbers of PROGRAMS.
"""

import json
import sys
from contextlib import ExitStack
from pathlib import Path

import loop

from proctor import JudgeSettings, judge_many, load_problems, open_pool

PROBLEMS, PROGRAMS, NODES = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
rows = [json.loads(line) for line in PROGRAMS.read_text("utf-8").splitlines()]
problems = load_problems(PROBLEMS)


def open_judges(stack):
    if NODES == 0:
        return {"pool": stack.enter_context(open_pool(cells=1))}
    from ray.cluster_utils import Cluster

    from proctor.integrations.ray import RayCluster

    head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": 200 << 20}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    for _ in range(NODES):
        cluster.add_node(num_cpus=1, object_store_memory=200 << 20)
    stack.callback(cluster.shutdown)
    judges = stack.enter_context(RayCluster(cluster.address))
    judges.nodes()
    return {"on": judges}


def job(numbers):
    pairs = ((problems[rows[n]["question_id"]], rows[n]["code"]) for n in numbers)
    verdicts = [""] * len(numbers)
    for judged in judge_many(pairs, settings=JudgeSettings(stop="first"), **judges):
        verdicts[judged.index] = judged.judgement.verdict.value
    return verdicts


with ExitStack() as opened:
    judges = open_judges(opened)
    loop.serve(job)
