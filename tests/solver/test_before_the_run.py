"""What is told before a program runs: validators that are wrong, and tasks that are none."""

import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from proctor.errors import InputError
from proctor.solver import profile as profiles
from proctor.solver.envelope import Envelope
from proctor.solver.host import SolverHost
from proctor.solver.profile import Profile
from proctor.solver.request import SolveRequest
from solver_corpus import GIVEN

pytestmark = pytest.mark.namespaces

BEST = """
import json
with open("result.json", "w") as file:
    json.dump({"status": "OPTIMAL", "bins": [["a", "c"], ["b"]], "objective": 2, "bound": 2}, file)
"""
IMPORTS = "from proctor.solver.report import ValidationReport, Unchecked, Violation, report\n"
CHECK = "def check(given):\n    return []\n"


def own(place: Path, validate: str | None) -> Path:
    """A profile like packing, with another validator."""
    shutil.copytree(profiles.folder("packing"), place, dirs_exist_ok=True)
    if validate is None:
        (place / "validate.py").unlink()
    else:
        (place / "validate.py").write_text(IMPORTS + CHECK + validate)
    return place / "profile.toml"


def cold(profile: Profile) -> Profile:
    return msgspec.structs.replace(profile, warm=())


def was_not_run(envelope: Envelope) -> bool:
    assert envelope.status == "crashed"
    return envelope.isolation is None and envelope.exit_code is None


@pytest.mark.parametrize(
    ("validate", "why"),
    [
        (None, "No such file"),
        ("def validate(given, result, custom_checks=()):\n    return (\n", "line 5"),
        ("def valid(given, result, custom_checks=()):\n    pass\n", "defines no validate"),
        ("def \0", "is not Python"),
        ("x = " + "(" * 5000 + ")" * 5000, "is not Python"),
    ],
)
def test_a_validator_that_cannot_be_is_no_profile(
    tmp_path: Path, validate: str | None, why: str
) -> None:
    with pytest.raises(InputError) as caught:
        profiles.load(str(own(tmp_path, validate)))
    assert why in str(caught.value)
    assert "validate" in str(caught.value)


@pytest.mark.parametrize("named", ["validate.py", "validate", ":validate", "validate.py:", "a:b c"])
def test_a_validator_has_a_file_and_a_name(tmp_path: Path, named: str) -> None:
    path = tmp_path / "profile.toml"
    path.write_text(f'id = "x"\n[validator]\nfunction = "{named}"\n')
    with pytest.raises(InputError, match=r"validator\.function"):
        profiles.load(str(path))


@pytest.mark.parametrize(
    "validate",
    [
        "from proctor.solver.packing.validate import *\n", "validate = print\n",
        "import json as validate\n", "if True:\n    validate = 3\n", "class validate: pass\n",
    ],
)  # fmt: skip
def test_a_name_may_be_defined_in_any_way(tmp_path: Path, validate: str) -> None:
    star = "import *" in validate
    path = own(tmp_path, validate)
    if star:
        with pytest.raises(InputError, match="defines no validate"):
            profiles.load(str(path))  # what a star brings cannot be seen
    else:
        assert profiles.load(str(path)).validator.function == "validate.py:validate"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("raise ValueError(7)", "ValueError: 7 (validate.py, line 5)"),
        ("return result['bins'][0]", "IndexError"),
        ("return None", "no ValidationReport but NoneType"),
        ("return report([{'kind': 'x', 'message': 'as a dict'}])", "AttributeError"),
        ("return report([Violation('x', 'x', 'critical', 'what?')])", "severity"),
        ("return report([Violation('x', 'x', 'hard', 7)])", "message"),
        ("return report([Violation('x', 'x', 'hard', 'x', (object(),))])", "object"),
        ("return report([], objective=float('nan'))", "not JSON compliant"),
        ("return report([Violation('x', 'x', 'hard', '\\ud800')])", "surrogates"),
        ("return report([], objective='3')", "objective"),
        ("return [0] * 10**12", "MemoryError"),
        ("raise SystemExit(3)", "SystemExit"),
        ("return report([Violation('x', 'x', 'hard', 'x' * 10**6)] * 20)", "too large"),
        ("import no_such_module", "No module named"),
    ],
)
def test_a_validator_that_fails_by_itself_is_not_the_programs_fault(
    host: SolverHost, tmp_path: Path, body: str, why: str
) -> None:
    path = own(tmp_path, f"def validate(given, result, custom_checks=()):\n    {body}\n")
    envelope = host.solve(SolveRequest(BEST, GIVEN, cold(profiles.load(str(path)))))
    assert was_not_run(envelope)
    assert (envelope.phase, envelope.status_detail) == ("prepare", "invalid_profile")
    assert why in envelope.error_digest
    assert host.solve(SolveRequest(BEST, GIVEN, cold(profiles.load("packing")))).accepted


