"""pass@k over results, as lcb_runner.evaluation.pass_k_utils."""

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from statistics import stdev
from typing import Any, Literal, SupportsIndex, get_args

from proctor.errors import InputError
from proctor.reports.pass_at_k import mean_pass_at_k, pass_at_k

Port = Literal["upstream", "evalscope", "nvidia"]
"""Copy of lcb_runner whose metrics are wanted: EvalScope's pass@k is in per cent, that of
nvidia-livecodebench has standard errors besides."""

__all__ = ["compute_metrics_from_results", "estimate_pass_at_k", "extract_instance_results"]


def estimate_pass_at_k(
    num_samples: SupportsIndex | Iterable[int], num_correct: Iterable[int], k: int
) -> Any:
    """Return pass@k of each problem; `num_samples` is one number for all or one for each.

    Returns a numpy array where numpy can be imported, since callers use its methods, else a list
    of floats. NaN stands for a problem with fewer than `k` samples, for which upstream says 1.

    Raises InputError for counts that cannot be, or that differ in number.
    """
    correct = [operator.index(c) for c in num_correct]
    if isinstance(num_samples, Iterable):
        samples = [operator.index(n) for n in num_samples]
    else:
        samples = [operator.index(num_samples)] * len(correct)
    if len(samples) != len(correct):
        raise InputError(
            f"has {len(samples)} numbers, num_correct {len(correct)}", field="num_samples"
        )
    estimates = (pass_at_k(n, c, k) for n, c in zip(samples, correct, strict=True))
    values = [math.nan if estimate is None else estimate for estimate in estimates]
    try:
        import numpy as np
    except ImportError:
        return values
    return np.array(values)


def compute_metrics_from_results(
    results: Mapping[Any, Sequence[Sequence[int]]],
    k_list: Iterable[int] = (1, 5),
    *,
    port: Port = "upstream",
) -> dict[str, Any]:
    """`{"pass@k": mean, ..., "detail": {"pass@k": {problem: value}, ...}}`, all plain floats.

    A `k` is left out unless every problem has that many generations, and every `k` is if there is
    no problem. A generation passes if all its tests did; without tests it does not.

    With `port="nvidia"`, `"pass@k_stderr"` follow: NaN for one problem. Raises InputError for a
    port that is not known.
    """
    unit = unit_of(port)
    counts = {task: (len(of), sum(map(_passed, of))) for task, of in results.items()}
    metrics: dict[str, Any] = {}
    detail: dict[str, dict[Any, float | None]] = {}
    for k in k_list:
        mean = mean_pass_at_k(counts.values(), k)
        if mean is not None:
            metrics[f"pass@{k}"] = mean * unit
            values = {task: pass_at_k(n, c, k) for task, (n, c) in counts.items()}
            detail[f"pass@{k}"] = {task: v if v is None else v * unit for task, v in values.items()}
    found = {**metrics, "detail": detail}
    if port == "nvidia":
        for name, of in detail.items():
            found[f"{name}_stderr"] = standard_error([v for v in of.values() if v is not None])
    return found


def extract_instance_results(results: Mapping[Any, Sequence[Sequence[int]]]) -> list[list[bool]]:
    """Return whether each generation passes: a list a problem, in order of the problems' keys."""
    return [[_passed(generation) for generation in results[task]] for task in sorted(results)]


def unit_of(port: Port) -> int:
    """Return 100 for a port that gives per cent, else 1. Raises InputError for unknown ports."""
    if port not in get_args(Port):
        raise InputError(f"is {' or '.join(get_args(Port))}, not {port!r}", field="port")
    return 100 if port == "evalscope" else 1


def standard_error(values: Sequence[float]) -> float:
    """Return the standard error of a mean, from the sample's deviation; NaN for one value."""
    return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan


def _passed(generation: Sequence[int]) -> bool:
    return len(generation) > 0 and all(result > 0 for result in generation)
