"""LiveCodeBench samples per CPU-second: official mode against nvidia-livecodebench from PyPI."""

import json
import statistics
import sys
from typing import Any

import peers
from budgets import Line, at_least, at_most, milliseconds, times
from measure import WORK, Worker, data_directory

PEER = "nvidia-livecodebench"
LCB_RUNNER_MS = 24.8
"""CPU per sample of lcb_runner itself on this data, measured once on this kind of machine."""
LATE = (-3, -5)
"""lcb_runner's codes for time-outs: seconds of waiting that say nothing of a grader."""
HEAVY = 1.0
"""CPU seconds from which a program's own work drowns the grader's."""
RACY = ("abc338_c O1-Preview", "abc349_e O1-Preview")
"""Programs that start a thread and do not wait for it: under any grader, who wins is luck."""
EXPECTED_TO_DIFFER = """The peer reads stdin from a plain StringIO: it accepts programs that
iterate over, next() or with-block sys.stdin, mix input() with read(), or call readlines() twice,
which lcb_runner and official mode reject; and it rejects sys.stdin.buffer, which they accept."""


def measure(quick: bool) -> dict[str, Any] | None:
    """Return the figures, or None without the data."""
    data = data_directory()
    if data is None:
        return None
    home = data / "livecodebench"
    golden = [json.loads(line) for line in (home / "lcb_runner_verdicts.jsonl").open("rb")]
    numbers = [n for n, row in enumerate(golden) if row["error_code"] not in LATE]
    if quick:
        numbers = numbers[::12]
    problems, programs = str(home / "problems.jsonl"), str(home / "programs.jsonl")
    packages = peers.packages_of(PEER)  # nine programs want numpy, which lcb_runner had
    ours = [sys.executable, str(WORK / "livecodebench_proctor.py"), problems, programs, packages]
    theirs = [peers.interpreter_of(PEER), str(WORK / "livecodebench_peer.py"), problems, programs]
    with Worker(ours) as proctor, Worker(theirs) as peer:
        for worker in (proctor, peer):
            worker.ask(1, argument=None)
        # Once for the verdicts, and to find the programs that are heavy themselves.
        first = proctor.ask(1, argument=numbers).result
        heavy = {n for n, verdict in zip(numbers, first, strict=True) if verdict[3] > HEAVY}
        numbers = [n for n in numbers if n not in heavy]
        rounds = 2 if quick else 5
        cpus: dict[str, list[float]] = {"proctor": [], "peer": []}
        verdicts: dict[str, dict[int, list[Any]]] = {"proctor": {}, "peer": {}}
        for chunk in (numbers[start::rounds] for start in range(rounds)):
            for name, worker in (("proctor", proctor), ("peer", peer)):
                answer = worker.ask(1, argument=chunk)
                cpus[name].append(answer.cpu / len(chunk))
                verdicts[name].update(zip(chunk, answer.result, strict=True))
        whole_tree = proctor.group is not None and peer.group is not None
    own = sum(verdict[3] for verdict in verdicts["proctor"].values()) / len(numbers)
    mean = {name: statistics.mean(values) for name, values in cpus.items()}
    return {
        "whole_tree": whole_tree,
        "samples": len(numbers),
        "heavy": len(heavy),
        "proctor_ms": mean["proctor"] * 1e3,
        "peer_ms": mean["peer"] * 1e3,
        "ratio": mean["peer"] / mean["proctor"],
        "grader_ratio": (mean["peer"] - own) / (mean["proctor"] - own),
        "programs_own_ms": own * 1e3,
        "differs_from_lcb_runner": _differences(golden, verdicts["proctor"], _golden(golden)),
        "differs_from_peer": _differences(golden, verdicts["proctor"], verdicts["peer"]),
    }


def _golden(rows: list[dict[str, Any]]) -> dict[int, list[Any]]:
    return {
        n: [row["results"], row["error_code"], row["error_message"], 0]
        for n, row in enumerate(rows)
    }


def _differences(
    rows: list[dict[str, Any]], ours: dict[int, list[Any]], theirs: dict[int, list[Any]]
) -> list[dict[str, Any]]:
    """Programs whose results or error codes are not the same."""
    return [
        {
            "question_id": rows[n]["question_id"], "model": rows[n]["model"],
            "proctor": _short(mine), "other": _short(theirs[n]),
        }
        for n, mine in sorted(ours.items())
        if mine[:2] != theirs[n][:2]
    ]  # fmt: skip


def _short(verdict: list[Any]) -> str:
    results, code, message, _ = verdict
    passed = sum(result is True for result in results)
    return f"{passed} passed, code {code}" + (f": {str(message)[:90]}" if message else "")


def lines(found: dict[str, Any] | None) -> list[Line]:
    if found is None:
        return [Line("LiveCodeBench", "skipped: PROCTOR_TEST_DATA is not set")]
    differing = [f"{d['question_id']} {d['model']}" for d in found["differs_from_lcb_runner"]]
    unlike = len([name for name in differing if name not in RACY])
    return [
        at_least("LiveCodeBench samples per CPU-second, × the peer", found["ratio"], 6, times),
        at_least("the same, the programs' own CPU taken off both", found["grader_ratio"], 6, times),
        at_least(
            "against lcb_runner's 24.8 CPU-ms (another day)",
            LCB_RUNNER_MS / found["proctor_ms"], 6, times,
        ),
        at_most("CPU per sample (budget: goal)", found["proctor_ms"], 2.5, milliseconds),
        Line("verdicts unlike lcb_runner's, races apart", str(unlike), "0", unlike == 0),
    ]  # fmt: skip


def table(found: dict[str, Any] | None) -> list[list[str]]:
    if found is None:
        return []
    rows = [["grader", "CPU ms a sample", "samples per CPU-second"]]
    for name, cpu in (
        ("proctor, official mode", found["proctor_ms"]),
        (f"{PEER} 26.3", found["peer_ms"]),
        ("lcb_runner (measured once)", LCB_RUNNER_MS),
        ("of which the programs themselves (in proctor)", found["programs_own_ms"]),
    ):
        rows.append([name, f"{cpu:.2f}", f"{1e3 / cpu:,.0f}"])
    return rows


def notes(found: dict[str, Any] | None) -> list[str]:
    if found is None:
        return []
    left_out = f"time-outs and {found['heavy']} programs above {HEAVY:.0f} CPU-second left out"
    out = [
        f"{found['samples']} samples; {left_out}.",
        " ".join(EXPECTED_TO_DIFFER.split()),
        f"A race in the program itself, not counted: {', '.join(RACY)}.",
    ]
    for name, key in (("lcb_runner", "differs_from_lcb_runner"), ("the peer", "differs_from_peer")):
        out.append(f"Verdicts that differ from {name}'s: {len(found[key])}.")
        out += [
            f"{one['question_id']} {one['model']}: proctor {one['proctor']}; {name} {one['other']}"
            for one in found[key][:12]
        ]
    return out


if __name__ == "__main__":
    import report

    report.alone(sys.modules[__name__])
