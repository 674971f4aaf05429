"""What programs, inputs and neighbours try on the host of solvers, where one envelope is not all."""

import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from proctor.errors import InputError
from proctor.sandbox.directory_job import FoundFile
from proctor.sandbox.machine import plain_file, walk
from proctor.solver import claim, strict_json
from proctor.solver import profile as profiles
from proctor.solver.envelope import Envelope
from proctor.solver.host import SolverHost
from proctor.solver.profile import MarkerRule, Profile
from proctor.solver.request import SolveRequest
from proctor.solver.store import FOLDER, ResultStore
from solver_corpus import GIVEN

pytestmark = [pytest.mark.namespaces, pytest.mark.user]

BEST = """
import json, os
with open("result.json", "w") as file:
    json.dump({"status": "OPTIMAL", "bins": [["a", "c"], ["b"]], "objective": 2, "bound": 2}, file)
"""
WEEK = {
    "classes": ["c"],
    "days": ["Mon", "Tue"],
    "periods": [1, 2],
    "assignments": [
        {"id": "1", "class": "c", "subject": "s", "teacher": "t", "weeklyPeriods": 1}
    ],
}  # fmt: skip
LESSON = {"assignmentId": "1", "day": "Mon", "period": 1}


def cold(name: str) -> Profile:
    return msgspec.structs.replace(profiles.load(name), warm=())


def own(place: Path, changes: str, validate: str = "") -> Profile:
    """The packing profile with changes, and with more at the head of its validator."""
    shutil.copytree(profiles.folder("packing"), place)
    with (place / "profile.toml").open("a") as file:
        file.write(changes)
    validator = (place / "validate.py").read_text()
    (place / "validate.py").write_text(validator + validate)
    loaded = profiles.load(str(place / "profile.toml"))
    return msgspec.structs.replace(loaded, warm=())


def timetable(host: SolverHost, result: dict[str, Any], **given: Any) -> Envelope:
    source = f"open('result.json', 'w').write({json.dumps(result)!r})"
    return host.solve(SolveRequest(source, json.dumps(WEEK | given).encode(), cold("timetable")))


@pytest.mark.parametrize("assignments", [5, True, "x", {"a": 1}])
def test_assignments_of_a_wrong_type(host: SolverHost, assignments: Any) -> None:
    for status in ("OPTIMAL", "INFEASIBLE"):
        result = {"status": status, "schedule": [LESSON], "assignments": assignments}
        envelope = timetable(host, result)
        assert not envelope.ok
        if status == "OPTIMAL":
            assert (envelope.phase, envelope.status_detail) == ("parse", "result_schema")


@pytest.mark.parametrize(
    "entry",
    [
        LESSON | {"period": True},
        LESSON | {"period": 1.0},
        LESSON | {"period": "1"},
        LESSON | {"day": 0},
        LESSON | {"day": ["Mon"]},
        LESSON | {"assignmentId": {}},
        LESSON | {"assignmentId": True},
        LESSON | {"assignmentId": " 1"},
        LESSON | {"teacher": "T"},
        None,
    ],
)
def test_entries_of_wrong_types_are_no_lessons(host: SolverHost, entry: Any) -> None:
    envelope = timetable(host, {"status": "OPTIMAL", "schedule": [entry]})
    assert (envelope.status, envelope.accepted) == ("feasible", False)


@pytest.mark.parametrize("predicate", ["False", "1 / 0", "exit()"])
def test_a_predicate_of_a_known_kind_counts(host: SolverHost, predicate: str) -> None:
    constraint = {
        "id": "p", "kind": "teacher_no_gaps", "severity": "hard", "params": {"teacher": "t"},
        "pythonPredicate": predicate,
    }  # fmt: skip
    result = {
        "status": "OPTIMAL", "schedule": [LESSON],
        "customChecks": [{"constraintId": "p", "ok": True, "ran": True}],
    }  # fmt: skip
    assert not timetable(host, result, constraints=[constraint]).accepted
    assert timetable(host, result, constraints=[constraint | {"pythonPredicate": "True"}]).accepted


def test_artifacts_however_they_are_called_or_where_they_are(tmp_path: Path) -> None:
    profile = own(tmp_path / "profile", "\n[artifacts]\nfiles = '(?s).*x.*'\n")
    source = (
        BEST
        + r"""
names = [b"x\n", b"x\xff", b"x" * 255, b"x\x1b[31m", b"x.txt"]
for name in names:
    open(name, "w").close()
at = os.open(".", os.O_RDONLY)
for _ in range(1200):
    os.mkdir("x", dir_fd=at)
    below = os.open("x", os.O_RDONLY, dir_fd=at)
    os.close(at)
    at = below
"""
    )
    with SolverHost(isolation="namespaces", cells=1, store=tmp_path) as keeping:
        envelope = keeping.solve(SolveRequest(source, GIVEN, profile))
    assert envelope.accepted
    assert {each.name for each in envelope.artifacts} == {"x" * 255, "x.txt"}
    msgspec.json.decode(msgspec.json.encode(envelope))
    assert envelope.warnings == ()
    assert envelope.result_path is not None
    kept = Path(envelope.result_path).with_suffix("").iterdir()
    assert sorted(len(each.name) for each in kept) == [len("000_x.txt"), 204]


