"""A real GRPOTrainer, if PROCTOR_TEST_TRL names a Python with trl, torch and proctor."""

import json
import os
import subprocess
from pathlib import Path

import pytest

TRL = os.environ.get("PROCTOR_TEST_TRL", "")
# A random model writes no programs: half of what it writes is replaced by one that is right.
STEPS = """
import json, sys
from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM
from trl import GRPOConfig, GRPOTrainer
from proctor.integrations.rewards import make_code_reward

letters = sorted(pre_tokenizers.ByteLevel.alphabet())
vocabulary = {letter: number for number, letter in enumerate([*letters, "<pad>", "<eos>"])}
tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
model = Qwen2ForCausalLM(Qwen2Config(
    vocab_size=258, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
    num_attention_heads=2, num_key_value_heads=2, pad_token_id=256, eos_token_id=257))
judge = make_code_reward(extraction="whole")
seen = []

def code_reward(completions, **columns):
    program = "print(2 * int(input()))"
    rewards = judge([c if i % 2 else program for i, c in enumerate(completions)], **columns)
    seen.append(rewards)
    return rewards

cases = json.dumps([{"input": "2", "output": "4"}])
rows = [{"prompt": "double", "test_cases": cases}, {"prompt": "lost", "test_cases": "[]"}]
trainer = GRPOTrainer(
    model=model, reward_funcs=code_reward, train_dataset=Dataset.from_list(rows),
    args=GRPOConfig(
        output_dir=sys.argv[1], per_device_train_batch_size=4, num_generations=4,
        gradient_accumulation_steps=2, max_completion_length=8, max_steps=1, logging_steps=1,
        report_to=[], use_cpu=True, bf16=False, save_strategy="no", disable_tqdm=True),
    processing_class=PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>"))
trainer.train()
print("\\n" + json.dumps({"seen": seen, "log": trainer.state.log_history[0]}))
"""


@pytest.mark.outside("TRL")
def test_a_step_of_a_real_trainer(tmp_path: Path) -> None:
    done = subprocess.run(
        [TRL, "-c", STEPS, str(tmp_path)], capture_output=True, text=True,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    (rewards,) = told["seen"]
    assert sorted(rewards, key=str) == [0.0, 0.0, 1.0, 1.0, None, None, None, None]
    # Of those that count: had faults been zeros, the mean would be a quarter.
    assert told["log"]["rewards/code_reward/mean"] == 0.5
    assert told["log"]["code_reward/masked"] == 0.5
    assert told["log"]["grad_norm"] > 0
