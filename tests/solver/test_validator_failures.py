"""Validators that fail over a result: the program is to blame, unless they fail without it too."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from proctor.solver import profile as profiles
from proctor.solver.checking import REJECTED, Validators
from proctor.solver.envelope import Envelope
from proctor.solver.host import SolverHost
from proctor.solver.instances import SolverInstance
from proctor.solver.profile import Profile
from proctor.solver.request import SolveRequest
from proctor.solver.solve_instances import solve_instances

pytestmark = pytest.mark.namespaces

PROFILE = """
id = "trusting"
[result]
source = "function"
[objective]
field = "objective"
[validator]
function = "trusting.py:validate"
timeout = 2.0
"""
TRUSTING = """
import os
from proctor.solver.report import Unchecked, Violation, report
def validate(given, result, custom_checks=()):
    found = result.get("solution") or []
    if not found:
        return report([Violation("base_none", "base_none", "hard", "there is nothing")])
    total = sum(int(each) for each in found)
    place = given["places"][found[0]]
    wide = Violation("w", "w", "soft", "wide", ({"width": int(found[0]) ** 9},))
    return report([wide], objective=float(place) * total ** 40)
"""
GOOD = "[1, 2]"
GIVEN = {"places": [0, 1, 2]}
HOSTILE = {
    "words": "['I am not sure']", "nothing": "[None]", "a number": "7", "a text": "'x'",
    "an index": "[2000000000]", "an index from the end": "[-4]", "a fraction": "[1.5]", "true keys": "[{'a': 1}]",
    "nesting": "[[[[[[[1]]]]]]]", "nesting of an object": "{'a': {'a': [1]}}", "pairs": "[[1, 2]]",
    "beyond a float": "[1, 9007199254740992]", "infinity by product": "[2, 10**15]",
    "digits beyond int()": "['9' * 5000]", "an odd digit": "['\\u00b2']", "a NUL": "['\\0']",
    "a large text": "['x' * 7_000_000]", "many": "[1] * 900_000 + ['x']",
}  # fmt: skip


def own(place: Path, validator: str) -> Profile:
    (place / "trusting.py").write_text(validator)
    (place / "profile.toml").write_text(PROFILE)
    return profiles.load(str(place / "profile.toml"))


def solved(host: SolverHost, profile: Profile, value: str) -> Envelope:
    return host.solve(
        SolveRequest(f"def solve(given): return {value}", json.dumps(GIVEN).encode(), profile)
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("what", HOSTILE)
def test_a_result_that_the_validator_fails_on_is_rejected(
    host: SolverHost, tmp_path: Path, what: str
) -> None:
    envelope = solved(host, own(tmp_path, TRUSTING), HOSTILE[what])
    assert (envelope.fault, envelope.accepted, envelope.answer) == (None, False, None), envelope
    assert (envelope.status, envelope.status_detail) == ("feasible", "invalid")
    assert envelope.validation is not None
    (broken,) = envelope.validation.hard_violations
    assert broken.kind == REJECTED
    assert "works on an empty solution, and failed on this result" in broken.message
    assert "Error: " in broken.message
    assert broken.message[:200] in envelope.error_digest
    assert broken.message in envelope.warnings
    msgspec.json.decode(msgspec.json.encode(envelope), type=Envelope)
    assert solved(host, own(tmp_path, TRUSTING), GOOD).accepted


def test_it_scores_nothing_rather_than_no_score(host: SolverHost, tmp_path: Path) -> None:
    given = SolverInstance("a", json.dumps(GIVEN).encode(), best=1)
    program = f"def solve(given): return {HOSTILE['words']}"
    found = solve_instances(program, [given], own(tmp_path, TRUSTING), host=host)
    assert (found.score, found.accepted) == (0.0, 0)
    assert "failed on this result" in found.instances[0].why


def test_a_program_cannot_choose_to_have_no_score(host: SolverHost, tmp_path: Path) -> None:
    """By a solution of which there is no objective, though it is accepted; the empty one, too."""
    text = (
        "from proctor.solver.report import report\ndef validate(given, result, custom_checks=()):\n"
        "    found = result.get('solution')\n"
        "    return report([], objective=float(max(found)) if found else None)\n"
    )
    given = SolverInstance("a", json.dumps(GIVEN).encode(), best=2)
    for value, score in ((GOOD, 1.0), ("[]", 0.0)):
        program = f"def solve(given): return {value}"
        found = solve_instances(program, [given], own(tmp_path, text), host=host)
        assert (found.accepted, found.score) == (1, score)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("while True: pass", "took too long"), ("os._exit(1)", "ended"), ("os.abort()", "ended"),
        ("return [0] * 10**12", "MemoryError"), ("validate(given, result)", "RecursionError"),
        ("raise SystemExit(found)", "SystemExit"), ("return found", "no ValidationReport"),
        ("from proctor.errors import InputError; raise InputError('not this one')", "not this one"),
        ("return report([], objective=float('inf'))", "not JSON compliant"),
        ("return report([], figures={'x': 10**400})", "Error"),
        ("return report([], custom_checks=[{'x': 10**5000}])", "Error"),
    ],
)  # fmt: skip
def test_however_it_fails(host: SolverHost, tmp_path: Path, body: str, why: str) -> None:
    text = TRUSTING.replace("    total", f"    {body}\n    total")
    envelope = solved(host, own(tmp_path, text), GOOD)
    assert (envelope.fault, envelope.accepted, envelope.answer) == (None, False, None)
    assert why in envelope.error_digest


def test_what_earlier_results_left_behind_harms_no_later_one(
    host: SolverHost, tmp_path: Path
) -> None:
    """A process may be short of memory, or hold on to something, after the results before."""
    text = TRUSTING.replace("def validate", "seen = []\ndef validate").replace(
        "    total", "    seen.append(1)\n    if len(seen) > 1: raise MemoryError\n    total"
    )
    profile = own(tmp_path, text)
    for _ in range(3):
        assert solved(host, profile, GOOD).accepted


def test_it_is_the_profiles_fault_if_it_fails_without_the_result(
    host: SolverHost, tmp_path: Path
) -> None:
    """A data file of the validator is gone by the time that it is needed."""
    data = tmp_path / "data"
    data.touch()
    check = f"    open({str(data)!r}).close()\n    if found: os.remove({str(data)!r}); [][0]\n"
    profile = own(tmp_path, TRUSTING.replace("    if not found", check + "    if not found"))
    envelope = solved(host, profile, GOOD)
    assert (envelope.phase, envelope.status_detail) == ("prepare", "invalid_profile")
    assert "FileNotFoundError" in envelope.error_digest
    data.touch()
    given = SolverInstance("a", json.dumps(GIVEN).encode())
    found = solve_instances(f"def solve(given): return {GOOD}", [given], profile, host=host)
    assert found.score is None


@pytest.mark.slow
def test_incumbents_outlast_a_validator_that_breaks(host: SolverHost, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.touch()
    check = (
        f"    open({str(data)!r}).close()\n    if found == [2]: os.remove({str(data)!r}); [][0]\n"
    )
    profile = own(tmp_path, TRUSTING.replace("    if not found", check + "    if not found"))
    source = """
