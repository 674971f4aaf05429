"""Settings that rows state: each is honoured, or the row has no reward."""

from typing import Any

import pytest

from proctor import Limits, Pool, Problem, Test
from proctor.errors import InputError
from proctor.integrations.rewards import make_code_reward
from proctor.integrations.row_settings import LEAST_MEMORY, NOT_SERVED
from proctor.integrations.rows import key_of, task_of
from proctor.integrations.verl import compute_score
from proctor.limits import GIB, MIB

CASES = [{"input": "", "output": "0.5"}]
NEAR = "```python\nprint(0.51)\n```"
SLOW = """```python
import time
while time.process_time() < 0.3: pass
print(0.5)
```"""
LARGE = "```python\nheld = bytearray(150 << 20)\nprint(0.5)\n```"


@pytest.mark.parametrize(
    ("program", "column", "strict", "lenient"),
    [
        (NEAR, "tolerance", 0.001, 0.1),
        (SLOW, "time_limit", "100 ms", "5.0 seconds"),
        pytest.param(LARGE, "memory_limit", "128.0 megabytes", 512, marks=pytest.mark.cgroup),
    ],
)
def test_settings_of_a_row(
    pool: Pool, program: str, column: str, strict: Any, lenient: Any
) -> None:
    reward = make_code_reward(pool=pool)
    batch = {"test_cases": [CASES] * 2, column: [strict, lenient]}
    assert reward([program] * 2, **batch) == [0.0, 1.0]


def test_settings_beside_a_test(pool: Pool) -> None:
    reward = make_code_reward(pool=pool)
    beside = [[{**CASES[0], "tolerance": value}] for value in (0.001, 0.1)]
    assert reward([NEAR] * 2, test_cases=beside) == [0.0, 1.0]


def test_settings_come_from_verls_extra_info() -> None:
    tests = {"inputs": [""], "outputs": ["0.5"]}
    scores = [compute_score("x", NEAR, tests, {"tolerance": t})["score"] for t in (0.001, 0.1)]
    assert scores == [0.0, 1.0]
    with pytest.raises(InputError, match="checker"):
        compute_score("x", NEAR, tests, {"checker": "def check(): ..."})


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("time_limit", 2, 2.0), ("time_limit", "2", 2.0), ("time_limit", "2.5 seconds", 2.5),
        ("time_limit", "1 second", 1.0), ("time_limit", "1500ms", 1.5), ("time_limit", None, 6.0),
        ("time_limit", {"seconds": 1, "nanos": 500_000_000}, 1.5),
        ("time_limit", float("nan"), 6.0),
        ("memory_limit", 256, 256 * MIB), ("memory_limit", 256.0, 256 * MIB),
        ("memory_limit", 128 * MIB, 128 * MIB), ("memory_limit", "256.0 megabytes", 256 * MIB),
        ("memory_limit", "1 GB", GIB), ("memory_limit", "262144 kB", 256 * MIB),
        ("memory_limit", "16 MB", LEAST_MEMORY), ("memory_limit", None, GIB),
    ],
)  # fmt: skip
def test_limits(column: str, value: object, expected: float) -> None:
    limits = task_of({"test_cases": CASES, column: value}).settings.limits(Limits(cpu=6.0))
    assert (limits.cpu if column == "time_limit" else limits.memory) == expected


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("time_limit", 2000), ("time_limit", "2000"), ("time_limit", "soon"), ("time_limit", 0),
        ("time_limit", {"minutes": 1}), ("time_limit", True), ("memory_limit", 262144),
        ("memory_limit", "much"), ("tolerance", 1), ("tolerance", -1e-6), ("tolerance", "1e-6"),
        ("language", 3), ("fn_name", "not a name"), ("testtype", "mystery"), ("input_mode", "file"),
        *((name, "something") for name in NOT_SERVED),
    ],
)  # fmt: skip
def test_what_cannot_be_honoured_is_said(column: str, value: object) -> None:
    with pytest.raises(InputError, match=column):
        task_of({"test_cases": CASES, column: value})


def test_columns_that_say_nothing() -> None:
    said = dict(zip(NOT_SERVED, (None, "", False, [], {}), strict=False))
    assert task_of({"test_cases": CASES, **said, "input_mode": "stdio"}).settings.cpu is None


def test_a_column_that_is_no_list_as_long_as_the_batch(pool: Pool) -> None:
    reward = make_code_reward(pool=pool)
    with pytest.raises(InputError, match="tolerance"):
        reward([NEAR] * 2, test_cases=[CASES] * 2, tolerance=0.1)
    with pytest.raises(InputError, match="language"):
        reward([NEAR] * 2, test_cases=[CASES] * 2, language=["python"])


def test_a_problem_of_ones_own(pool: Pool) -> None:
    problem = Problem("p", (Test("", "0.5"),))
    reward = make_code_reward(pool=pool)
    batch = {"problem": [problem] * 2, "tolerance": [0.001, 0.1]}
    assert reward([NEAR] * 2, **batch) == [0.0, 1.0]
    limited = Problem("p", problem.tests, limits=Limits(cpu=1.0))
    for column, value in (("time_limit", 2.0), ("fn_name", "f")):
        with pytest.raises(InputError, match=column):
            task_of({"problem": limited, column: value})


def test_keys_tell_rows_apart() -> None:
    numpy = pytest.importorskip("numpy", reason="no case: numpy is not installed here")
    one, other = numpy.arange(5000), numpy.arange(5000)
    other[2500] = 0  # in the part that the array's repr leaves out
    assert key_of({"test_cases": one}) != key_of({"test_cases": other})
    assert key_of({"test_cases": CASES}) != key_of({"test_cases": CASES, "tolerance": 0.1})
    with pytest.raises(InputError):
        key_of({"test_cases": {1: 2, "a": 3}})