def test_a_walk_has_bounds(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").touch()
    (tmp_path / "link").symlink_to("/etc")
    Path(tmp_path, *"12345678", "9").mkdir(parents=True)
    Path(tmp_path, *"12345678", "deep").touch()
    Path(tmp_path, *"12345678", "9", "deeper").touch()
    directory = os.open(tmp_path, os.O_RDONLY)
    open_before = len(os.listdir("/proc/self/fd"))
    found = {path for path, _, _ in walk.files(directory)}
    assert len(os.listdir("/proc/self/fd")) == open_before
    os.close(directory)
    assert found == {"link", "a/b/file", "1/2/3/4/5/6/7/8/deep"}


@pytest.mark.slow
def test_a_validator_that_has_no_answer_proves_nothing(host: SolverHost, tmp_path: Path) -> None:
    more = "\ndef validate(_, result, __):\n    if result['bins']: raise MemoryError\n    return report([])\n"
    envelope = host.solve(SolveRequest(BEST, GIVEN, own(tmp_path / "p", "", more)))
    assert (envelope.status, envelope.ok, envelope.accepted) == ("feasible", True, False)
    more = (
        "\ndef validate(_, result, __):\n"
        "    return report([_violation('x', 'x' * 1000) for _ in range(20000 * len(result['bins']))])\n"
    )
    envelope = host.solve(SolveRequest(BEST, GIVEN, own(tmp_path / "q", "", more)))
    assert (envelope.status, envelope.accepted) == ("feasible", False)
    assert "too large" in "".join(envelope.warnings)


def test_a_validator_that_is_killed_is_asked_again(host: SolverHost, tmp_path: Path) -> None:
    flag = tmp_path / "killed"
    kill = f"""
import os, pathlib
if not pathlib.Path({str(flag)!r}).exists():
    pathlib.Path({str(flag)!r}).touch()
    os.kill(os.getpid(), {int(signal.SIGKILL)})
"""
    envelope = host.solve(SolveRequest(BEST, GIVEN, own(tmp_path / "p", "", kill)))
    assert flag.exists()
    assert (envelope.status, envelope.accepted, envelope.warnings) == ("optimal", True, ())


@pytest.mark.parametrize("field", ["entry", "input.file", "result.file"])
def test_a_profile_names_no_directories(tmp_path: Path, field: str) -> None:
    place = tmp_path / "profile.toml"
    for name in ("out/x.json", "../x", "/x", ""):
        place.write_text(f'id = "x"\n{field} = "{name}"\n')
        with pytest.raises(InputError):
            profiles.load(str(place))


def test_a_store_that_others_write_to(tmp_path: Path) -> None:
    store = ResultStore(tmp_path, keep=2, keep_bytes=1000)
    first = store.save(store.new("job_1"), b"{}", ())
    other = tmp_path / "other"
    other.write_text("not ours")
    for n in range(5):
        (store.place / f"result_z{n}.json").write_text("x")
    (store.place / "result_loop.json").symlink_to("result_loop.json")
    (store.place / "result_20000101T000000000000_link.json").symlink_to(other)
    (store.place / "result_20000101T000000000001_dir.json").mkdir()
    (store.place / "result_99990101T000000000000_later.json").write_text("x" * 2000)
    second = store.save(store.new("job_2"), b"{}", (FoundFile("a/" + "n" * 255, b"", 0.0),))
    assert second.exists()
    assert not first.exists()
    assert other.read_text() == "not ours"
    assert (tmp_path / FOLDER / "result_z0.json").exists()


def test_markers_are_counted_as_by_lines() -> None:
    rule = MarkerRule(text="Found")
    for printed, count in (
        (b"found", 1), (b" FOUND\t\r\nfound\rfound", 3), (b"found found\n", 0), (b"xfound\n", 0),
        (b"found\n\nfound\n", 2), (b"\x0bfound\x0c", 1), (b"found\0\n", 0), (b"", 0),
    ):  # fmt: skip
        assert claim.markers(printed, rule) == count, printed
        by_lines = sum(line.strip().upper() == b"FOUND" for line in printed.splitlines())
        assert by_lines == count
    assert claim.markers(b"ab\n" * (8 << 20), rule) == 0


def test_values_are_counted_outside_of_texts() -> None:
    assert strict_json.decode(b'["a,[{\\",\\\\", 1]', 4, 2) == ['a,[{",\\', 1]
    with pytest.raises(ValueError, match="more than 2 values"):
        strict_json.decode(b"[1, 2, 3]", 4, 2)


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_what_is_no_file_name(name: str) -> None:
    with pytest.raises(InputError):
        plain_file.read(name, 1)
