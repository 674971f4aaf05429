"""The one answer of a solve: which solution it is, in the envelope, the store, and a score."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from proctor.service.http.tack import envelope as tack
from proctor.solver import profile as profiles
from proctor.solver.envelope import Envelope, Partial, SolveAnswer
from proctor.solver.host import SolverHost
from proctor.solver.instances import SolverInstance, scored
from proctor.solver.profile import Profile
from proctor.solver.request import SolveRequest
from solver_corpus import GIVEN

pytestmark = pytest.mark.namespaces

LEAVE = """
import json, os, sys, time
def leave(name, bins, status="FEASIBLE"):
    with open("draft", "w") as file:
        json.dump({"status": status, "bins": bins, "objective": 1}, file)
    os.rename("draft", name)
TWO, THREE, WRONG = [["a", "c"], ["b"]], [["a"], ["b"], ["c"]], [["a", "b", "c"]]
"""
TWO, THREE, WRONG = [["a", "c"], ["b"]], [["a"], ["b"], ["c"]], [["a", "b", "c"]]
VALID_THEN = LEAVE + "leave('inc_1.json', TWO)\n"
ENDS = {
    "a valid result": (
        LEAVE + "leave('result.json', TWO)", True, SolveAnswer({}, "result", 2.0, True),
    ),
    "a result that is no better": (
        VALID_THEN + "leave('result.json', TWO[::-1])", True, SolveAnswer({}, "result", 2.0, True),
    ),
    "an invalid result": (LEAVE + "leave('result.json', WRONG)", False, None),
    "an invalid result after a valid incumbent": (
        VALID_THEN + "leave('result.json', WRONG, 'OPTIMAL')", True,
        SolveAnswer({}, "incumbent", 2.0, True),
    ),
    "a worse result": (
        VALID_THEN + "leave('result.json', THREE)", True, SolveAnswer({}, "incumbent", 2.0, True),
    ),
    "giving up": (
        VALID_THEN + "leave('result.json', [], 'UNKNOWN')", True,
        SolveAnswer({}, "incumbent", 2.0, True),
    ),
    "no result": (VALID_THEN, False, SolveAnswer({}, "incumbent", 2.0, True)),
    "a crash": (VALID_THEN + "sys.exit(3)", False, SolveAnswer({}, "incumbent", 2.0, True)),
    "an invalid incumbent, and a crash": (
        LEAVE + "leave('inc_1.json', WRONG)\nsys.exit(3)", False, None,
    ),
    "nothing": ("pass", False, None),
}  # fmt: skip
"""Program, whether it is accepted, and its answer but for the data, by what the program does."""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SolverHost]:
    place = tmp_path_factory.mktemp("store")
    with SolverHost(isolation="namespaces", cells=1, store=place) as opened:
        yield opened


def cold(**changes: Any) -> Profile:
    return msgspec.structs.replace(profiles.load("packing"), warm=(), **changes)


@pytest.mark.parametrize("how", ENDS)
def test_the_answer(host: SolverHost, how: str) -> None:
    source, accepted, expected = ENDS[how]
    envelope = host.solve(SolveRequest(source, GIVEN, cold()))
    assert envelope.accepted is accepted, envelope
    answer = envelope.answer
    if answer is None:
        assert expected is None
        assert (envelope.solution, envelope.objective) == (None, None)
        return
    assert msgspec.structs.replace(answer, data={}) == expected
    assert sorted(answer.data["bins"]) == TWO
    assert (envelope.solution, envelope.objective) == (answer.data, answer.objective)
    assert envelope.report is not None
    assert envelope.report.ok
    assert envelope.result_path is not None
    assert json.loads(Path(envelope.result_path).read_text()) == answer.data
    result = scored(SolverInstance("a", GIVEN, best=2), envelope, "min")
    assert (result.score, result.objective) == ((1.0, 2.0) if accepted else (0.0, None))
    told = tack.fields(envelope)
    assert told["answer"] == json.loads(msgspec.json.encode(envelope))["answer"]
    if envelope.ok:
        assert (told["resultData"], told["validation"]["ok"]) == (answer.data, True)


def test_when_time_is_over(host: SolverHost) -> None:
    source = VALID_THEN + "time.sleep(600)"
    envelope = host.solve(SolveRequest(source, GIVEN, cold(), timeout=3))
    assert (envelope.status, envelope.accepted) == ("timeout", True)
    assert envelope.answer is not None
    assert (envelope.answer.source, envelope.answer.validated) == ("incumbent", True)


def test_where_nobody_checks_an_answer_is_not_validated(host: SolverHost) -> None:
    unchecked = cold(validator=profiles.ValidatorRule())
    for source, where in (
        (LEAVE + "leave('result.json', WRONG)", "result"),
        (LEAVE + "leave('inc_1.json', WRONG)", "incumbent"),
    ):
        envelope = host.solve(SolveRequest(source, GIVEN, unchecked))
        assert envelope.answer is not None
        assert (envelope.answer.source, envelope.answer.validated) == (where, False)
        assert (envelope.answer.objective, envelope.accepted) == (None, False)


def test_the_profiles_own_model_has_its_say(
    host: SolverHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "no_model.py").write_text("def program():\n    return 'raise SystemExit(1)'\n")
    monkeypatch.syspath_prepend(tmp_path)
    profile = cold(roundtrip="no_model:program")
    source = LEAVE + "leave('result.json', TWO)"
    envelope = host.solve(SolveRequest(source, GIVEN, profile, roundtrip=True))
    assert (envelope.accepted, envelope.roundtrip) == (False, False)
    assert envelope.answer is not None
    assert (envelope.answer.source, envelope.answer.validated) == ("result", False)


def test_an_envelope_of_an_older_version_has_its_answer() -> None:
    now = Envelope(
        "j", "p@1", "run", "timeout", ok=True, accepted=True, result_data={"bins": WRONG},
        partial=Partial(available=True, valid=True, data={"bins": TWO}),
    )  # fmt: skip
    then = json.loads(msgspec.json.encode(now))
    del then["answer"]
    read = msgspec.convert(then, Envelope)
    assert read == now
    assert read.answer == SolveAnswer({"bins": TWO}, "incumbent")


SUMMARIES = """
def fails(result):
    return {"first": result["bins"][0][1]}
