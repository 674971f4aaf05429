"""verl's custom reward functions, and its configuration for a SandboxFusion server.

The contract is that of verl's reward managers (verl/experimental/reward_loop/reward_manager): one
call a sample, from several threads, or awaited in an event loop if the function is asynchronous,
with `data_source`, `solution_str`, `ground_truth` and `extra_info`; further arguments come from
`custom_reward_function.reward_kwargs`. A mapping with `score` is a reward, and its other values are
kept beside it.

    custom_reward_function.path=pkg://proctor.integrations.verl
    custom_reward_function.name=compute_score

Each of verl's reward workers has a pool of its own then. With `compute_score_on_ray` all share
actors of verl's Ray cluster; verl_manager.py is the same as a reward manager.

verl has no word for "does not count": a fault is judged once more and then raises, unless
`on_fault` says what to score it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.errors import SettingsError
from proctor.integrations.grading import loop_thread
from proctor.integrations.rows import BESIDE
from proctor.integrations.scoring import options_of, scores
from proctor.limits import MIB

_ENDPOINT = "/run_code"
_OWN = ("reward_router_address", "reward_model_tokenizer")  # passed by verl for reward models


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Judge a solution against `ground_truth`, whose forms are those of rows.task_of.

    `extra_info` may hold settings of the row, such as `language` and `time_limit`. Options are the
    fields of ScoreOptions, and those of make_code_reward. Returns `score`, `acc` (whether every
    test passed), `verdict`, and `masked` (1.0 if `score` is `on_fault`). Raises InputError and
    InfraFault for faults if `on_fault` is None; SettingsError.
    """
    given = [data_source], [solution_str], [ground_truth], [extra_info]
    return compute_scores(*given, **options)[0]


async def compute_score_on_ray(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    actors: int = 1,
    **options: Any,
) -> dict[str, Any]:
    """`compute_score` in actors that all workers share, without blocking the event loop.

    They are started by the first call, and end with verl's job; see RewardActors.shared.
    """
    given = [data_source], [solution_str], [ground_truth], [extra_info]
    return (await _scores(*given, {**options, "actors": actors}))[0]


def compute_scores(
    data_sources: Sequence[str],
    solution_strs: Sequence[str],
    ground_truths: Sequence[Any],
    extra_infos: Sequence[Mapping[str, Any] | None],
    **options: Any,
) -> list[dict[str, Any]]:
    """`compute_score` of a batch at once, as BatchRewardManager calls it."""
    scoring = _scores(data_sources, solution_strs, ground_truths, extra_infos, options)
    return loop_thread.get().wait(scoring)


async def _scores(
    _data_sources: Sequence[str],  # not needed: tests show what form they have
    solution_strs: Sequence[str],
    ground_truths: Sequence[Any],
    extra_infos: Sequence[Mapping[str, Any] | None],
    options: Mapping[str, Any],
) -> list[dict[str, Any]]:
    chosen, others = options_of({name: options[name] for name in options if name not in _OWN})
    rows = [
        {**{name: (extra or {}).get(name) for name in BESIDE}, "ground_truth": truth}
        for truth, extra in zip(ground_truths, extra_infos, strict=True)
    ]
    made = await scores(chosen.grade(others), rows, solution_strs, chosen.on_fault)
    return [
        {
            "score": score,
            "acc": each.verdict == "AC",
            "verdict": str(each.verdict),
            "masked": float(each.masked),
        }
        for score, each in made
    ]


def sandbox_fusion(
    server: str, *, max_concurrent: int = 64, memory: int = 1024 * MIB
) -> dict[str, Any]:
    """Return verl's `sandbox_fusion` configuration for a server's address; `memory` in bytes.

    verl posts to the URL as it is, so it must name the endpoint. Raises SettingsError.
    """
    if not server.startswith(("http://", "https://")):
        raise SettingsError(f"a server's address begins with http:// or https://, not {server!r}")
    base = server.rstrip("/").removesuffix(_ENDPOINT)
    return {
        "url": base + _ENDPOINT,
        "max_concurrent": max_concurrent,
        "memory_limit_mb": memory // MIB,
    }
