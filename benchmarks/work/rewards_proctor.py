"""Rewards by proctor. Usage: ... DATA actors|shared|pool; jobs are [prompts, endless ones].

`actors` and `shared` have a Ray cluster of two nodes with a CPU each, here.
"""

import asyncio
import sys

import loop
import reward_samples

from proctor import open_pool
from proctor.integrations.grading import CompletionGrader
from proctor.limits import Limits

HOME, WAY = sys.argv[1:]
OPTIONS = {"scoring": "fraction", "limits": Limits(cpu=5.0)}
ready = {}


def opened():
    if WAY == "pool":
        return CompletionGrader(pool=open_pool(cells=2), **OPTIONS).grade_async
    import ray
    from ray.cluster_utils import Cluster

    from proctor.integrations.ray import RewardActors

    cluster = Cluster(True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    for _ in range(2):
        cluster.add_node(num_cpus=1)
    ray.init(cluster.address, log_to_driver=False)
    if WAY == "shared":
        return RewardActors.shared(2, **OPTIONS).score
    actors = RewardActors(2, **OPTIONS)
    actors.nodes()
    return actors.score


def job(wanted):
    if not ready:
        ready["score"] = opened()
    samples = reward_samples.batch(HOME, *wanted)
    rows = [{"ground_truth": tests} for tests, _ in samples]
    made = asyncio.run(ready["score"](rows, [answer for _, answer in samples]))
    return [each.reward for each in made]


loop.serve(job)
