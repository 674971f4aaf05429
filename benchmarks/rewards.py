"""Rewards of a step of code RL, on a Ray cluster of two nodes, beside verl's own grader.

    PROCTOR_TEST_DATA=... .venv/bin/python benchmarks/rewards.py [--prompts 64] [--endless 4]

Eight answers to each prompt, made of recorded programs: right, wrong, crashing, cut short, endless.
CPU is that of all processes: Ray's, proctor's and the programs'.
"""

import argparse
import os
import sys
from pathlib import Path

import peers
from measure import WORK, Answer, Worker, data_directory

WAYS = {"RewardActors": "actors", "RewardActors.shared": "shared", "a pool here": "pool"}


def measured(argv: list[str], wanted: list[int]) -> tuple[Answer, float]:
    """Return what a batch cost, and the CPU seconds of starting before it."""
    with Worker(argv, dict(os.environ)) as worker:
        first = worker.ask(1, argument=[1, 0])
        if worker.group is None:
            sys.exit("no control groups: the CPU of all processes cannot be told")
        return worker.ask(1, argument=wanted), first.cpu


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompts", type=int, default=64)
    parser.add_argument("--endless", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=1)
    arguments = parser.parse_args()
    data = data_directory()
    if data is None or not (data / "livecodebench").is_dir():
        sys.exit("PROCTOR_TEST_DATA names no folder with livecodebench")
    home = str(data / "livecodebench")
    theirs = str(Path(peers.packages_of("verl"), "verl", "utils", "reward_score"))
    contestants = {
        "verl, prime_code": [
            peers.interpreter_of("verl"), str(WORK / "rewards_verl.py"), home, theirs,
        ],
        **{
            name: [sys.executable, str(WORK / "rewards_proctor.py"), home, way]
            for name, way in WAYS.items()
        },
    }  # fmt: skip
    print("| rewards by | samples/s | CPU s | CPU ms a sample | CPU s to start | full marks |")
    print("|---|---:|---:|---:|---:|---:|")
    for _ in range(arguments.rounds):
        for name, argv in contestants.items():
            answer, begin = measured(argv, [arguments.prompts, arguments.endless])
            (wall,), count = answer.walls, len(answer.result)
            full = sum(reward == 1 for reward in answer.result)
            print(
                f"| {name} | {count / wall:.1f} | {answer.cpu:.1f} |"
                f" {1e3 * answer.cpu / count:.1f} | {begin:.1f} | {full} of {count} |",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