def strange(result):
    return {"bins": len(result["bins"]), "all": object()}
def plain(result):
    return {"bins": len(result["bins"])}
def endless(result):
    while len(result["bins"]) == 3:
        pass
"""


@pytest.mark.slow
def test_a_summary_is_of_the_answer_and_loses_nothing(host: SolverHost, tmp_path: Path) -> None:
    place = str(shutil.copytree(cold().directory, tmp_path / "packing"))
    Path(place, "summaries.py").write_text(SUMMARIES)
    source = VALID_THEN + "leave('result.json', WRONG[:0] + [['a']])"
    for name, summary in (("plain", {"bins": 2}), ("strange", {}), ("fails", {"first": "c"})):
        rule = msgspec.structs.replace(cold().result, summary=f"summaries.py:{name}")
        envelope = host.solve(SolveRequest(source, GIVEN, cold(result=rule, directory=place)))
        assert (envelope.accepted, envelope.result_summary) == (True, summary)
    rule = msgspec.structs.replace(cold().result, summary="summaries.py:fails")
    source = LEAVE + "leave('result.json', THREE)"
    envelope = host.solve(SolveRequest(source, GIVEN, cold(result=rule, directory=place)))
    assert (envelope.accepted, envelope.result_summary) == (True, {})
    assert "no summary: IndexError" in "".join(envelope.warnings)
    # A program must not be able to hold the host up.
    short = msgspec.structs.replace(cold().validator, timeout=5.0)
    rule = msgspec.structs.replace(cold().result, summary="summaries.py:endless")
    envelope = host.solve(
        SolveRequest(source, GIVEN, cold(result=rule, validator=short, directory=place))
    )
    assert (envelope.accepted, envelope.result_summary) == (True, {})
    assert "no summary: " in "".join(envelope.warnings)
