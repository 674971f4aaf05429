"""`replay:` gives the numbers that `proctor judge` gives for the same programs."""

import base64
import json
import pickle
import zlib
from pathlib import Path
from typing import Any

import pytest
from command import problem, write_rows
from proctor_command import Proctor, report

SLICE = 12


def numbers(summary: dict[str, Any]) -> dict[str, Any]:
    return {name: summary[name] for name in ("total", "passed", "scored", "verdicts", "pass_at_k",
                                             "by_platform", "by_difficulty", "by_month")}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["official", "standard"])
def test_same_numbers_as_judge(
    proctor: Proctor, tmp_path: Path, test_data: Path, mode: str
) -> None:
    """A slice of the real data.

    Those that run out of time are left out, to save it; and those that start a thread and do not
    wait for it, of whose output lcb_runner takes what is there when the main thread is done.
    """
    data = test_data / "livecodebench"
    slow = {
        json.loads(line)["question_id"]
        for line in (data / "lcb_runner_verdicts.jsonl").read_text().splitlines()
        if json.loads(line)["error_code"] in (-3, -5)
    }
    lines = (data / "programs.jsonl").read_text().splitlines()
    slow |= {json.loads(line)["question_id"] for line in lines if "Thread(" in line}
    chosen = [line for line in lines if json.loads(line)["question_id"] not in slow]
    step = len(chosen) // SLICE // 2 * 2
    rows = [line for n in range(0, len(chosen) - 1, step) for line in chosen[n : n + 2]]
    programs = write_rows(tmp_path / "programs.jsonl", rows)
    problems = data / "problems.jsonl"
    judged = proctor("judge", "--problems", problems, "--programs", programs, "--mode", mode,
                     "--json")  # fmt: skip
    evaluated = proctor("eval", "livecodebench", "--source", problems, "--model",
                        f"replay:{programs}", "--mode", mode, "--out", tmp_path / "run",
                        "--json")  # fmt: skip
    assert evaluated.returncode == judged.returncode == 0, evaluated.stderr
    found = json.loads(evaluated.stdout)
    assert numbers(found[mode]) == numbers(json.loads(judged.stdout))
    assert found["samples"] == len(rows)


def test_rows_that_cannot_be_decoded_are_left_out(
    proctor: Proctor, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Bad base64, zlib, pickle, JSON: one of each, told once; the run is whole without them."""

    def packed(pickled: bytes) -> str:
        return base64.b64encode(zlib.compress(pickled)).decode()

    bad = ["!!!", base64.b64encode(b"plain").decode(), packed(pickle.dumps(print)),
           packed(pickle.dumps("[{")), packed(pickle.dumps("[]"))[:-8], "[{]"]  # fmt: skip
    rows = [
        problem(f"bad{number}", []) | {"private_test_cases": text}
        for number, text in enumerate(bad)
    ]
    good = [problem(name, [("3\n", "3\n")]) for name in ("a", "b")]
    source = write_rows(tmp_path / "problems.jsonl", [good[0], *rows, good[1]])
    everything = [each["question_id"] for each in (*rows, *good)]
    replies = write_rows(tmp_path / "replies.jsonl", [
        {"question_id": name, "code": "print(input())"} for name in everything
    ])  # fmt: skip
    command = (
        "eval",
        "livecodebench",
        "--source",
        source,
        "--model",
        f"replay:{replies}",
        "--json",
    )
    found = report(proctor(*command, "--out", tmp_path / "run"))
    assert found["left_out"] == {"unusable": len(bad)}
    assert (found["samples"], found["unfinished"]) == (2, 0)
    assert found["standard"]["verdicts"] == found["official"]["verdicts"] == {"AC": 2}
    (told,) = [each for each in caplog.messages if "left out" in each]
    assert f"{source}, line 2, field `private_test_cases`: is neither JSON nor base64" in told
    again = report(proctor("resume", tmp_path / "run", "--json"))
    assert (again["left_out"], again["samples"]) == (found["left_out"], 2)

    write_rows(source, rows)
    done = proctor(*command, "--out", tmp_path / "none")
    assert done.returncode == 2
    assert "is neither JSON nor base64" in done.stderr


@pytest.mark.slow
def test_shapes_of_recordings(proctor: Proctor, tmp_path: Path) -> None:
    """Programs as they are, replies to take them from, lcb_runner's own file."""
    problems = write_rows(tmp_path / "problems.jsonl", [
        problem(name, [("3\n", "3\n")]) for name in ("a", "b", "c", "d")
    ])  # fmt: skip
    right = "print(input())"
    recording = [
        {"question_id": "a", "code": right},
        {"question_id": "b", "code_list": [right, ""]},
        {"question_id": "c", "generation": f"```python\n{right}\n```"},
    ]
    for name, text in (
        ("lines", "".join(json.dumps(row) + "\n" for row in recording)),
        ("array", json.dumps(recording)),
    ):
        replay = tmp_path / name
        replay.write_text(text)
        done = proctor("eval", "livecodebench", "--source", problems, "--model", f"replay:{replay}",
                       "--mode", "standard", "--out", tmp_path / f"run-{name}", "--json")  # fmt: skip
        found = json.loads(done.stdout)
        assert found["standard"]["verdicts"] == {"AC": 3, "NC": 1}
        assert found["left_out"] == {"not recorded": 1}
