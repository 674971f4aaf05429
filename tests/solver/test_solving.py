"""What surrounds a run: time, workers, variables, validators that fail, predicates, the store."""

import asyncio
import json
import os
import shutil
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest

import proctor
from proctor.errors import InputError, NoIsolation
from proctor.solver import profile as profiles
from proctor.solver import request
from proctor.solver.envelope import Envelope, Incumbent
from proctor.solver.host import SolverHost
from proctor.solver.profile import Profile
from proctor.solver.request import SolveRequest
from solver_corpus import GIVEN
from waiting import PATIENCE

pytestmark = [pytest.mark.namespaces, pytest.mark.user]

LEAVE = """
import json, os
def leave(name, **result):
    with open("draft", "w") as file:
        json.dump(result, file)
    os.rename("draft", name)
"""
BEST = (
    LEAVE
    + 'leave("result.json", status="OPTIMAL", bins=[["a", "c"], ["b"]], objective=2, bound=2)\n'
)
FOREVER = (
    LEAVE
    + 'leave("inc_1.json", status="FEASIBLE", bins=[["a"], ["b"], ["c"]], objective=3, bound=2)\n'
    + "import time\ntime.sleep(1000)\n"
)
CP_SAT = """
import json, os
from ortools.sat.python import cp_model
given = json.load(open("input.json"))
sizes = {item["id"]: item["size"] for item in given["items"]}
model = cp_model.CpModel()
bins = range(len(sizes))
put = {(item, bin): model.new_bool_var("") for item in sizes for bin in bins}
used = [model.new_bool_var("") for _ in bins]
for item in sizes:
    model.add_exactly_one(put[item, bin] for bin in bins)
for bin in bins:
    load = sum(size * put[item, bin] for item, size in sizes.items())
    model.add(load <= given["capacity"] * used[bin])
model.minimize(sum(used))
solver = cp_model.CpSolver()
solver.parameters.num_workers = WORKERS
solver.parameters.max_time_in_seconds = float(os.environ["SOLVER_MAX_SECONDS"])
status = solver.solve(model)
packed = [[item for item in sizes if solver.value(put[item, bin])] for bin in bins]
packed = [each for each in packed if each]
with open("draft", "w") as file:
    json.dump({"status": solver.status_name(status), "bins": packed, "objective": len(packed),
               "bound": solver.best_objective_bound}, file)
os.rename("draft", "result.json")
"""


@pytest.fixture(scope="module")
def packing() -> Profile:
    return profiles.load("packing")


def own_profile(place: Path, changes: str = "", validate: str | None = None) -> Profile:
    """A profile like packing, with no modules to warm."""
    shutil.copytree(profiles.folder("packing"), place, dirs_exist_ok=True)
    text = (place / "profile.toml").read_text()
    text = "\n".join(line for line in text.splitlines() if not line.startswith("warm"))
    (place / "profile.toml").write_text(text + "\n" + changes)
    if validate is not None:
        (place / "validate.py").write_text(validate)
    return profiles.load(str(place / "profile.toml"))


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_a_real_solver_with_threads(host: SolverHost, packing: Profile, workers: int) -> None:
    items = [{"id": str(n), "size": 1 + n % 5} for n in range(10)]
    source = CP_SAT.replace("WORKERS", str(workers))
    envelope = proctor.solve(source, {"capacity": 10, "items": items}, packing, host=host)
    assert (envelope.status, envelope.accepted) == ("optimal", True), envelope
    assert envelope.validation is not None
    assert envelope.validation.objective == 3.0


@pytest.mark.parametrize("timeout", [0.5, 1.0, 2.0, 20.0, 360.0])
def test_each_limit_is_before_the_next(packing: Profile, timeout: float) -> None:
    steps = request.time_limits(SolveRequest("", b"", packing, timeout))
    assert 0 < steps.inner < steps.wall < steps.wall + steps.grace < steps.transport
    assert steps.wall == timeout