@pytest.mark.slow("while True: pass")
@pytest.mark.parametrize("body", ["while True: pass", "import os; os._exit(1)"])
def test_a_validator_without_end_is_a_fault(host: SolverHost, tmp_path: Path, body: str) -> None:
    path = own(tmp_path, f"def validate(given, result, custom_checks=()):\n    {body}\n")
    profile = cold(profiles.load(str(path)))
    quick = msgspec.structs.replace(profile.validator, timeout=2.0)
    profile = msgspec.structs.replace(profile, validator=quick)
    envelope = host.solve(SolveRequest(BEST, GIVEN, profile))
    assert was_not_run(envelope)
    assert envelope.fault is not None
    assert envelope.fault.code == "helper-timeout"


def test_a_validator_may_take_an_input_for_none(host: SolverHost, tmp_path: Path) -> None:
    source = "raise InputError('no capacity is prime', field='capacity')"
    path = own(
        tmp_path,
        "from proctor.errors import InputError\n"
        f"def validate(given, result, custom_checks=()):\n    {source}\n",
    )
    envelope = host.solve(SolveRequest(BEST, GIVEN, cold(profiles.load(str(path)))))
    assert was_not_run(envelope)
    assert (envelope.phase, envelope.status_detail) == ("prepare", "invalid_input")
    assert "no capacity is prime" in envelope.error_digest


@pytest.mark.slow("    while True: pass-took too long")
@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("    while True: pass", "took too long"),
        ("    raise ValueError(7)", "ValueError: 7 (validate.py, line 6)"),
        ("    return [0] * 10**12", "MemoryError"),
        ("    return None", "ValidationReport"),
        ("    import os; os._exit(1)", "ended"),
    ],
)
def test_a_validator_that_fails_over_a_result_accepts_nothing(
    host: SolverHost, tmp_path: Path, body: str, why: str
) -> None:
    validate = (
        "def validate(given, result, custom_checks=()):\n"
        f"    if not result['bins']: return report([])\n{body}\n"
    )
    profile = cold(profiles.load(str(own(tmp_path, validate))))
    quick = msgspec.structs.replace(profile.validator, timeout=5.0 if "while" in body else 60.0)
    profile = msgspec.structs.replace(profile, validator=quick)
    envelope = host.solve(SolveRequest(BEST, GIVEN, profile))
    assert (envelope.ok, envelope.accepted, envelope.answer) == (True, False, None)
    assert (envelope.status, envelope.status_detail) == ("feasible", "invalid")
    assert why in envelope.error_digest
    assert why in "".join(envelope.warnings)
    sound = host.solve(SolveRequest(BEST, GIVEN, cold(profiles.load("packing"))))
    assert sound.accepted  # the checking process is there again


def test_nothing_is_accepted_without_a_validator(host: SolverHost) -> None:
    profile = msgspec.structs.replace(
        cold(profiles.load("packing")), validator=profiles.ValidatorRule()
    )
    envelope = host.solve(SolveRequest(BEST, GIVEN, profile))
    assert (envelope.status, envelope.ok, envelope.accepted) == ("optimal", True, False)
    assert envelope.status_detail == "unchecked"
    assert "names no validator" in envelope.error_digest


WEEK: dict[str, Any] = {
    "classes": ["c"], "days": ["Mon"], "periods": [1, 2],
    "assignments": [{"id": "1", "class": "c", "subject": "s", "teacher": "t", "weeklyPeriods": 1}],
}  # fmt: skip


