"""OpenRLHF's reward function, which judges programs: this file is one.

The contract is that of OpenRLHF 0.11 (openrlhf/utils/agent.py, SingleTurnAgentExecutor): a Python
file with `reward_func(queries, prompts, labels)`, called in threads of the rollout actors with one
sample each; it returns `rewards`, `scores` for dynamic filtering, and `extra_logs`.

    --reward.remote_url $(python -m proctor.integrations.openrlhf)

gives the pool of each rollout actor to this function. For actors of the Ray cluster, and other
options, write a file of your own:

    from proctor.integrations.openrlhf import make_reward_func
    reward_func = make_reward_func(actors=8, on_fault=0.0)

OpenRLHF has no word for "does not count". It logs an error that a reward function raises, and then
asks a reward model, of which there is none: without `on_fault` a fault ends the training step.
"""

import re
from collections.abc import Sequence
from typing import Any, Protocol

from proctor.errors import InputError
from proctor.integrations.grading import loop_thread
from proctor.integrations.scoring import options_of, scores


class RewardFunc(Protocol):
    """A function from queries, with their prompts and labels, to rewards."""

    def __call__(
        self, queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any], **_others: Any
    ) -> dict[str, Any]: ...


END = r"(?:<\|[^<>|]*\|>|<｜[^<>｜]*｜>|</s>|<eos>|<pad>|<end_of_turn>|<end_of_text>)+\s*\Z"
"""Special tokens of models of all families that may end an answer, which OpenRLHF leaves there."""


def make_reward_func(*, end: str = END, **options: Any) -> RewardFunc:
    """Return a `reward_func`. Options are the fields of ScoreOptions, and of make_code_reward.

    Labels hold the tests: the forms of `ground_truth` of rows.task_of, mostly as JSON. `end` is a
    pattern of the tokens that end an answer: they are cut off, since after a fence they would hide
    it. Raises SettingsError, InputError.
    """
    ending = re.compile(end)
    chosen, others = options_of(options)
    grade = chosen.grade(others)

    def reward_func(
        queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any], **_others: Any
    ) -> dict[str, Any]:
        import torch  # comes with OpenRLHF, which takes tensors

        answers = [_answer(*each, ending) for each in zip(queries, prompts, strict=True)]
        rows = [{"ground_truth": label} for label in labels]
        made = loop_thread.get().wait(scores(grade, rows, answers, chosen.on_fault))
        rewards = torch.tensor([score for score, _ in made], dtype=torch.float32)
        logs = {
            "passed": torch.tensor([float(each.verdict == "AC") for _, each in made]),
            "masked": torch.tensor([float(each.masked) for _, each in made]),
        }
        return {"rewards": rewards, "scores": rewards.clamp(0.0, 1.0), "extra_logs": logs}

    return reward_func


def _answer(query: str, prompt: str, ending: re.Pattern[str]) -> str:
    """Return what follows the prompt; a tokenizer may have put something before it."""
    begin = query.find(prompt)
    if begin < 0:
        raise InputError("a query does not hold its prompt, so that its answer cannot be told")
    return ending.sub("", query[begin + len(prompt) :])


reward_func = make_reward_func()

if __name__ == "__main__":
    print(__file__)  # noqa: T201 - for a command line
