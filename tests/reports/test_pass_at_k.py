"""pass@k against its definition."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import InputError
from proctor.reports.pass_at_k import mean_pass_at_k, pass_at_k


@st.composite
def samples(draw: st.DrawFn) -> tuple[int, int, int]:
    n = draw(st.integers(1, 300))
    return n, draw(st.integers(0, n)), draw(st.integers(1, n))


@given(samples())
def test_equals_the_definition_exactly(case: tuple[int, int, int]) -> None:
    n, c, k = case
    assert pass_at_k(n, c, k) == float(1 - Fraction(math.comb(n - c, k), math.comb(n, k)))


@given(samples())
def test_more_draws_or_more_passes_never_hurt(case: tuple[int, int, int]) -> None:
    n, c, k = case
    value = pass_at_k(n, c, k)
    assert value is not None
    assert 0 <= value <= 1
    assert k == n or value <= (pass_at_k(n, c, k + 1) or 0)
    assert c == n or value <= (pass_at_k(n, c + 1, k) or 0)
    assert pass_at_k(n, c, 1) == c / n


@pytest.mark.parametrize(
    ("n", "c", "k", "value"),
    [
        (10, 0, 1, 0.0),
        (10, 10, 10, 1.0),
        (10, 3, 1, 0.3),
        (5, 2, 4, 1.0),  # any four of five hold a pass
        (0, 0, 1, None),
        (4, 4, 5, None),
        (10**12, 1, 1, 1e-12),
        (10**15, 1, 10, 1e-14),
        (10**9, 10**8, 3, 1 - 0.9**3),
    ],
)
def test_known_values(n: int, c: int, k: int, value: float | None) -> None:
    assert pass_at_k(n, c, k) == (None if value is None else pytest.approx(value, rel=1e-9))


@pytest.mark.parametrize(
    ("n", "c", "k"), [(-1, 0, 1), (5, -1, 1), (5, 6, 1), (5, 1, 0), (5, 1, -2)]
)
def test_senseless_counts(n: int, c: int, k: int) -> None:
    with pytest.raises(InputError, match="pass@k needs"):
        pass_at_k(n, c, k)


def test_mean_over_problems() -> None:
    assert mean_pass_at_k([(10, 10), (10, 0), (2, 1)], 1) == 0.5
    assert mean_pass_at_k([(10, 10), (10, 0), (2, 1)], 5) is None
    assert mean_pass_at_k([], 1) is None