import time
def solve(given):
    yield [1]
    while time.process_time() < 1: pass  # the longer the busier the machine, as its check
    yield [2]
"""
    given = json.dumps(GIVEN).encode()
    envelope = host.solve(SolveRequest(source, given, profile))
    assert (envelope.accepted, envelope.status_detail) == (False, "invalid_profile")
    assert envelope.solution["solution"] == [1]


@pytest.mark.parametrize(
    "more",
    [
        {"unchecked": "(Unchecked('c', 'c', 'hard', 'why'),)"},
        {"hard_unchecked_constraint_ids": "('c',)"},
        {"violations": "(Violation('c', 'c', 'hard', 'broken'),)"},
    ],
)
def test_a_report_is_not_ok_against_its_own_lists(
    host: SolverHost, tmp_path: Path, more: dict[str, str]
) -> None:
    ((field, value),) = more.items()
    text = f"""
from msgspec.structs import replace
from proctor.solver.report import Unchecked, Violation, report
def validate(given, result, custom_checks=()):
    return replace(report([]), {field}={value})
"""
    envelope = solved(host, own(tmp_path, text), GOOD)
    assert envelope.validation is not None
    assert (envelope.validation.ok, envelope.accepted, envelope.answer) == (False, False, None)


def test_a_schema_that_is_none_is_told_before_the_run(host: SolverHost, tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text('{"type": "nothing"}')
    profile = own(tmp_path, TRUSTING)
    rule = msgspec.structs.replace(profile.result, schema="result.json")
    profile = msgspec.structs.replace(profile, result=rule, validator=profiles.ValidatorRule())
    envelope = solved(host, profile, GOOD)
    assert (envelope.phase, envelope.status_detail) == ("prepare", "invalid_profile")


WEEK: dict[str, Any] = {
    "classes": ["c"], "days": ["Mon"], "periods": [1, 2],
    "assignments": [{"id": "1", "class": "c", "subject": "s", "teacher": "t", "weeklyPeriods": 1}],
}  # fmt: skip
LESSON = {"assignmentId": "1", "day": "Mon", "period": 1}


@pytest.mark.parametrize(
    ("constraint", "entry", "score"),
    [
        ({"kind": "custom_dsl", "pythonPredicate": "schedule[0]['x'] == 1"}, LESSON, 0.0),
        ({"kind": "custom_dsl", "pythonPredicate": "schedule[0]['x'] == 1"}, {**LESSON, "x": 1}, 1.0),
        ({"kind": "no_left_turns"}, LESSON, None),
    ],
)  # fmt: skip
def test_no_program_chooses_a_soft_constraint_that_cannot_be_checked(
    host: SolverHost, constraint: dict[str, Any], entry: dict[str, Any], score: float | None
) -> None:
    own = {"id": "p", "severity": "soft", "params": {}, "weight": 1, **constraint}
    given = json.dumps({**WEEK, "constraints": [own]}).encode()
    result = {"status": "FEASIBLE", "schedule": [entry]}
    program = f"open('result.json', 'w').write({json.dumps(result)!r})"
    profile = msgspec.structs.replace(profiles.load("timetable"), warm=())
    found = solve_instances(program, [SolverInstance("a", given, best=0)], profile, host=host)
    assert found.score == score, found.instances[0].why


ODD: list[Any] = [
    None, True, -1, 1e308, 2**53, "", "x" * 100_000, "\0", {}, [[]], [None], {"a": 1}, [{}] * 100,
    json.loads("[" * 60 + "]" * 60),
]  # fmt: skip


def test_the_validators_that_come_with_proctor_fail_over_nothing() -> None:
    """Values of every wrong type, in every field."""
    packed = {"bins": [["a"]], "objective": 1, "bound": 1}
    taught = {"schedule": [LESSON], "assignments": [], "customChecks": []}
    validators = Validators()
    for name, given, right in (
        ("packing", {"capacity": 1, "items": [{"id": "a", "size": 1}]}, packed),
        ("timetable", WEEK, taught),
    ):
        profile = profiles.load(name)
        wrong = [{**right, field: odd} for odd in ODD for field in right]
        wrong += [{**packed, "bins": [[odd]]} for odd in ODD]
        wrong += [
            {**taught, "schedule": [{**LESSON, field: odd}]} for odd in ODD for field in LESSON
        ]
        wrong += [{**taught, "schedule": [LESSON, odd]} for odd in ODD]
        for each in wrong:
            checked = validators.result(given, {"status": "FEASIBLE", **each}, profile, [])
            broken = checked.report.hard_violations if checked.report is not None else ()
            assert checked.problems or checked.report is not None
            assert REJECTED not in {one.kind for one in broken}, (each, broken)
    validators.close()
