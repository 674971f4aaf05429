"""Check that waiting ends, and that the error names what did not come."""

import asyncio

import pytest

from waiting import until, until_none, until_true


def test_a_state_is_waited_for_and_returned() -> None:
    counted = iter(range(100))
    assert until(lambda: next(counted) // 3) == 1
    assert asyncio.run(until_true(lambda: next(counted) // 6)) == 1
    left = [1, 2, 3]
    until_none(lambda: left.pop() and left)
    assert left == []


def test_whoever_waits_in_vain_is_told_for_what() -> None:
    looks: list[int] = []
    with pytest.raises(AssertionError, match="it never came: None"):
        until(lambda: looks.append(1), patience=0.0)
    assert looks == [1], "however late it is, it is looked once"
    with pytest.raises(AssertionError, match=r"still there: \[7\]"):
        until_none(lambda: [7], patience=0.0)
    with pytest.raises(AssertionError, match="it never came: False"):
        asyncio.run(until_true(lambda: False, patience=0.0))