def test_variables_of_the_first_host_count(
    packing: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = SolveRequest("", b"", packing)
    monkeypatch.setenv("EXECUTOR_TIMEOUT_SECONDS", "12.5")
    monkeypatch.setenv("SOLVER_WORKERS", "1")
    assert request.time_limits(asked).wall == 12.5
    assert request.workers(asked) == 1
    monkeypatch.setenv("EXECUTOR_TIMEOUT_SECONDS", "soon")
    with pytest.raises(InputError, match="EXECUTOR_TIMEOUT_SECONDS"):
        request.time_limits(asked)


def test_workers_are_no_more_than_cpus(packing: Profile) -> None:
    cpus = len(os.sched_getaffinity(0))
    assert request.workers(SolveRequest("", b"", packing, workers=64)) == min(cpus, 8)
    assert request.workers(SolveRequest("", b"", packing, workers=8, deterministic=True)) == 1


@pytest.mark.slow
def test_none_is_gated_and_refused_in_production(
    packing: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROCTOR_SOLVER_ISOLATION", "none")
    for variables, refused in (
        ({}, True),
        ({"PROCTOR_ALLOW_UNSAFE": "1"}, False),
        ({"PROCTOR_ALLOW_UNSAFE": "1", "PROCTOR_PRODUCTION": "1"}, True),
    ):
        with monkeypatch.context() as patch, SolverHost(cells=1) as opened:
            for name, value in variables.items():
                patch.setenv(name, value)
            envelope = opened.solve(SolveRequest(BEST, GIVEN, packing))
        assert (envelope.status_detail == "sandbox_unavailable") == refused, envelope
        assert (envelope.isolation == "none") != refused


def test_docker_first_then_namespaces(packing: Profile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_CONTAINER_ENGINE", "/no/such/docker")
    with SolverHost(cells=1) as opened:
        envelope = opened.solve(SolveRequest(BEST, GIVEN, packing))
    assert (envelope.status, envelope.isolation) == ("optimal", "namespaces")
    monkeypatch.setenv("PROCTOR_SOLVER_ISOLATION", "container")
    with SolverHost(cells=1) as opened:
        envelope = opened.solve(SolveRequest(BEST, GIVEN, packing))
    assert (envelope.phase, envelope.status, envelope.ok) == ("sandbox", "crashed", False)
    assert envelope.fault is not None
    assert envelope.fault.code == NoIsolation.code


@pytest.mark.slow
def test_the_order_of_levels_is_the_users(
    packing: Profile, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[solver]\nbackends = ["landlock", "namespaces"]\n')
    monkeypatch.setenv("PROCTOR_CONFIG", str(config))
    with SolverHost(cells=1) as opened:
        assert opened.solve(SolveRequest(BEST, GIVEN, packing)).isolation == "landlock"
    with SolverHost(cells=1, min_isolation="namespaces") as opened:
        assert opened.solve(SolveRequest(BEST, GIVEN, packing)).isolation == "namespaces"
    monkeypatch.setenv("PROCTOR_ISOLATION", "namespaces")
    with SolverHost(cells=1) as opened:
        assert opened.solve(SolveRequest(BEST, GIVEN, packing)).isolation == "namespaces"


def test_a_validator_that_prints_is_heard_of_nowhere(host: SolverHost, tmp_path: Path) -> None:
    text = (profiles.folder("packing") / "validate.py").read_text()
    own_profile(
        tmp_path, validate=text.replace("    del custom", "    print('!' * 99)\n    del custom")
    )
    profile = profiles.load(str(tmp_path / "profile.toml"))
    assert host.solve(SolveRequest(BEST, GIVEN, profile)).accepted


PREDICATES = {
    "len(schedule) == 1": True,
    "schedule[0]['teacher'] == 'Bob'": False,
    "def check(schedule, data):\n    return data['days'] == ['Mon']": True,
    "def check(schedule, data):\n    return ['too early']": False,
    "def check(schedule, data):\n    return False, 'not on Mondays'": False,
    "no_such_name": False,
    "def": False,
    "__import__('os')._exit(0)": False,
    "open('/etc/shadow').read()": False,
    "[0] * 10**12": False,
}


ONE_LESSON: dict[str, Any] = {
    "classes": ["1A"], "days": ["Mon"], "periods": [1],
    "assignments": [
        {"id": "m", "class": "1A", "subject": "Maths", "teacher": "Ada", "weeklyPeriods": 1}
    ],
}  # fmt: skip
TAUGHT = {
    "status": "OPTIMAL",
    "schedule": [
        {"assignmentId": "m", "class": "1A", "day": "Mon", "period": 1, "subject": "Maths", "teacher": "Ada"}
    ],
}  # fmt: skip


def predicate(source: str, id_: str = "p", **more: Any) -> dict[str, Any]:
    own = {"id": id_, "kind": "custom_dsl", "severity": "hard", "params": {}}
    return {**own, "pythonPredicate": source, **more}


def checked(host: SolverHost, *constraints: dict[str, Any]) -> Envelope:
    """What a right timetable of one lesson comes to."""
    given = {**ONE_LESSON, "constraints": list(constraints)}
    envelope = proctor.solve(f"{LEAVE}leave('result.json', **{TAUGHT!r})", given, host=host)
    assert envelope.validation is not None, envelope
    return envelope


@pytest.mark.parametrize("source", PREDICATES)
def test_predicates_run_in_cells(host: SolverHost, source: str) -> None:
    envelope = checked(host, predicate(source))
    assert envelope.validation is not None
    (said,) = envelope.validation.custom_checks
    assert (said["constraintId"], said["ok"]) == ("p", PREDICATES[source]), said
    assert envelope.accepted is PREDICATES[source]


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ("lambda schedule, data: False", "function"),
        ("(each['period'] > 5 for each in schedule)", "generator"),
        ("{'ok': False}", "dict"), ("{'wrong'}", "set"), ("1", "int"), ("0.5", "float"),
        ("None", "None"), ("(True,)", "tuple"), ("()", "tuple"), ("b'fine'", "bytes"), ("all", "builtin"),
        ("('period 5', True)", "tuple"), ("type('Yes', (), {})()", "Yes"),
    ],
)  # fmt: skip
def test_what_is_no_bool_is_no_yes(host: SolverHost, value: str, named: str) -> None:
    envelope = checked(host, predicate(value), predicate(f"def check(s, d): return {value}", "q"))
    assert not envelope.accepted
    assert envelope.validation is not None
    assert envelope.validation.hard_unchecked_constraint_ids == ("p", "q")
    for why in envelope.validation.unchecked_notes:
        assert named in why
        assert "neither true nor false" in why


def test_a_predicate_of_another_name_is_told_which_it_must_have(host: SolverHost) -> None:
    envelope = checked(host, predicate("import json\ndef holds(schedule, data): return True"))
    assert envelope.validation is not None
    (note,) = envelope.validation.unchecked_notes
    assert "defines no check(schedule, data), but holds: its name must be check" in note


@pytest.mark.parametrize("source", ["[] and False", "'' or []", "schedule", "data and schedule"])
def test_what_a_condition_happens_to_come_to_is_no_yes(host: SolverHost, source: str) -> None:
    """Of an empty schedule `schedule and all(...)` is the empty list of what is wrong."""
    envelope = checked(host, predicate(source))
    assert not envelope.accepted
    assert envelope.validation is not None
    assert envelope.validation.hard_unchecked_constraint_ids == ("p",)


def test_the_predicate_after_the_last_that_is_run_is_unchecked(host: SolverHost) -> None:
    known = {"kind": "teacher_max_per_day", "params": {"teacher": "Ada", "maxPerDay": 1}}
    many = [predicate("True", f"p{n}") for n in range(100)]
    assert checked(host, *many).accepted
    envelope = checked(host, *many, predicate("False", "last"), predicate("False", "own", **known))
    assert not envelope.accepted
    assert envelope.validation is not None
    assert envelope.validation.hard_unchecked_constraint_ids == ("last", "own")
    assert "not run" in envelope.validation.unchecked_notes[0]


TIMETABLE: dict[str, Any] = {
    "classes": ["1A"], "days": ["Mon", "Tue"], "periods": [1, 2],
    "assignments": [
        {"id": "m", "class": "1A", "subject": "Maths", "teacher": "Ada", "weeklyPeriods": 2}
    ],
    "constraints": [
        {"id": "c", "kind": "teacher_max_per_day", "severity": "hard", "params": {"teacher": "Ada", "maxPerDay": 1}}
    ],
}  # fmt: skip


def test_roundtrip_through_the_skeleton(host: SolverHost) -> None:
    from proctor.timetable import profile

    envelope = proctor.solve(profile.text(), TIMETABLE, host=host, roundtrip=True, timeout=30)
    assert (envelope.accepted, envelope.roundtrip) == (True, True), envelope
    refused = host.solve(SolveRequest(BEST, GIVEN, profiles.load("packing"), roundtrip=True))
    assert "no model" in refused.error_digest


def test_roundtrip_that_does_not_agree(host: SolverHost, tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text("def program():\n    return 'raise SystemExit(\"not by my model\")'\n")
    profile = msgspec.structs.replace(profiles.load("packing"), roundtrip="own:program")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        envelope = host.solve(SolveRequest(BEST, GIVEN, profile, roundtrip=True))
    assert (envelope.ok, envelope.accepted, envelope.roundtrip) == (True, False, False)
    assert "not by my model" in "".join(envelope.warnings)


def test_results_and_artifacts_are_kept(tmp_path: Path) -> None:
    rules = r"""
[artifacts]
files = 'artifacts/[\w.]+'
"""
    profile = own_profile(tmp_path / "profile", rules)
    source = (
        BEST
        + "os.mkdir('artifacts')\nopen('artifacts/log.txt', 'w').write('found')\nopen('other', 'w')"
    )
    with SolverHost(isolation="namespaces", cells=1, store=tmp_path) as keeping:
        envelope = keeping.solve(SolveRequest(source, GIVEN, profile))
    assert [each.name for each in envelope.artifacts] == ["artifacts/log.txt"]
    assert envelope.result_path is not None
    assert json.loads(Path(envelope.result_path).read_text()) == envelope.result_data
    (kept,) = Path(envelope.result_path).with_suffix("").iterdir()
    assert kept.read_text() == "found"


def test_cancelling_keeps_what_was_found(host: SolverHost, packing: Profile) -> None:
    heard = threading.Event()
    run = host.start(SolveRequest(FOREVER, GIVEN, packing), lambda _: heard.set())
    assert heard.wait(PATIENCE)
    run.cancel()
    envelope = run.result()
    assert (envelope.status, envelope.ok, envelope.partial.valid) == ("cancelled", False, True)


def test_cancelling_what_waits(packing: Profile) -> None:
    with SolverHost(isolation="namespaces", cells=1) as one:
        heard = threading.Event()
        first = one.start(SolveRequest(FOREVER, GIVEN, packing), lambda _: heard.set())
        assert heard.wait(PATIENCE)
        second = one.start(SolveRequest(BEST, GIVEN, packing))
        second.cancel()
        first.cancel()
        assert second.result().status == "cancelled"


def test_incumbents_as_they_come(host: SolverHost, packing: Profile) -> None:
    async def main() -> list[Incumbent | Envelope]:
        stream = proctor.solve_stream(FOREVER, GIVEN, packing, host=host, timeout=3)
        return [each async for each in stream]

    *incumbents, last = asyncio.run(main())
    assert [each.objective for each in incumbents if isinstance(each, Incumbent)] == [3.0]
    assert isinstance(last, Envelope)
    assert last.status == "timeout"


def test_leaving_a_stream_ends_the_program(host: SolverHost, packing: Profile) -> None:
    async def main() -> None:
        stream = proctor.solve_stream(FOREVER, GIVEN, packing, host=host)
        async for _ in stream:
            break
        await stream.aclose()  # type: ignore[attr-defined]

    asyncio.run(main())  # and it is over long before its minute
    assert host.solve(SolveRequest(BEST, GIVEN, packing)).accepted


def test_async(host: SolverHost, packing: Profile) -> None:
    assert asyncio.run(proctor.solve_async(BEST, GIVEN, packing, host=host)).accepted


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (b"{", "not JSON"), (b'{"capacity": 1, "capacity": 2, "items": []}', "twice"),
        (b'{"capacity": 0, "items": []}', "capacity"), (b"[]", "object"), (b'{"capacity": 3}', "items"),
    ],
)  # fmt: skip
def test_input_that_is_none(host: SolverHost, packing: Profile, given: bytes, why: str) -> None:
    envelope = host.solve(SolveRequest(BEST, given, packing))
    assert (envelope.phase, envelope.status_detail) == ("prepare", "invalid_input")
    assert why in envelope.error_digest


def test_without_the_extra_it_is_said_before_anything_runs(
    packing: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proctor.solver.checking.find_spec", lambda _name: None)
    with SolverHost(isolation="namespaces", cells=1) as host:
        envelope = host.solve(SolveRequest(BEST, GIVEN, packing))
    assert (envelope.status, envelope.status_detail) == ("crashed", "sandbox_unavailable")
    assert envelope.error_digest.endswith("jsonschema is missing: pip install 'proctor[solver]'")


STARTED = """
import threading
over = threading.Event()
for _ in range(COUNT): threading.Thread(target=over.wait, daemon=True).start()
"""


def test_a_solver_may_start_more_threads_than_it_was_told(
    host: SolverHost, packing: Profile
) -> None:
    source = STARTED.replace("COUNT", "40") + BEST
    envelope = host.solve(SolveRequest(source, GIVEN, packing, workers=1))
    assert (envelope.accepted, envelope.error_digest) == (True, "")


def test_a_solver_that_could_start_no_more_is_told_the_limit(
    host: SolverHost, packing: Profile
) -> None:
    rule = msgspec.structs.replace(packing.limits, processes=20)
    profile = msgspec.structs.replace(packing, limits=rule)
    source = STARTED.replace("COUNT", "60") + BEST
    envelope = host.solve(SolveRequest(source, GIVEN, profile, workers=1))
    assert (envelope.status, envelope.status_detail) == ("crashed", "processes")
    assert "can't start new thread" in envelope.error_digest
    assert "process limit: 21 processes and threads at once" in envelope.error_digest
    assert envelope.limits["processes"] == 21


def test_a_solver_may_use_processes(host: SolverHost, packing: Profile) -> None:
    source = (
        "import multiprocessing\ndef double(n): return 2 * n\n"
        "if __name__ == '__main__':\n"
        "    for method in ('fork', 'spawn'):\n"
        "        with multiprocessing.get_context(method).Pool(2) as pool:\n"
        "            assert pool.map(double, [1, 2]) == [2, 4]\n"
    ) + "".join(f"    {line}\n" for line in BEST.splitlines())
    envelope = host.solve(SolveRequest(source, GIVEN, packing, workers=1))
    assert (envelope.accepted, envelope.error_digest) == (True, "")
