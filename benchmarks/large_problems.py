"""Problems with many and large tests: speed, peak memory and verdicts beside the same peer.

The problems are made here, always the same, in upstream's compressed form:
base64(zlib(pickle(JSON))) of the private tests.
"""

import base64
import json
import pickle
import random
import statistics
import sys
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import peers
from budgets import Line, at_least, spread_times, times
from measure import WORK, Worker, spread

PEER = "nvidia-livecodebench"
SEED = 20240607
MIB = 1 << 20

STDIO = """import sys

def main():
    data = sys.stdin.read().split()
    n = int(data[0])
    values = list(map(int, data[1:n + 1]))
    {body}

main()
"""
CALL = """class Solution:
    def spread(self, values: List[int], k: int) -> int:
        {body}
"""
PROGRAMS = {
    "sum": (STDIO, "print(sum(values))", "print(sum(values) + (n > {limit}))"),
    "sort": (STDIO, "print(*sorted(values))", "print(*sorted(values)[n > {limit}:])"),
    "spread": (
        CALL,
        "return max(values) - min(values) + k",
        "return max(values) - min(values) + k + (len(values) > {limit})",
    ),
}
"""Per kind of problem: frame, right body, and one that fails on tests larger than a limit."""


def write(directory: Path, count: int, largest: int) -> tuple[Path, Path]:
    """Write `count` problems of up to `largest` input bytes, and two programs for each."""
    problems, programs = directory / "problems.jsonl", directory / "programs.jsonl"
    randomly = random.Random(SEED)
    with problems.open("w", encoding="utf-8") as rows, programs.open("w", encoding="utf-8") as code:
        for number in range(count):
            kind = list(PROGRAMS)[number % len(PROGRAMS)]
            size = largest * (number + 1) // count
            row, limit = _problem(randomly, f"large-{number}", kind, size)
            print(json.dumps(row), file=rows)
            frame, right, wrong = PROGRAMS[kind]
            for name, body in (("right", right), ("wrong", wrong.format(limit=limit))):
                entry = {"question_id": row["question_id"], "model": name}
                print(json.dumps({**entry, "code": frame.format(body=body)}), file=code)
    return problems, programs


def _problem(
    randomly: random.Random, name: str, kind: str, size: int
) -> tuple[dict[str, Any], int]:
    """One upstream row, and the length that only its last test's list exceeds."""
    count = randomly.randint(50, 200)
    tests = list(_tests(randomly, kind, count, size))
    lengths = [length for length, _ in tests]
    private = json.dumps([test for _, test in tests[1:]])
    packed = base64.b64encode(zlib.compress(pickle.dumps(private))).decode()
    row = {
        "question_id": name, "question_title": name, "question_content": "", "platform": "",
        "difficulty": "hard", "contest_date": "2024-06-07T00:00:00", "starter_code": "",
        "public_test_cases": json.dumps([tests[0][1]]), "private_test_cases": packed,
        "metadata": json.dumps({"func_name": "spread"} if kind == "spread" else {}),
    }  # fmt: skip
    return row, max(lengths[:-1])


def _tests(
    randomly: random.Random, kind: str, count: int, size: int
) -> Iterator[tuple[int, dict[str, str]]]:
    """Small ones first and one that is larger than any other last, `size` bytes in all."""
    weights = sorted(randomly.random() ** 3 for _ in range(count))
    weights[-1] *= 1.5
    for weight in weights:
        length = max(2, int(size * weight / sum(weights) / 8))  # about eight bytes a number
        values = [randomly.randint(-999_999, 9_999_999) for _ in range(length)]
        spaced = " ".join(map(str, values))
        if kind == "spread":
            given, wanted = f"{json.dumps(values)}\n7", str(max(values) - min(values) + 7)
        else:
            given = f"{length}\n{spaced}\n"
            answer = [sum(values)] if kind == "sum" else sorted(values)
            wanted = " ".join(map(str, answer)) + "\n"
        yield length, {
            "input": given, "output": wanted,
            "testtype": "functional" if kind == "spread" else "stdin",
        }  # fmt: skip


