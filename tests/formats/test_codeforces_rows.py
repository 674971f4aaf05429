"""Rows of problems from Codeforces that no problem can be made of."""

from typing import Any

import pytest

from proctor.errors import InputError
from proctor.formats.codeforces_rows import problem_of_row

ROW: dict[str, Any] = {
    "id": "1/A", "time_limit": 1.0, "memory_limit": 256.0,
    "official_tests": [{"input": "1", "output": "1"}],
}  # fmt: skip


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf"), 1e308])
@pytest.mark.parametrize("field", ["memory_limit", "time_limit"])
def test_limits_that_are_no_numbers(field: str, number: float) -> None:
    with pytest.raises(InputError) as caught:
        problem_of_row(ROW | {field: number})
    assert caught.value.line == 1
    assert caught.value.field in {field, f"limits.{field}", "limits.cpu", "limits.memory"}
