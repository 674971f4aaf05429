"""verl's own reward loop in a Ray cluster of two nodes, with each way to have proctor judge.

Run by a Python that has verl, torch and proctor, see ../test_rl_frameworks.py.
"""

import json
import os
import sys

os.environ["VERL_USE_EXTERNAL_MODULES"] = "proctor.integrations.verl_manager"

import numpy as np
import ray
import torch
import verl
from models import CASES, LOST, RIGHT, SQUARE, tokenizer, told
from omegaconf import OmegaConf
from ray.cluster_utils import Cluster
from tensordict import TensorDict
from verl import DataProto
from verl.experimental.reward_loop.reward_loop import RewardLoopManager
from verl.workers.reward_manager import get_reward_manager_cls

from proctor.integrations.verl import compute_scores

OURS = "pkg://proctor.integrations.verl"
WAYS = {
    "in a pool of each worker": {"custom_reward_function": {"path": OURS, "name": "compute_score"}},
    "in shared actors": {
        "custom_reward_function": {"path": OURS, "name": "compute_score_on_ray"},
    },
    "by a manager from a module": {
        "reward_manager": {
            "source": "importlib",
            "name": "ProctorRewardManager",
            "module": {"path": "pkg://proctor.integrations.verl_manager"},
        },
    },
    "by a registered manager": {"reward_manager": {"name": "proctor"}},
}
OPTIONS = {"scoring": "fraction", "on_fault": -1.0}


def batch(answers, truths, encoder):
    """Prompts and responses as a rollout leaves them: padded on both sides."""
    encoded = [encoder(text)["input_ids"] for text in answers]
    longest = max(map(len, encoded))
    responses = torch.tensor([each + [256] * (longest - len(each)) for each in encoded])
    seen = torch.tensor([[1] * len(each) + [0] * (longest - len(each)) for each in encoded])
    prompts = torch.full((len(answers), 4), 65)
    return DataProto(
        batch=TensorDict(
            {
                "prompts": prompts,
                "responses": responses,
                "attention_mask": torch.cat([torch.ones_like(prompts), seen], dim=1),
            },
            batch_size=len(answers),
        ),
        non_tensor_batch={
            "data_source": np.array(["taco"] * len(answers), dtype=object),
            "reward_model": np.array([{"ground_truth": each} for each in truths], dtype=object),
            "extra_info": np.array([{} for _ in answers], dtype=object),
        },
    )


def configuration(home, way, options):
    base = OmegaConf.load(
        os.path.join(os.path.dirname(verl.__file__), "trainer/config/reward/reward.yaml")
    )
    ours = OmegaConf.create(WAYS[way])
    if "custom_reward_function" in ours:
        ours.custom_reward_function.reward_kwargs = options
    else:
        ours.reward_kwargs = options
    reward = OmegaConf.merge(base, {"num_workers": 2}, ours)
    model = {"path": home, "tokenizer_path": None}
    return OmegaConf.create({"reward": reward, "actor_rollout_ref": {"model": model}})


def scored(home, way, options, data):
    manager = RewardLoopManager(configuration(home, way, options))
    try:
        made = manager.compute_rm_score(data)
    finally:
        for worker in manager.reward_loop_workers:
            ray.kill(worker)
    extra = {name: made.non_tensor_batch[name].tolist() for name in ("verdict", "masked", "acc")}
    return {"rewards": made.batch["rm_scores"].sum(dim=1).tolist(), **extra}


def main(home):
    encoder = tokenizer()
    encoder.save_pretrained(home)
    answers = [RIGHT, SQUARE, RIGHT, "no program"] * 4
    truths = [CASES, json.dumps(CASES), LOST, CASES] * 4
    data = batch(answers, truths, encoder)
    cluster = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False}
    )
    cluster.add_node(num_cpus=2)
    ray.init(cluster.address, log_to_driver=False)
    found = {way: scored(home, way, OPTIONS, data) for way in WAYS}
    try:
        scored(home, "in shared actors", {}, batch([RIGHT] * 2, [CASES, LOST], encoder))
        raised = ""
    except ray.exceptions.RayTaskError as error:
        raised = type(error.cause).__name__
    batches = get_reward_manager_cls("batch")(encoder, 0, compute_scores, actors=1, **OPTIONS)(
        batch(answers, truths, encoder), return_dict=True
    )
    found["as a batch"] = {
        "rewards": batches["reward_tensor"].sum(dim=1).tolist(),
        **{name: batches["reward_extra_info"][name] for name in ("verdict", "masked", "acc")},
    }
    told(found=found, raised=raised)
    ray.shutdown()
    cluster.shutdown()


main(sys.argv[1])
