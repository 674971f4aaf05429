"""NeMo-RL's environment that judges programs, in place of one that executes them in its own actor.

The contract is that of EnvironmentInterface (nemo_rl/environments/interfaces.py): a Ray actor whose
`step` gets message logs and `extra_env_info`, and returns rewards. Register it before environments
are made:

    from proctor.integrations.nemo_rl import register
    register()          # then env_name: proctor in the configuration of the data

Its configuration has the fields of ScoreOptions, and of make_code_reward. `extra_env_info` holds
the tests, as columns of rows.task_of. An episode is one answer.

NeMo-RL's environments have no word for "does not count": a fault is judged once more and then
raises, unless `on_fault` says what to score it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import ray
import torch
from nemo_rl.distributed.ray_actor_environment_registry import ACTOR_ENVIRONMENT_REGISTRY
from nemo_rl.distributed.virtual_cluster import PY_EXECUTABLES
from nemo_rl.environments.interfaces import EnvironmentInterface, EnvironmentReturn
from nemo_rl.environments.utils import register_env

from proctor.evals.extraction import DEFAULT
from proctor.integrations.grading import found_in
from proctor.integrations.rows import text_of
from proctor.integrations.scoring import options_of, scores


class JudgeEnvironment(EnvironmentInterface):  # type: ignore[misc]  # NeMo-RL is not typed
    """Rewards for programs by the tests of their samples."""

    def __init__(self, cfg: Mapping[str, Any]) -> None:
        """`cfg` holds the options that the module describes. Raises SettingsError, InputError."""
        self._chosen, others = options_of(dict(cfg))
        self._extraction = str(others.get("extraction", DEFAULT))
        self._language = str(others.get("language", "python"))
        self._grade = self._chosen.grade(others)

    async def step(
        self,
        message_log_batch: Sequence[Sequence[Mapping[str, Any]]],
        metadata: Sequence[Mapping[str, Any]],
        return_extracted_answer: bool = False,
    ) -> Any:
        """Judge the last answer of each message log. Several calls may run side by side."""
        answers = [text_of(list(log)) for log in message_log_batch]
        made = await scores(self._grade, metadata, answers, self._chosen.on_fault)
        rewards = torch.tensor([score for score, _ in made], dtype=torch.float32)
        return EnvironmentReturn(
            observations=[
                {"role": "environment", "content": f"Environment: {each.verdict}"}
                for _, each in made
            ],
            metadata=[
                {**each, "verdict": str(graded.verdict), "masked": graded.masked}
                for each, (_, graded) in zip(metadata, made, strict=True)
            ],
            next_stop_strings=[None] * len(made),
            rewards=rewards,
            terminateds=torch.ones_like(rewards),
            answers=(
                [self._code(each, row) for each, row in zip(answers, metadata, strict=True)]
                if return_extracted_answer
                else None
            ),
        )

    def _code(self, answer: str, row: Mapping[str, Any]) -> str | None:
        language = row.get("language") or self._language
        return found_in(answer, self._extraction, language, None).code or None

    def global_post_process_and_metrics(self, batch: Any) -> tuple[Any, dict[str, float]]:
        """Return the batch as it is, and the share of samples with full marks."""
        rewards = batch["rewards"]
        return batch, {"accuracy": float((rewards >= 1).float().mean())}

    def shutdown(self) -> None:
        """End nothing: shared actors end with the job."""


JudgeEnvironmentActor = ray.remote(JudgeEnvironment)
"""JudgeEnvironment as NeMo-RL makes it."""


def register(name: str = "proctor") -> None:
    """Register the environment under a name, to be made by the Python that trains.

    Raises ValueError if the name is taken.
    """
    path = f"{__name__}.JudgeEnvironmentActor"
    ACTOR_ENVIRONMENT_REGISTRY[path] = PY_EXECUTABLES.SYSTEM
    register_env(name, path)
