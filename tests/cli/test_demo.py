"""`proctor demo`: labels, and what it says where a verdict is not the labelled one."""

import json

import pytest
from command import proctor


@pytest.mark.user
@pytest.mark.slow
def test_the_subset_is_as_labelled() -> None:
    result = proctor("demo", "--subset", "fixture", "--json")
    report = json.loads(result.stdout)
    assert (result.returncode, report["surprises"]) == (0, 0)
    assert len(report["programs"]) == 20


def test_a_limit_nobody_keeps_is_a_surprise() -> None:
    result = proctor("demo", "--subset", "fixture", "--cpu", "0.01ms")  # less than starting takes
    assert result.returncode == 1
    assert b"TLE (not AC)" in result.stdout
    assert b"verdicts are not the labelled ones" in result.stdout


@pytest.mark.slow
def test_wrong_usage_says_what_is_wrong() -> None:
    for option, value in (("--cpu", "two"), ("--cpu", "0s"), ("--subset", "all"), ("--mode", "x")):
        result = proctor("demo", option, value)
        assert result.returncode == 2, (option, value)
        assert b"Traceback" not in result.stderr
        assert result.stderr
