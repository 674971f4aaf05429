"""Has this version write a file of every kind that later versions must read.

`python tools/write_compatibility.py [DIRECTORY]` runs commands of proctor in a new directory, by
default tests/compatibility/written_by_VERSION, which the tests beside it read with the version at
hand. Run it once, when a version is released; what an earlier version wrote is never changed.
"""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from proctor import __version__
from proctor.errors import InputError
from proctor.evals.store import RunStore

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "tests" / "compatibility"
IOI = ROOT / "tests" / "evals" / "earlier" / "ioi"
SUM, SEVEN, CRASH = "print(sum(map(int, input().split())))", "print(7)", "print(int(input()))"
SLEEPY = f"import time\ntime.sleep(2)\n{SUM}"


def fenced(code: str) -> str:
    """Return a model's reply with a program."""
    return f"Here it is.\n\n```python\n{code}\n```\n"


PROBLEMS = [
    {"question_id": name, "question_title": name.title(), "question_content": "Add.",
     "platform": "atcoder", "difficulty": difficulty, "contest_date": "2024-09-01T00:00:00",
     "public_test_cases": [{"input": "3 4\n", "output": "7\n"}],
     "private_test_cases": [{"input": "1 2\n", "output": "3\n"}]}
    for name, difficulty in (("sum", "easy"), ("add", "hard"))
]  # fmt: skip
PROGRAMS = [{"question_id": "sum", "code": code, "model": "m"} for code in (SUM, SEVEN, CRASH)]
REPLIES = [
    {"question_id": name, "generation": fenced(code)}
    for name in ("sum", "add") for code in (SUM, SEVEN, CRASH)
]  # fmt: skip
FEW = [*REPLIES[:4], {"question_id": "add", "generation": fenced(SLEEPY)}]
PACKAGE = {
    "problem.toml": 'id = "sum"\ntitle = "Sum"\ntest = [\n'
    '    { name = "small", input = "1.in", answer = "1.ans", sample = true },\n'
    '    { name = "large", input = "2.in", answer = "2.ans" },\n]\n',
    "1.in": "3 4\n", "1.ans": "7\n", "2.in": "1 2\n", "2.ans": "3\n",
}  # fmt: skip
SOLVER = """\
import json, os

given = json.load(open("input.json"))
bins = [[item["id"]] for item in given["items"]]
with open("draft", "w") as file:
    json.dump({"status": "FEASIBLE", "bins": bins, "objective": len(bins)}, file)
os.replace("draft", "result.json")
"""
GIVEN = {"capacity": 10, "items": [{"id": "a", "size": 4}, {"id": "b", "size": 7}]}
REQUESTS = [
    {"id": "ping", "method": "ping"},
    {"id": "run", "method": "run", "params": {"program": {"source": "print(6 * 7)"}}},
    {"id": "judge", "method": "judge", "params": {
        "program": {"source": SEVEN},
        "problem": {"tests": [{"input": "3 4", "output": "7"}, {"input": "1 2", "output": "3"}]}}},
    {"id": "broken", "method": "run", "params": {"program": {"source": 3}}},
]  # fmt: skip


def proctor(place: Path, *words: str, given: str = "") -> str:
    """Run a command; return its stdout."""
    done = subprocess.run(
        [sys.executable, "-m", "proctor", *words], cwd=place, input=given, text=True,
        stdout=subprocess.PIPE, check=True,
    )  # fmt: skip
    return done.stdout


