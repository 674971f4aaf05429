"""How much of a program's claims is believed, without a program."""

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from proctor.execution import Execution, LimitHit
from proctor.limits import Limits
from proctor.sandbox.directory_job import DirectoryResult
from proctor.solver import claim
from proctor.solver.checking import CheckResult
from proctor.solver.claim import ClaimedResult, UnreadableResult
from proctor.solver.profile import MarkerRule, ObjectiveRule, Profile
from proctor.solver.report import ValidationReport

PROFILE = Profile(
    "test", objective=ObjectiveRule("objective"), marker=MarkerRule("FOUND", max=2, require=True)
)
FINE = ValidationReport(
    ok=True, base_constraint_pass=True, hard_constraint_pass=True, soft_constraint_pass=True,
    hard_coverage_complete=True, objective=10.0, violations=(), hard_violations=(),
    soft_violations=(), unchecked=(), unchecked_constraint_ids=(),
    hard_unchecked_constraint_ids=(), unchecked_notes=(),
)  # fmt: skip
LIMITS = Limits(wall=60.0)
BAD = msgspec.structs.replace(FINE, ok=False, hard_constraint_pass=False)
DONE = cast("Execution", SimpleNamespace(
    limit=None, signal=None, exit_code=0, stdout=b"", stderr=b""
))  # fmt: skip


def read(**fields: Any) -> ClaimedResult:
    given = {"status": "OPTIMAL", "solution": [1], **fields}
    found = claim.read(json.dumps(given).encode(), "", PROFILE)
    assert isinstance(found, ClaimedResult)
    return found


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("OPTIMAL", "optimal"), (" optimal\n", "optimal"), ("feasible", "feasible"),
        ("fea\u017fible", "unknown"), ("\ufb01n", "unknown"), ("", "unknown"), (None, "unknown"),
        (True, "unknown"), (["OPTIMAL"], "unknown"),
    ],
)  # fmt: skip
def test_words(said: Any, status: str) -> None:
    """Letters that are only capitals of others make no word: upper() turns \u017f into S."""
    assert read(status=said).status == status


@pytest.mark.parametrize(
    ("said", "objective"),
    [(3, 3.0), (-0.5, -0.5), (True, None), (False, None), ("3", None), (None, None), ([3], None)],
)
def test_numbers(said: Any, objective: float | None) -> None:
    assert read(objective=said).objective == objective
    assert read(bound=said).bound == objective


def test_an_integer_beyond_all_floats_is_no_objective() -> None:
    found = claim.read(b'{"status": "OPTIMAL", "objective": 1%s}' % (b"0" * 400), "", PROFILE)
    assert getattr(found, "objective", None) is None


@pytest.mark.parametrize(
    ("solution", "empty"), [([1], False), ([], True), ({}, True), (None, True), (0, True)]
)
def test_empty_solutions(solution: Any, empty: bool) -> None:
    assert read(solution=solution).empty is empty
    assert read(solution=solution, status="INFEASIBLE").empty is False


@pytest.mark.parametrize(
    ("fields", "report", "status", "doubts"),
    [
        ({"objective": 10}, FINE, "optimal", 0),
        ({"objective": 10, "bound": 10}, FINE, "optimal", 0),
        ({}, FINE, "optimal", 0), ({"bound": 10}, FINE, "optimal", 0),
        # Better or worse than it is.
        ({"objective": 9}, FINE, "feasible", 1), ({"objective": 11}, FINE, "feasible", 1),
        # The bound is compared with the true objective, from either side.
        ({"objective": 9, "bound": 9}, FINE, "feasible", 2), ({"bound": 9}, FINE, "feasible", 1),
        ({"bound": 11}, FINE, "feasible", 1),
        ({"objective": 9, "bound": 10}, FINE, "feasible", 1),
        ({"objective": 10 + 1e-7, "bound": 10 - 1e-7}, FINE, "optimal", 0),
        ({"objective": 10, "bound": 5, "status": "FEASIBLE"}, FINE, "feasible", 0),
        ({"objective": 10}, BAD, "feasible", 1),
    ],
)  # fmt: skip
def test_doubts(fields: dict[str, Any], report: ValidationReport, status: str, doubts: int) -> None:
    found = claim.conclusion(read(**fields), CheckResult(report=report), DONE, PROFILE)
    assert (found.status, len(found.doubts)) == (status, doubts)
    assert (found.ok, found.accepted) == (True, report.ok)


