"""OpenRLHF's executor with a reward function from a file, and what its generator makes of rewards.

Run by a Python that has torch, aiohttp, ray and proctor; the argument is OpenRLHF's folder. vLLM is
played by an engine that answers with programs, and what starts GPU workers is not imported, as in
OpenRLHF's own tests.
"""

import asyncio
import importlib
import json
import sys
import tempfile
from pathlib import Path
from types import ModuleType, SimpleNamespace
from unittest.mock import MagicMock

import ray
from models import CASES, LOST, RIGHT, SQUARE, tokenizer, told

import proctor.integrations.openrlhf as ours

MINE = """
from proctor.integrations.openrlhf import make_reward_func
reward_func = make_reward_func(actors=1, scoring="fraction", on_fault=-1.0)
"""
PROMPT = "Write a program.\n```python\nprint('an example')\n```\n"


def import_parts(folder: str) -> None:
    """Have modules found, without the packages' own imports: those take DeepSpeed and vLLM."""
    for name in ("", ".utils", ".trainer", ".trainer.ppo_utils", ".trainer.ray"):
        package = ModuleType(f"openrlhf{name}")
        package.__path__ = [str(Path(folder, "openrlhf", *name.split(".")[1:]))]
        sys.modules[package.__name__] = package
    for name in ("openrlhf.trainer.ray.vllm_engine", "vllm"):
        sys.modules[name] = MagicMock()


class Engine:
    """Answers as vLLM would, one text after the other."""

    def __init__(self, answer: str, encoder) -> None:
        self.ids = [*encoder(answer)["input_ids"], encoder.eos_token_id]
        self.answer = answer

    async def generate(self, _tokens, _parameters, **_others):
        output = SimpleNamespace(
            token_ids=self.ids, text=self.answer, finish_reason="stop", logprobs=None
        )
        return SimpleNamespace(outputs=[output])


def main(folder: str) -> None:
    import_parts(folder)
    agent = importlib.import_module("openrlhf.utils.agent")
    samples = importlib.import_module("openrlhf.trainer.ppo_utils.samples_generator")
    encoder = tokenizer()

    async def rollouts(path: str, cases: list[tuple[str, object]]) -> list[dict]:
        executor = agent.SingleTurnAgentExecutor(path)
        parameters = SimpleNamespace(max_tokens=512, logprobs=None)
        return await asyncio.gather(
            *(
                executor.execute(PROMPT, label, parameters, 4096, encoder, Engine(answer, encoder))
                for answer, label in cases
            )
        )

    def experiences(path: str, cases: list[tuple[str, object]]) -> list[dict]:
        generator = samples.SamplesGenerator.__new__(samples.SamplesGenerator)
        found = []
        for response in asyncio.run(rollouts(path, cases)):
            made = generator._process_response_into_experience(response, max_len=4096)
            found.append(
                {
                    "rewards": None if made.rewards is None else made.rewards.tolist(),
                    "scores": None if made.scores is None else made.scores.tolist(),
                    "masked": None if "masked" not in made.info else made.info["masked"].tolist(),
                }
            )
        return found

    cases = [(RIGHT, json.dumps(CASES)), (SQUARE, CASES), ("no program", CASES), (RIGHT, LOST)]
    found = {"here": experiences(ours.__file__, cases)}
    ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    with tempfile.NamedTemporaryFile("w", suffix=".py") as mine:
        mine.write(MINE)
        mine.flush()
        found["on ray"] = experiences(mine.name, cases * 4)
    told(**found)
    ray.shutdown()


main(sys.argv[1])
