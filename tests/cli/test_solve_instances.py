"""`proctor solve --instances`."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from proctor.solver import profile as profiles
from sums import RIGHT, profile_in

PROCTOR = (sys.executable, "-m", "proctor")


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> profiles.Profile:
    return profile_in(tmp_path_factory.mktemp("sums"))


@pytest.fixture
def place(tmp_path: Path, profile: profiles.Profile) -> Path:
    rows = [{"id": f"i{n}", "input": {"n": n}, "best": 4, "stage": n} for n in (1, 2, 4)]
    (tmp_path / "i.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    (tmp_path / "p.py").write_text(RIGHT)
    return tmp_path


def solved(
    place: Path, profile: profiles.Profile, *more: str
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*PROCTOR, "solve", "p.py", "--profile", f"{profile.directory}/sums.toml", *more],
        cwd=place, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.namespaces
def test_table(place: Path, profile: profiles.Profile) -> None:
    done = solved(place, profile, "--instances", "i.jsonl")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "score 0.5833, 3 of 3 accepted"


@pytest.mark.namespaces
def test_json_and_stages(place: Path, profile: profiles.Profile) -> None:
    done = solved(place, profile, "--instances", "i.jsonl", "--json", "--stop-below", "0.3")
    found = json.loads(done.stdout)
    assert (done.returncode, found["stoppedAfter"], found["accepted"]) == (1, 1, 1)
    assert [each["score"] for each in found["instances"]] == [0.25, 0.0, 0.0]


@pytest.mark.slow
def test_results_are_kept(place: Path, profile: profiles.Profile) -> None:
    often = ("--instances", "i.jsonl", "--results", "r.jsonl", "--stream")
    first = solved(place, profile, *often)
    assert [json.loads(line)["event"] for line in first.stdout.splitlines()] == [
        *["instance"] * 3, "result",
    ]  # fmt: skip
    kept = (place / "r.jsonl").read_text().splitlines()
    (place / "r.jsonl").write_text("\n".join(kept[:2]) + "\n" + kept[2][:40])  # a kill
    again = solved(place, profile, *often)
    told = [json.loads(line) for line in again.stdout.splitlines()]
    assert [each["event"] for each in told] == ["instance", "result"]
    assert (
        told[-1]["result"]["score"] == json.loads(first.stdout.splitlines()[-1])["result"]["score"]
    )
    (place / "p.py").write_text(RIGHT + "# another\n")
    other = solved(place, profile, *often)
    assert other.returncode == 2
    assert "r.jsonl" in other.stderr


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ((), "--input"),
        (("--input", "i.jsonl", "--instances", "i.jsonl"), "--input"),
        (("--reference", "i.jsonl", "--instances", "i.jsonl"), "--reference"),
        (("--input", "i.jsonl", "--stop-below", "0.5"), "--stop-below"),
        (("--instances", "none.jsonl"), "none.jsonl"),
        (("--instances", "i.jsonl", "--stop-below", "2"), "--stop-below"),
    ],
)
def test_wrong_use(
    place: Path, profile: profiles.Profile, more: tuple[str, ...], said: str
) -> None:
    done = solved(place, profile, *more)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


@pytest.mark.slow
@pytest.mark.namespaces
def test_an_interrupt_keeps_what_was_made(place: Path, profile: profiles.Profile) -> None:
    slow = "import time\ndef solve(given):\n    if given['n'] > 1: time.sleep(600)\n    return 1\n"
    (place / "p.py").write_text(slow)
    running = subprocess.Popen(
        [*PROCTOR, "solve", "p.py", "--profile", f"{profile.directory}/sums.toml",
         "--instances", "i.jsonl", "--results", "r.jsonl", "--stream", "--timeout", "600s"],
        cwd=place, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert running.stdout is not None
    assert json.loads(running.stdout.readline())["instance"]["id"] == "i1"
    running.send_signal(signal.SIGINT)
    assert running.wait() == 130
    running.stdout.close()
    assert json.loads((place / "r.jsonl").read_text())["row"] == "i1"
