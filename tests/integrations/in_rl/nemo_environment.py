"""NeMo-RL's own rollout code with the environment that judges, in real Ray actors.

Run by a Python that has torch, ray and what NeMo-RL's rollouts import, with its source as argument.
"""

import sys

sys.path.insert(0, sys.argv[1])

import ray
import torch
from models import CASES, LOST, RIGHT, SQUARE, told
from nemo_rl.distributed.batched_data_dict import BatchedDataDict
from nemo_rl.environments.utils import create_env
from nemo_rl.experience.rollouts import calculate_rewards

from proctor.integrations.nemo_rl import register


def batch(answers, cases):
    logs = [
        [
            {"role": "user", "content": "double it", "token_ids": torch.tensor([1])},
            {"role": "assistant", "content": answer, "token_ids": torch.tensor([2])},
        ]
        for answer in answers
    ]
    return BatchedDataDict(
        {
            "message_log": logs,
            "task_name": ["code"] * len(answers),
            "extra_env_info": [{"ground_truth": each} for each in cases],
        }
    )


def main() -> None:
    ray.init("local", num_cpus=3, include_dashboard=False, log_to_driver=False,
             runtime_env={"env_vars": {"PYTHONPATH": sys.argv[1]}})  # fmt: skip
    register()
    answers = [RIGHT, SQUARE, "no program", RIGHT] * 4
    cases = [CASES, CASES, CASES, LOST] * 4
    found = {}
    for name, options in (("here", {}), ("in shared actors", {"actors": 2})):
        environment = create_env("proctor", {"scoring": "fraction", "on_fault": -1.0, **options})
        made = calculate_rewards(batch(answers, cases), {"code": environment})
        extracted = ray.get(environment.step.remote([[{"role": "assistant", "content": RIGHT}]],
                                                    [{"ground_truth": CASES}], True))  # fmt: skip
        found[name] = {
            "rewards": made.rewards.tolist(),
            "ended": made.terminateds.tolist(),
            "masked": [each["masked"] for each in made.metadata],
            "observed": [each["content"] for each in made.observations],
            "answers": extracted.answers,
        }
        _, metrics = ray.get(
            environment.global_post_process_and_metrics.remote({"rewards": made.rewards})
        )
        found[name]["metrics"] = metrics
        ray.get(environment.shutdown.remote())
    environment = create_env("proctor", {})
    try:
        calculate_rewards(batch([RIGHT], [LOST]), {"code": environment})
        raised = ""
    except ray.exceptions.RayTaskError as error:
        raised = type(error.cause).__name__
    told(found=found, raised=raised)
    ray.shutdown()


main()
