"""verl's custom reward function, and its configuration for a SandboxFusion server.

The contract is that of verl's reward managers (verl/experimental/reward_loop/reward_manager): one
call a sample, from several threads, with `data_source`, `solution_str`, `ground_truth` and
`extra_info`; further arguments come from `custom_reward_function.reward_kwargs`. A mapping with
`score` is a reward, and its other values are kept beside it.

    custom_reward_function.path=pkg://proctor.integrations.verl
    custom_reward_function.name=compute_score

verl has no word for "does not count": a fault is judged once more and then raises, unless
`on_fault` says what to score it.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from proctor.errors import InfraFault, InputError, SettingsError
from proctor.integrations.grading import CompletionGrader, GradedCompletion
from proctor.limits import MIB, TEST_LIMITS

_ENDPOINT = "/run_code"
_OWN = ("reward_router_address", "reward_model_tokenizer")  # verl's, for models that reward


def compute_score(
    data_source: str,  # noqa: ARG001 - verl's; tests say themselves what they are
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    on_fault: float | None = None,
    cpu: float = TEST_LIMITS.cpu,
    memory: int = TEST_LIMITS.memory,
    **options: Any,
) -> dict[str, Any]:
    """Judge a solution against `ground_truth`, whose forms are those of rows.task_of.

    `extra_info` may name the `language`. `cpu` (seconds) and `memory` (bytes) are
    limits per test; other options are those of make_code_reward. Returns `score`,
    `acc` (whether every test passed), `verdict`, and `masked` (1.0 if `score` is `on_fault`).
    Raises InputError and InfraFault for faults if `on_fault` is None; SettingsError.
    """
    settings = {name: value for name, value in options.items() if name not in _OWN}
    settings["limits"] = replace(TEST_LIMITS, cpu=cpu, memory=memory)
    grader = _grader(tuple(sorted(settings.items())))
    row = {"ground_truth": ground_truth, "language": (extra_info or {}).get("language")}
    (graded,) = grader.grade([row], [solution_str])
    if graded.reward is None and graded.verdict == "INFRA_FAULT":
        (graded,) = grader.grade([row], [solution_str])
    if graded.reward is None and on_fault is None:
        raise _fault(graded)
    return {
        "score": on_fault if graded.reward is None else graded.reward,
        "acc": graded.verdict == "AC",
        "verdict": str(graded.verdict),
        "masked": float(graded.reward is None),
    }


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


@lru_cache(maxsize=16)
def _grader(options: tuple[tuple[str, Any], ...]) -> CompletionGrader:
    try:
        return CompletionGrader(**dict(options))
    except TypeError as error:
        raise SettingsError(f"reward_kwargs: {error}") from error


def _fault(graded: GradedCompletion) -> Exception:
    kind = InfraFault if graded.verdict == "INFRA_FAULT" else InputError
    return kind(f"{graded.verdict}: {graded.message}")
