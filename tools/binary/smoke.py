"""Tries the one file as on a machine that has no Python: solves, validates, checks, pings, ends.

    python tools/binary/smoke.py [dist/proctor-bin]

Needs a sandbox of level namespaces. The Python that built the file is hidden from it.
"""

import json
import os
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import Any

from proctor.sandbox.levels.bubblewrap import find_bwrap

ROOT = Path(__file__).parents[2]
GIVEN = {
    "capacity": 10,
    "items": [
        {"id": name, "size": size} for name, size in {"a": 6, "b": 5, "c": 4, "d": 3}.items()
    ],
}
RIGHT = """
import json, os
from ortools.sat.python import cp_model

given = json.load(open("input.json"))
items, model = given["items"], cp_model.CpModel()
every = range(len(items))
put = {(i, b): model.new_bool_var("") for i in every for b in every}
used = [model.new_bool_var("") for b in every]
for i in every:
    model.add_exactly_one(put[i, b] for b in every)
for b in every:
    load = sum(items[i]["size"] * put[i, b] for i in every)
    model.add(load <= given["capacity"] * used[b])
model.minimize(sum(used))
solver = cp_model.CpSolver()
solver.parameters.num_workers = int(os.environ["SOLVER_WORKERS"])
status = solver.status_name(solver.solve(model))
bins = [[items[i]["id"] for i in every if solver.value(put[i, b])] for b in every]
found = {"status": status, "bins": [each for each in bins if each],
         "objective": solver.objective_value, "bound": solver.best_objective_bound}
json.dump(found, open("draft", "w"))
os.replace("draft", "result.json")
"""
WRONG = """
import json, os
json.dump({"status": "OPTIMAL", "bins": [["a", "b"], ["c", "d"]]}, open("draft", "w"))
os.replace("draft", "result.json")
"""
TIMETABLE = "from timetable_skeleton import run\n\nrun()\n"
WEEK = {
    "classes": ["6A"], "days": ["Mon", "Tue"], "periods": [1, 2], "constraints": [],
    "assignments": [
        {"id": "a", "class": "6A", "subject": "Maths", "teacher": "Ada", "weeklyPeriods": 3}
    ],
}  # fmt: skip


class Binary:
    """The file, started where no other Python is to be found."""

    def __init__(self, file: Path, place: Path) -> None:
        self._words = [*without_python(), str(file)]
        self._place = place
        self._environment = {"PATH": "/nowhere", "HOME": str(place), "NO_COLOR": "1"}

    def start(self, *words: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [*self._words, *words], cwd=self._place, env=self._environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(self, *words: str, stdin: str = "", code: int = 0) -> str:
        process = self.start(*words)
        printed, complaint = process.communicate(stdin, timeout=180)
        assert process.returncode == code, (words, process.returncode, printed, complaint)
        return printed

    def solve(self, program: str, given: Any, profile: str, code: int = 0) -> Any:
        (self._place / "given.json").write_text(json.dumps(given))
        words = ("solve", "-", "--input", "given.json", "--profile", profile, "--timeout", "30s")
        return json.loads(self.run(*words, "--json", stdin=program, code=code))


def without_python() -> list[str]:
    """Return the words before a command that hide this Python, and the system's, from it."""
    binary, _ = find_bwrap()
    words = [binary, "--dev-bind", "/", "/", "--die-with-parent"]
    if os.geteuid() == 0:
        words += ["--cap-add", "ALL"]
    for place in {sys.prefix, sysconfig.get_path("stdlib"), "/usr/lib/python3"}:
        words += ["--tmpfs", place] if Path(place).is_dir() else []
    seen = [*Path("/usr/bin").glob("python3*"), *Path(sys.base_prefix, "bin").glob("python3*")]
    for file in {path.resolve() for path in seen}:
        words += ["--ro-bind", "/dev/null", str(file)]
    return [*words, "--"]


def main(file: Path) -> None:
    """Try it; an AssertionError says what does not work."""
    with tempfile.TemporaryDirectory() as place:
        binary = Binary(file, Path(place))
        began = time.monotonic()
        assert binary.run("--version").strip()
        first = time.monotonic() - began
        began = time.monotonic()
        binary.run("--version")
        later = time.monotonic() - began

        found = binary.solve(RIGHT, GIVEN, "packing")
        assert (found["status"], found["accepted"]) == ("optimal", True), found
        assert found["validation"]["objective"] == 2, found
        assert found["isolation"] == "namespaces", found
        found = binary.solve(WRONG, GIVEN, "packing", code=1)
        assert found["ok"], found
        assert found["validation"]["hardViolations"][0]["kind"] == "base_overfull", found
        found = binary.solve("import os\nos.abort()", GIVEN, "packing", code=1)
        assert found["statusDetail"] == "signal", found
        found = binary.solve(TIMETABLE, WEEK, "timetable")
        assert (found["status"], found["markerCount"]) == ("optimal", 1), found

        checked = binary.run("solve", "-", "--syntax-check", stdin="def f(:", code=1)
        assert "SyntaxError" in checked, checked
        as_tack_calls_it(binary)
        asked = [
            {"id": 1, "method": "ping"},
            {"id": 2, "method": "run", "params": {"program": {"source": "print(6 * 7)"}}},
        ]
        lines = "".join(json.dumps(each) + "\n" for each in asked)
        answers = [json.loads(line) for line in binary.run("daemon", stdin=lines).splitlines()]
        results = {each["id"]: each["result"] for each in answers if "result" in each}
        assert results[1]["running"] >= 0, answers
        assert results[2]["execution"]["stdout"]["text"] == "42\n", answers

        ends_with_its_loader(binary)
        ends_when_it_is_told_to(binary)
    print(f"it works; first start {first:.1f} s, later {later:.1f} s")


def as_tack_calls_it(binary: Binary) -> None:
    """Seconds or a mode as its one argument, the program on stdin, a line of JSON on stdout."""
    found = json.loads(binary.run("20", stdin="print('hm')"))
    assert (found["phase"], found["status"]) == ("parse", "crashed"), found
    found = json.loads(binary.run("--syntax-check", stdin="def f(:"))
    assert not found["ok"], found
    assert "SyntaxError" in found["error"], found
    lines = binary.run("--daemon", stdin='{"type": "ast-check", "code": "1"}\n').splitlines()
    assert json.loads(lines[0])["ok"], lines


def ends_with_its_loader(binary: Binary) -> None:
    """Killed as an application kills what it has started, it leaves nothing that holds a pipe."""
    daemon = binary.start("daemon")
    assert daemon.stdin is not None
    assert daemon.stdout is not None
    assert "hello" in daemon.stdout.readline()
    daemon.send_signal(signal.SIGKILL)
    assert daemon.stdout.read() == ""  # the pipe's end: nobody has it open any more
    daemon.communicate()


def ends_when_it_is_told_to(binary: Binary) -> None:
    """SIGTERM calls everything off, also what would run for long."""
    daemon = binary.start("daemon")
    assert daemon.stdin is not None
    assert daemon.stdout is not None
    source = "import time\ntime.sleep(100)"
    asked = {"id": 1, "method": "run", "params": {"program": {"source": source}}}
    daemon.stdin.write(json.dumps(asked) + "\n")
    daemon.stdin.flush()
    while "started" not in daemon.stdout.readline():
        pass
    daemon.terminate()
    printed, _ = daemon.communicate(timeout=60)
    assert not [line for line in printed.splitlines() if '"result"' in line], printed


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist" / "proctor-bin")
