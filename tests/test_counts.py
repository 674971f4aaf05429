"""Jobs ask no more of the kernel than they did: counts that no load changes, and their budgets."""

import budgets
import counts
import pytest
import tracing

pytestmark = [pytest.mark.root, pytest.mark.cgroup]


@pytest.mark.command("cc")
def test_a_fork_in_c_is_counted_exactly() -> None:
    try:
        counted = counts.count("fork from C", jobs=20)
    except budgets.MissingError as error:
        pytest.skip(str(error))
    assert counted.a_job(tracing.CALLS, tracing.JOB) == 2  # set_robust_list and exit_group
    assert counted.calls[tracing.HOST, "wait4"] == 20


@pytest.mark.parametrize("name", budgets.COUNTS)
def test_a_job_costs_no_more_than_it_did(name: str) -> None:
    """`make counts` prints what has become more, and by whom.

    It shows context switches too, which are left out here: who has to wait for whom depends on load.
    The least of three processes is compared: what else the machine does only adds.
    """
    try:
        found = counts.spreads(name, processes=3)
    except budgets.MissingError as error:
        pytest.skip(str(error))
    over = [
        f"{kind}: {parts[counts.ALL]}, {figure} before"
        for (kind, parts), figure, margin in zip(
            found.items(), budgets.COUNTS[name], budgets.MARGINS, strict=True
        )
        if kind != tracing.SWITCHES and parts[counts.ALL][0] > figure * margin
    ]
    assert not over
