"""Student's t distribution for whole degrees of freedom, without scipy (two seconds to import)."""

import functools
import math
from statistics import NormalDist

from proctor.errors import InputError

_NORMAL = NormalDist()
_NORMAL_FROM_DF = 100_000
"""Degrees of freedom from which the normal distribution is close enough, to 1 in 20,000."""


def t_within(t: float, df: int) -> float:
    """Return the chance that a t variable with `df` degrees of freedom lies within ±|t|.

    The finite series of Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.3 and
    26.7.4. Raises InputError for df < 1.
    """
    if df < 1:
        raise InputError(f"Student's t needs 1 or more degrees of freedom, not {df}")
    if math.isinf(t):
        return 1.0
    if df >= _NORMAL_FROM_DF:
        return 2 * _NORMAL.cdf(abs(t)) - 1
    angle = math.atan2(abs(t), math.sqrt(df))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = df % 2
    term = cosine if odd else 1.0
    total = term if df > 1 else 0.0
    for i in range(2 + odd, df - 1, 2):
        term *= (i - 1) / i * cosine * cosine
        total += term
    return 2 / math.pi * (angle + sine * total) if odd else sine * total


def t_two_sided(t: float, df: int) -> float:
    """Return the two-sided p-value of `t`: the chance of a value at least as far from 0."""
    return max(0.0, 1 - t_within(t, df))


@functools.lru_cache(maxsize=4096)
def t_quantile(p: float, df: int) -> float:
    """Return the value that a t variable stays below with chance `p`, to 12 digits.

    By bisection on `t_within`. Raises InputError unless 0.5 <= p < 1 and df >= 1.
    """
    if not 0.5 <= p < 1:
        raise InputError(f"a quantile is wanted for 0.5 <= p < 1, not {p}")
    low, high = 0.0, 1.0
    while (1 + t_within(high, df)) / 2 < p:
        low, high = high, high * 2
    while high - low > 1e-12 * max(1.0, high):
        middle = (low + high) / 2
        if (1 + t_within(middle, df)) / 2 < p:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def normal_quantile(p: float) -> float:
    """Return the value that a standard normal variable stays below with chance `p`."""
    return _NORMAL.inv_cdf(p)
