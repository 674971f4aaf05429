"""pass@k, exactly: the chance that one of k programs passes."""

import math
from collections.abc import Iterable

from proctor.errors import InputError


def pass_at_k(n: int, c: int, k: int) -> float | None:
    """Return the chance that at least one of `k` programs passes, drawn from `n` of which `c` pass.

    The unbiased estimator 1 - C(n-c, k) / C(n, k) of Chen et al. 2021, "Evaluating Large Language
    Models Trained on Code" (arXiv:2107.03374), equation 1, in its product form. None for
    fewer than `k` samples, where it is not defined. The result is the exact value, rounded once.

    Raises InputError unless 0 <= c <= n and k >= 1.
    """
    if not 0 <= c <= n or k < 1:
        raise InputError(f"pass@k needs 0 <= c <= n and k >= 1, not n={n}, c={c}, k={k}")
    if n < k:
        return None
    # C(n-c, k) / C(n, k) is the product of (n-c-i) / (n-i) over i < k, and c and k may change
    # places in it. In integers: in floats, 1 - product loses every digit of a small result.
    few, many = sorted((c, k))
    none_passes = math.prod(n - many - i for i in range(few))
    all_draws = math.prod(n - i for i in range(few))
    return (all_draws - none_passes) / all_draws


def mean_pass_at_k(counts: Iterable[tuple[int, int]], k: int) -> float | None:
    """Return the mean of `pass_at_k` over problems given as (n, c), samples and passes.

    None if there is no problem or any has fewer than `k` samples: a mean over those that happen
    to have enough would be a mean over another benchmark.
    """
    values = []
    for n, c in counts:
        value = pass_at_k(n, c, k)
        if value is None:
            return None
        values.append(value)
    return math.fsum(values) / len(values) if values else None