def test_what_the_validator_does_not_recompute_is_believed() -> None:
    profile = msgspec.structs.replace(
        PROFILE, objective=ObjectiveRule("objective", recompute=False)
    )
    for bound, status in ((9, "optimal"), (8, "feasible")):
        said = read(objective=9, bound=bound)
        found = claim.conclusion(said, CheckResult(report=FINE), DONE, profile)
        assert found.status == status


def test_an_empty_solution_counts_where_the_validator_accepts_it() -> None:
    nothing = read(solution=[])
    found = claim.conclusion(nothing, CheckResult(report=FINE), DONE, PROFILE)
    assert (found.status, found.accepted) == ("optimal", True)
    found = claim.conclusion(nothing, CheckResult(report=BAD), DONE, PROFILE)
    assert (found.status, found.detail, found.ok) == ("infeasible", "empty_solution", False)


def test_without_a_validator_the_claim_stands_unchecked() -> None:
    found = claim.conclusion(read(objective=10, bound=10), CheckResult(), DONE, PROFILE)
    assert (found.status, found.detail, found.accepted) == ("optimal", "unchecked", False)
    found = claim.conclusion(read(objective=10, bound=9), CheckResult(), DONE, PROFILE)
    assert (found.status, len(found.doubts)) == ("feasible", 1)


@pytest.mark.parametrize(
    ("printed", "detail"), [(0, None), (1, None), (2, None), (3, "marker_count")]
)
def test_markers_that_are_too_many(printed: int, detail: str | None) -> None:
    found = claim.failure(worked(), PROFILE, printed, LIMITS)
    assert (None if found is None else found.detail) == detail


def test_a_marker_may_be_demanded() -> None:
    found = claim.refusal(CheckResult(), PROFILE, 0)
    assert found is not None
    assert found.detail == "marker_missing"
    assert claim.refusal(CheckResult(), PROFILE, 1) is None
    free = msgspec.structs.replace(PROFILE, marker=MarkerRule("FOUND"))
    assert claim.refusal(CheckResult(), free, 0) is None
    assert claim.refusal(CheckResult(problems=("no bins",)), free, 0) is not None


def worked(stopped: bool = False, **facts: Any) -> DirectoryResult:
    given = {"limit": None, "signal": None, "exit_code": 0, "stdout": b"", "stderr": b"", **facts}
    ok = given["exit_code"] == 0 and given["limit"] is None
    done = cast("Execution", SimpleNamespace(ok=ok, **given))
    return DirectoryResult(done, None, "", (), interrupted=False, stopped=stopped)


@pytest.mark.parametrize(
    ("result", "status", "detail"),
    [
        (worked(stopped=True, limit=LimitHit.WALL), "cancelled", "cancelled"),
        (worked(limit=LimitHit.WALL, exit_code=1), "timeout", ""),
        (worked(limit=LimitHit.CPU), "timeout", ""), (worked(limit=LimitHit.IDLE), "timeout", ""),
        (worked(limit=LimitHit.MEMORY, signal=9), "crashed", "oom"),
        (worked(limit=LimitHit.OUTPUT), "crashed", "output"),
        (worked(signal=9, exit_code=None), "crashed", "signal"),
        (worked(exit_code=1), "crashed", "exit_code"),
    ],
)  # fmt: skip
def test_the_first_cause_of_a_failure_is_named(
    result: DirectoryResult, status: str, detail: str
) -> None:
    found = claim.failure(result, PROFILE, 9, LIMITS)  # with too many markers besides
    assert found is not None
    assert (found.status, found.detail) == (status, detail)


def test_results_that_cannot_be_read() -> None:
    for data, complaint, detail in (
        (None, "was not written", "result_missing"), (None, "is a link", "result_refused"),
        (b"{", "", "result_invalid"), (b"NaN", "", "result_invalid"),
    ):  # fmt: skip
        found = claim.read(data, complaint, PROFILE)
        assert isinstance(found, UnreadableResult)
        assert found.detail == detail
    found = claim.read(b"[1]", "", PROFILE)
    assert isinstance(found, ClaimedResult)
    assert not replace(found).solved
