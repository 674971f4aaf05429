"""verl's reward manager that judges in actors of verl's own Ray cluster.

The contract is that of verl 0.9 (verl/experimental/reward_loop/reward_manager): a class of an event
loop, made in each reward worker, found by its name in a module, or among those that are registered.

    reward.reward_manager.source=importlib
    reward.reward_manager.name=ProctorRewardManager
    reward.reward_manager.module.path=pkg://proctor.integrations.verl_manager
    +reward.reward_kwargs.actors=8

or, with VERL_USE_EXTERNAL_MODULES=proctor.integrations.verl_manager, reward_manager.name=proctor.
"""

from functools import partial
from typing import Any

from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager
from verl.experimental.reward_loop.reward_manager.registry import register

from proctor.integrations.verl import compute_score_on_ray


@register("proctor")
class ProctorRewardManager(NaiveRewardManager):  # type: ignore[misc]  # verl is not typed
    """Rewards by `compute_score_on_ray`, whose options are `reward.reward_kwargs`.

    Decodes responses and reports as verl's own naive manager does.
    """

    def __init__(
        self,
        config: Any,
        tokenizer: Any,
        compute_score: Any = None,  # noqa: ARG002 - verl's default, which would exec programs
        **others: Any,
    ) -> None:
        options = dict(config.reward.get("reward_kwargs") or {})
        super().__init__(config, tokenizer, partial(compute_score_on_ray, **options), **others)
