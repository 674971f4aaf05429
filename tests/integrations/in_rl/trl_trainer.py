"""A step of a real GRPOTrainer whose reward function is awaited, and judges in shared actors.

Run by a Python that has trl, torch, ray and proctor. A random model writes no programs: half of
what it writes is replaced by one that is right.
"""

import json
import sys

import ray
from datasets import Dataset
from models import tokenizer, told
from transformers import Qwen2Config, Qwen2ForCausalLM
from trl import GRPOConfig, GRPOTrainer

from proctor.integrations.ray import RewardActors
from proctor.integrations.rewards import make_async_code_reward

seen = []


def main(home: str) -> None:
    ray.init("local", num_cpus=1, include_dashboard=False, log_to_driver=False)
    actors = RewardActors.shared(1, extraction="whole")
    judge = make_async_code_reward(actors)

    async def code_reward(completions, **columns):
        program = "print(2 * int(input()))"
        rewards = await judge(
            [each if number % 2 else program for number, each in enumerate(completions)], **columns
        )
        seen.append(rewards)
        return rewards

    cases = json.dumps([{"input": "2", "output": "4"}])
    rows = [{"prompt": "double", "test_cases": cases}, {"prompt": "lost", "test_cases": "[]"}]
    model = Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=258, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
            num_attention_heads=2, num_key_value_heads=2, pad_token_id=256, eos_token_id=257,
        )
    )  # fmt: skip
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=code_reward,
        train_dataset=Dataset.from_list(rows),
        args=GRPOConfig(
            output_dir=home, per_device_train_batch_size=4, num_generations=4,
            gradient_accumulation_steps=2, max_completion_length=8, max_steps=1, logging_steps=1,
            report_to=[], use_cpu=True, bf16=False, save_strategy="no", disable_tqdm=True,
        ),
        processing_class=tokenizer(),
    )  # fmt: skip
    trainer.train()
    told(seen=seen, log=trainer.state.log_history[0])
    actors.close()
    ray.shutdown()


main(sys.argv[1])