def measure(quick: bool) -> dict[str, Any]:
    count, largest, rounds = (3, MIB, 1) if quick else (9, 10 * MIB, 3)
    with tempfile.TemporaryDirectory() as name:
        problems, programs = write(Path(name), count, largest)
        files = [str(problems), str(programs)]
        numbers = list(range(2 * count))
        ours = [sys.executable, str(WORK / "livecodebench_proctor.py"), *files, "official"]
        script = str(WORK / "livecodebench_peer.py")
        theirs = [peers.interpreter_of(PEER), script, *files, "livecodebench"]
        with Worker(ours) as proctor, Worker(theirs) as peer:
            found: dict[str, dict[str, Any]] = {}
            for key, worker in (("proctor", proctor), ("peer", peer)):
                loading = worker.ask(1, argument=None)
                found[key] = {"load_s": loading.cpu, "cpu_s": [], "wall_s": [], "peak": 0}
                if worker.group is not None:
                    worker.group.reset_peak()
            turns = [("proctor", proctor), ("peer", peer)]
            for number in range(rounds):
                for key, worker in turns if number % 2 == 0 else turns[::-1]:
                    answer = worker.ask(1, argument=numbers)
                    one = found[key]
                    one["cpu_s"].append(answer.cpu)
                    one["wall_s"].append(answer.walls[0])
                    one["verdicts"] = [verdict[:2] for verdict in answer.result]
                    one["peak"] = worker.group.peak() if worker.group is not None else 0
        size = problems.stat().st_size
    return {
        "problems": count, "programs": len(numbers), "file_mb": size / 1e6, **found,
        "ratio": spread([
            theirs / ours
            for ours, theirs in zip(found["proctor"]["cpu_s"], found["peer"]["cpu_s"], strict=True)
        ]),
        "differ": sum(
            ours != theirs
            for ours, theirs in zip(
                found["proctor"]["verdicts"], found["peer"]["verdicts"], strict=True
            )
        ),
        "passed": sum(verdict[1] is None for verdict in found["proctor"]["verdicts"]),
    }  # fmt: skip


def lines(found: dict[str, Any]) -> list[Line]:
    out = [
        at_least("large problems, CPU against the peer's", found["ratio"][1], 1, times),
        Line("large problems, verdicts unlike the peer's", str(found["differ"]), "0",
             found["differ"] == 0),
    ]  # fmt: skip
    ours, theirs = found["proctor"]["peak"], found["peer"]["peak"]
    if ours and theirs:
        kept = ours <= theirs
        out.append(
            Line("large problems, peak memory against the peer's", times(ours / theirs),
                 "≤ 1.00 ×", kept)
        )  # fmt: skip
    return out


def table(found: dict[str, Any]) -> list[list[str]]:
    rows = [["grader", "loading CPU s", "judging CPU s", "judging wall s", "peak MB, whole tree"]]
    for name, key in (("proctor, official mode", "proctor"), (f"{PEER} 26.3", "peer")):
        one = found[key]
        cpu, wall = (statistics.median(one[field]) for field in ("cpu_s", "wall_s"))
        rows.append(
            [name, f"{one['load_s']:.2f}", f"{cpu:.2f}", f"{wall:.2f}", f"{one['peak'] / 1e6:.0f}"]
        )
    return rows


def notes(found: dict[str, Any]) -> list[str]:
    passing = f"{found['programs']} programs, {found['passed']} of which pass"
    return [
        f"{found['problems']} problems of 50–200 tests, {found['file_mb']:.0f} MB compressed.",
        f"{passing}; the others fail on the last test only.",
        f"CPU of the peer in ours, in turn (p10–p90): {spread_times(found['ratio'])}.",
        "Memory counts everything in the control group, memory files included.",
    ]


if __name__ == "__main__":
    import report

    report.alone(sys.modules[__name__])