def lines(path: Path, rows: list[dict[str, object]]) -> None:
    """Write JSON lines, with the directory they lie in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_judged(place: Path) -> None:
    """Results with settings and summary, a cache, a bundle."""
    lines(place / "problems.jsonl", PROBLEMS)
    lines(place / "programs.jsonl", PROGRAMS)
    files = ("--problems", "problems.jsonl", "--programs", "programs.jsonl", "--json")
    summary = proctor(place, "judge", *files, "--out", "results.jsonl", "--cache", "verdicts")
    (place / "summary.json").write_text(summary)
    proctor(place, "judge", *files, "--mode", "official", "--out", "official.jsonl")
    proctor(place, "replay", "results.jsonl#1", "--bundle", "replay.zip")


def write_run(place: Path) -> None:
    """A run that has ended, one that was killed, and exports."""
    lines(place / "problems.jsonl", PROBLEMS)
    lines(place / "replies.jsonl", REPLIES)
    lines(place / "few.jsonl", FEW)
    command = ("eval", "livecodebench", "--source", "problems.jsonl")
    proctor(place, *command, "--model", "replay:replies.jsonl", "--out", "run", "--json")
    (place / "exports").mkdir()
    for format_ in ("jsonl", "json", "csv", "parquet", "lcb", "inspect", "records"):
        suffix = {"lcb": "lcb.json", "inspect": "inspect.json", "records": "records.jsonl"}
        name = suffix.get(format_, f"rows.{format_}")
        proctor(place, "export", "run", "--format", format_, "--out", f"exports/{name}")
    killed = subprocess.Popen(
        [sys.executable, "-m", "proctor", *command, "--model", "replay:few.jsonl",
         "--out", "killed", "--json"], cwd=place, stdout=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    while judged(place / "killed") < 2 * (len(FEW) - 1):  # all but one program, each by both rules
        assert killed.poll() is None, "it has ended: nothing is unfinished"
        time.sleep(0.02)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    for name in ("run", "killed"):  # moves what the journal holds into the one file that is kept
        database = sqlite3.connect(place / name / "run.db")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()


def judged(directory: Path) -> int:
    """Number of verdicts that are on the disk."""
    try:
        with RunStore.open(directory) as store:
            return sum(len(sample.judgements) for sample in store.samples())
    except (InputError, sqlite3.Error):  # not begun yet
        return 0


def write_ioi(place: Path) -> None:
    """Results of IOI submissions, with the rows they are of."""
    place.mkdir()
    for file in IOI.glob("*.jsonl"):
        shutil.copy(file, place)
    proctor(place, "ioi", "score", "--tasks", ".", "--submissions", "submissions.jsonl",
            "--out", "out", "--json")  # fmt: skip


def write_package(place: Path) -> None:
    """A package, and what it is converted to."""
    (place / "sum").mkdir(parents=True)
    for name, text in PACKAGE.items():
        (place / "sum" / name).write_text(text)
    for to in ("native", "icpc", "polygon"):
        drop = () if to == "native" else ("--drop", "limits.stack")  # their stack limit is larger
        proctor(place, "convert", "sum", to, "--to", to, *drop)


def write_solve(place: Path) -> None:
    """An envelope, kept results, results of instances."""
    place.mkdir()
    (place / "solver.py").write_text(SOLVER)
    (place / "input.json").write_text(json.dumps(GIVEN))
    lines(place / "instances.jsonl", [{"id": "a", "input": GIVEN, "best": 2}])
    common = ("solve", "solver.py", "--profile", "packing", "--timeout", "20s", "--json")
    envelope = proctor(place, *common, "--input", "input.json", "--out", ".")
    (place / "envelope.json").write_text(envelope)
    proctor(place, *common, "--instances", "instances.jsonl", "--results", "results.jsonl")


def write_daemon(place: Path) -> None:
    """Requests, and the answers to them."""
    lines(place / "requests.jsonl", REQUESTS)
    given = (place / "requests.jsonl").read_text()
    (place / "answers.jsonl").write_text(proctor(place, "daemon", given=given))


WRITERS = {
    "judged": write_judged, "evaluated": write_run, "ioi": write_ioi, "packages": write_package,
    "solved": write_solve, "daemon": write_daemon,
}  # fmt: skip


def main() -> None:
    """Write all, elsewhere first: paths that are recorded must not be those of this machine."""
    short = "_".join(__version__.split(".")[:2])
    target = Path(sys.argv[1]) if sys.argv[1:] else KEPT / f"written_by_{short}"
    if target.exists():
        sys.exit(f"{target} exists: what a version has written is not changed")
    with tempfile.TemporaryDirectory(prefix="proctor-") as scratch:
        for name, write in WRITERS.items():
            write(Path(scratch) / name)
        (Path(scratch) / "version.json").write_text(json.dumps({"proctor": __version__}) + "\n")
        shutil.copytree(scratch, target)
    sizes = sum(each.stat().st_size for each in target.rglob("*") if each.is_file())
    print(f"{target}: {sizes / 1000:.0f} kB")


if __name__ == "__main__":
    main()
