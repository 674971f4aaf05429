"""A run's directory, reported on and compared: report and compare read what eval wrote."""

import json
from pathlib import Path

from command import problem, write_rows
from proctor_command import Proctor


def evaluated(proctor: Proctor, place: Path, name: str, right: int) -> Path:
    """Run a recording of four programs, of which the first `right` are right."""
    problems = write_rows(
        place / "problems.jsonl", [problem(each, [("3\n", "3\n")]) for each in "abcd"]
    )
    rows = [
        json.dumps({"question_id": each, "code": f"print({'input()' if n < right else 0})"})
        for n, each in enumerate("abcd")
    ]
    programs = write_rows(place / f"{name}.jsonl", [row + "\n" for row in rows])
    run = place / name
    done = proctor("eval", "livecodebench", "--source", problems, "--model", f"replay:{programs}",
                   "--mode", "standard", "--out", run)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return run


def test_a_report_of_a_run(proctor: Proctor, tmp_path: Path) -> None:
    run = evaluated(proctor, tmp_path, "half", 2)
    page = tmp_path / "page.html"
    done = proctor("report", run, "--out", page)
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    assert "half" in text
    assert "50.0" in text
    assert "print(input())" in text


def test_two_runs_compared(proctor: Proctor, tmp_path: Path) -> None:
    half, all_ = evaluated(proctor, tmp_path, "half", 2), evaluated(proctor, tmp_path, "all", 4)
    done = proctor("compare", half, all_, "--json")
    assert done.returncode == 0, done.stderr
    assert "not known" not in done.stderr
    (one,) = json.loads(done.stdout)["comparisons"]
    assert (one["comparison"]["wins"], one["comparison"]["losses"]) == (["c", "d"], [])
