"""The best solution is never lost: whatever the program does next, and whatever ends the host."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest

from proctor.errors import InfraFault
from proctor.sandbox.directory_job import FoundFile
from proctor.solver import claim
from proctor.solver import profile as profiles
from proctor.solver.checking import CheckResult
from proctor.solver.claim import ClaimedResult
from proctor.solver.envelope import Partial
from proctor.solver.host import SolverHost
from proctor.solver.incumbents import BestSolution
from proctor.solver.profile import Profile
from proctor.solver.report import Violation, report
from proctor.solver.request import SolveRequest
from proctor.solver.store import FOLDER, ResultStore
from waiting import PATIENCE, until

pytestmark = pytest.mark.namespaces

COUNT = 60
ITEMS = {"capacity": COUNT, "items": [{"id": str(n), "size": 1} for n in range(COUNT)]}
HEAD = f"""
import json, os, time
COUNT = {COUNT}
def leave(name, bins, **more):
    each = -(-COUNT // bins)
    packed = [[str(n) for n in range(COUNT)][at:at + each] for at in range(0, COUNT, each)]
    with open("draft", "w") as file:
        json.dump({{"status": "FEASIBLE", "bins": packed, "objective": len(packed), **more}}, file)
    os.rename("draft", name)
"""
BETTER_THEN_WORSE = (
    HEAD
    + """
leave("inc_1.json", 60)
leave("inc_2.json", 1)
leave("inc_3.json", 60)
"""
)
FOREVER = BETTER_THEN_WORSE + "time.sleep(1000)\n"


def cold(**changes: Any) -> Profile:
    return msgspec.structs.replace(profiles.load("packing"), warm=(), **changes)


def wait_for(place: Path, bins: int) -> dict[str, Any]:
    """Return the result that is kept at `place` when it has so many bins."""

    def kept() -> list[dict[str, Any]]:
        paths = place.glob(f"{FOLDER}/result_*.json")
        found = [json.loads(path.read_text()) for path in paths]  # whole, whenever it is read
        return [each for each in found if len(each["bins"]) == bins]

    return until(kept)[0]


@pytest.mark.parametrize("last", ["", "leave('result.json', 60)", "raise SystemExit(3)"])
def test_one_bin_is_kept_though_sixty_came_after_it(tmp_path: Path, last: str) -> None:
    with SolverHost(isolation="namespaces", cells=1, store=tmp_path) as host:
        source = BETTER_THEN_WORSE + last
        envelope = host.solve(SolveRequest(source, json.dumps(ITEMS).encode(), cold()))
    assert (envelope.partial.valid, envelope.partial.objective) == (True, 1.0), envelope
    assert envelope.accepted is (last == "leave('result.json', 60)")
    assert len(envelope.solution["bins"]) == 1
    assert envelope.result_path is not None
    assert len(json.loads(Path(envelope.result_path).read_text())["bins"]) == 1


def test_the_best_is_on_disk_while_the_program_runs(tmp_path: Path) -> None:
    with SolverHost(isolation="namespaces", cells=1, store=tmp_path) as host:
        run = host.start(SolveRequest(FOREVER, json.dumps(ITEMS).encode(), cold(), 600))
        wait_for(tmp_path, 1)
        assert not run.future.done()
        run.cancel()
        envelope = run.result()
    assert (envelope.status, envelope.partial.objective) == ("cancelled", 1.0)
    (kept,) = tmp_path.glob(f"{FOLDER}/*")  # the same file, and no draft
    assert str(kept) == envelope.result_path
    wait_for(tmp_path, 1)


def command(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_the_best_outlasts_the_command(tmp_path: Path, number: int) -> None:
    (tmp_path / "program.py").write_text(FOREVER)
    (tmp_path / "input.json").write_text(json.dumps(ITEMS))
    words = ["solve", "program.py", "--input", "input.json", "--profile", "packing", "--json"]
    process = subprocess.Popen(
        [command("proctor"), *words, "--isolation", "namespaces", "--timeout", "600s", "--out", "."],
        cwd=tmp_path, stdout=subprocess.PIPE,
    )  # fmt: skip
    wait_for(tmp_path, 1)
    process.send_signal(number)
    out, _ = process.communicate(timeout=PATIENCE)
    wait_for(tmp_path, 1)
    if number == signal.SIGKILL:
        assert (process.returncode, out) == (-9, b"")
        return
    assert process.returncode == 130
    assert json.loads(out)["partial"]["objective"] == 1


WEEK = {
    "classes": ["c"], "days": ["Mon"], "periods": [1],
    "assignments": [{"id": "1", "class": "c", "subject": "s", "teacher": "t", "weeklyPeriods": 1}],
}  # fmt: skip
LESSON = {"status": "FEASIBLE", "schedule": [{"assignmentId": "1", "day": "Mon", "period": 1}]}
TAUGHT = f"""
import json, os, time
open("draft", "w").write(json.dumps({LESSON!r}))
os.rename("draft", "inc_1.json")
time.sleep(1000)
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_the_best_outlasts_the_command_of_tack(tmp_path: Path, number: int) -> None:
    (tmp_path / "input.json").write_text(json.dumps(WEEK))
    process = subprocess.Popen(
        [command("proctor-tack"), "600"], cwd=tmp_path, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, env={**os.environ, "TT_SANDBOX_MODE": "bwrap"},
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(TAUGHT.encode())
    process.stdin.close()
    process.stdin = None
    kept = until(lambda: list(tmp_path.glob(f"{FOLDER}/result_*.json")))
    process.send_signal(number)
    out, _ = process.communicate(timeout=PATIENCE)
    assert json.loads(kept[0].read_text()) == LESSON
    if number != signal.SIGKILL:
        assert (process.returncode, json.loads(out)["partial"]["data"]) == (0, LESSON)


def test_what_is_kept_outlasts_a_loss_of_power(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Data first, then the name: each is synchronised before the next step."""
    steps: list[str] = []
    sync, rename = os.fsync, Path.rename

    def noted(fd: int) -> None:
        steps.append("directory" if Path(f"/proc/self/fd/{fd}").resolve().is_dir() else "file")
        sync(fd)

    def renamed(self: Path, target: Path) -> Path:
        steps.append("rename")
        return rename(self, target)

    monkeypatch.setattr(os, "fsync", noted)
    monkeypatch.setattr(Path, "rename", renamed)
    store = ResultStore(tmp_path, keep=3, keep_bytes=1000)
    path = store.new("job_1")
    for text in (b"1", b"2"):
        store.put(path, text)
        assert path.read_bytes() == text
        assert steps[-3:] == ["file", "rename", "directory"]


def test_predicates_hold_of_what_is_kept(tmp_path: Path) -> None:
    """They run beside the program, whose cell is the only one."""
    never = {
        "id": "p", "kind": "custom_dsl", "severity": "hard", "params": {},
        "pythonPredicate": "schedule[0]['period'] == 1",
    }  # fmt: skip
    given = {**WEEK, "periods": [1, 2], "constraints": [never]}
    wrong = json.loads(json.dumps(LESSON))
    wrong["schedule"][0]["period"] = 2
    source = f"""
import json, os, time
for name, found in (("inc_1.json", {LESSON!r}), ("inc_2.json", {wrong!r})):
    open("draft", "w").write(json.dumps(found))
    os.rename("draft", name)
time.sleep(1000)
"""
    profile = msgspec.structs.replace(profiles.load("timetable"), warm=())
    with SolverHost(isolation="namespaces", cells=1, store=tmp_path) as host:
        run = host.start(SolveRequest(source, json.dumps(given).encode(), profile, 600))
        until(lambda: list(tmp_path.glob(f"{FOLDER}/result_*.json")))
        run.cancel()
        envelope = run.result()
    assert envelope.partial.valid
    assert envelope.partial.file == "inc_1.json"


class Judge:
    """A check that computes the true value, which a solution carries beside its claim."""

    def __init__(self, held: bool = False) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.asked: list[int] = []
        if not held:
            self.go_on.set()

    def __call__(self, read: ClaimedResult) -> CheckResult:
        self.begun.set()
        assert self.go_on.wait(PATIENCE)
        value = read.data["true"]
        self.asked.append(value)
        wrong = [Violation("no", "no", "hard", "no")] if read.data.get("wrong") else []
        return CheckResult(report=report(wrong, objective=float(value)))


def offer(
    best: BestSolution, profile: Profile, true: int, claimed: int | None = None, **more: Any
) -> None:
    told = {"status": "FEASIBLE", "bins": [["a"]], "objective": claimed, "true": true, **more}
    found = FoundFile(f"inc_{true}.json", json.dumps(told).encode(), 0.0)
    read = claim.read(found.data, "", profile)
    assert isinstance(read, ClaimedResult)
    best.offer(found, read)


def test_of_more_than_can_be_checked_the_most_promising_and_the_newest_are() -> None:
    profile, judge, kept = cold(), Judge(held=True), list[Partial]()
    best = BestSolution(profile, judge, kept.append)
    offer(best, profile, 10_000, 10_000)
    assert judge.begun.wait(PATIENCE)
    for number in range(5000):  # meanwhile
        offer(best, profile, abs(number - 700), abs(number - 700))
    judge.go_on.set()
    best.end()
    best.settle()
    assert best.partial(1.0).objective == 0.0
    assert len(judge.asked) <= 17
    assert 4299 in judge.asked  # the newest
    objectives = [each.objective for each in kept if each.objective is not None]
    assert objectives == sorted(objectives, reverse=True)  # what is kept only gets better


@pytest.mark.parametrize("sense", ["min", "max"])
def test_claims_make_no_solution_better(sense: str) -> None:
    rule = msgspec.structs.replace(profiles.load("packing").objective, sense=sense)
    profile, judge = cold(objective=rule), Judge()
    best = BestSolution(profile, judge, lambda _: None)
    for true in (7, 2, 9, 4):
        offer(best, profile, true, claimed=100 - true)
        offer(best, profile, 0 if sense == "min" else 99, claimed=true, wrong=True)
    best.end()
    best.settle()
    assert best.partial(1.0).objective == (2.0 if sense == "min" else 9.0)
    assert best.partial(1.0).valid


def test_where_nothing_is_computed_the_newest_counts() -> None:
    profile = cold(validator=profiles.ValidatorRule())
    best = BestSolution(profile, lambda _: CheckResult(), lambda _: None)
    for true in (3, 1, 2):
        offer(best, profile, true, claimed=true)
    best.end()
    best.settle()
    assert best.partial(1.0).file == "inc_2.json"


def test_a_check_that_fails_once_loses_nothing() -> None:
    """What checks may be killed, or not be startable for a while."""
    profile, judge, failures = cold(), Judge(), [InfraFault("no process")]
    failed = threading.Event()

    def check(read: ClaimedResult) -> CheckResult:
        if failures:
            failed.set()
            raise failures.pop()
        return judge(read)

    best = BestSolution(profile, check, lambda _: None)
    offer(best, profile, 1, 1)
    assert failed.wait(PATIENCE)
    offer(best, profile, 5, 5)
    best.end()
    best.settle()
    assert best.partial(1.0).objective == 1.0


def test_the_validator_is_asked_once_about_each(tmp_path: Path) -> None:
    """The result is an incumbent too, once it is there."""
    notes = tmp_path / "asked"
    profile = cold()
    (tmp_path / "p").mkdir()
    for path in profiles.folder("packing").iterdir():
        if path.is_file():
            (tmp_path / "p" / path.name).write_bytes(path.read_bytes())
    with (tmp_path / "p/validate.py").open("a") as file:
        file.write(
            "\n_validate = validate\n"
            "def validate(given, result, custom_checks=()):\n"
            f"    open({str(notes)!r}, 'a').write(str(len(result['bins'])) + '\\n')\n"
            "    return _validate(given, result)\n"
        )
    profile = profiles.load(str(tmp_path / "p/profile.toml"))
    profile = msgspec.structs.replace(profile, warm=())
    with SolverHost(isolation="namespaces", cells=1) as host:
        source = HEAD + "leave('result.json', 3)\ntime.sleep(0.2)\n"
        envelope = host.solve(SolveRequest(source, json.dumps(ITEMS).encode(), profile))
    assert envelope.accepted
    assert notes.read_text().split() == ["0", "3"]  # the first is the empty one, before the run