def hard(kind: str, id_: str = "h", **params: Any) -> dict[str, Any]:
    return {"id": id_, "kind": kind, "severity": "hard", "params": params}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"assignments": WEEK["assignments"] * 2}, "'1' stands here twice"),
        ({"assignments": [{**WEEK["assignments"][0], "class": "d"}]}, "'d' is not in `classes`"),
        ({"constraints": [hard("teacher_no_gaps", teacher="t")] * 2}, "'h' stands here twice"),
        ({"constraints": [hard("no_left_turns")]}, "constraint h (no_left_turns): no such kind"),
        ({"constraints": [hard("teacher_no_gaps")]}, "constraint h (teacher_no_gaps)"),
        ({"constraints": [hard("teacher_no_gaps", teacher="x")]}, "no such teacher"),
        ({"constraints": [hard("teacher_max_per_day", teacher="t", maxPerDay="2")]}, "params"),
        ({"constraints": [hard("teacher_no_gaps", teacher="t", more=1)]}, "more"),
        ({"constraints": [hard("custom_dsl")]}, "its predicate was not run"),
        (
            {"constraints": [hard("if_then", **{"if": {"op": "not", "arg": {}}, "then": []})]},
            "constraint h (if_then)",
        ),
    ],
)
def test_a_broken_timetable_is_told_before_the_program_runs(
    host: SolverHost, changes: dict[str, Any], why: str
) -> None:
    given = json.dumps({**WEEK, **changes}).encode()
    envelope = host.solve(SolveRequest(BEST, given, cold(profiles.load("timetable"))))
    assert was_not_run(envelope)
    assert (envelope.phase, envelope.status_detail) == ("prepare", "invalid_input")
    assert why in envelope.error_digest


@pytest.mark.parametrize(
    "constraint",
    [
        {**hard("no_left_turns"), "severity": "soft"}, {**hard("no_left_turns"), "severity": "info"},
        {**hard("no_left_turns"), "pythonPredicate": "True"},
        {**hard("custom_dsl"), "pythonPredicate": "True"},
        hard("teacher_no_gaps", teacher="t"),
    ],
)  # fmt: skip
def test_what_can_be_checked_is_no_broken_timetable(
    host: SolverHost, constraint: dict[str, Any]
) -> None:
    lesson = {"status": "OPTIMAL", "schedule": [{"assignmentId": "1", "day": "Mon", "period": 1}]}
    source = f"open('result.json', 'w').write({json.dumps(lesson)!r})"
    given = json.dumps({**WEEK, "constraints": [constraint]}).encode()
    envelope = host.solve(SolveRequest(source, given, cold(profiles.load("timetable"))))
    assert envelope.accepted, envelope


def test_items_that_share_an_id_are_told(host: SolverHost) -> None:
    items = [{"id": "a", "size": 6}, {"id": "a", "size": 6}]
    given = json.dumps({"capacity": 10, "items": items}).encode()
    envelope = host.solve(SolveRequest(BEST, given, cold(profiles.load("packing"))))
    assert was_not_run(envelope)
    assert envelope.error_digest == "the input: 2 items have the id 'a'"


def test_an_empty_solution_is_what_the_validator_says(host: SolverHost) -> None:
    source = "open('result.json', 'w').write('{\"status\": \"OPTIMAL\", \"bins\": []}')"
    nothing = b'{"capacity": 10, "items": []}'
    profile = cold(profiles.load("packing"))
    envelope = host.solve(SolveRequest(source, nothing, profile))
    assert (envelope.status, envelope.accepted) == ("optimal", True)
    envelope = host.solve(SolveRequest(source, GIVEN, profile))
    assert (envelope.status, envelope.ok) == ("infeasible", False)
    assert envelope.status_detail == "empty_solution"
    assert envelope.error_digest == "base_item_count: 3 violations: a is packed 0 times, not once"
    unchecked = msgspec.structs.replace(profile, validator=profiles.ValidatorRule())
    envelope = host.solve(SolveRequest(source, GIVEN, unchecked))
    assert (envelope.status, envelope.ok) == ("unknown", False)
    free = {**WEEK, "assignments": []}
    source = "open('result.json', 'w').write('{\"status\": \"OPTIMAL\", \"schedule\": []}')"
    asked = SolveRequest(source, json.dumps(free).encode(), cold(profiles.load("timetable")))
    assert host.solve(asked).accepted
