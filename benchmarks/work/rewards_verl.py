"""Rewards by verl's own code. Usage: ... DATA FOLDER; jobs are [prompts, endless ones].

FOLDER is verl/utils/reward_score: of verl only that is imported. As many samples at once as there
are CPUs, in threads, as its naive reward manager does it.
"""

import contextlib
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import loop
import reward_samples

HOME, FOLDER = sys.argv[1:]
sys.path.insert(0, FOLDER)

from prime_code import compute_score  # noqa: E402


def score(sample):
    tests, answer = sample
    return float(compute_score(answer, tests, continuous=True)[0])


def job(wanted):
    samples = reward_samples.batch(HOME, *wanted)
    with Path(os.devnull).open("w") as null, contextlib.redirect_stderr(null), \
            ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:  # fmt: skip
        return list(threads.map(score, samples))


loop.serve(job)
