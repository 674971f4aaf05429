"""proctor's official mode on LiveCodeBench rows. Usage: ... PROBLEMS PROGRAMS [PACKAGES].

The argument of a request is a list of line numbers of PROGRAMS, or null: load the problems.
"""

import json
import sys
from pathlib import Path

import loop

from proctor import JudgeSettings, judge_many, load_problems, open_pool

PROBLEMS, PROGRAMS = Path(sys.argv[1]), Path(sys.argv[2])
rows = [json.loads(line) for line in PROGRAMS.read_text("utf-8").splitlines()]
settings = JudgeSettings(mode="official", stop="first")  # the same work as upstream's
pool = open_pool(packages=tuple(sys.argv[3:]))
problems = {}


def job(numbers):
    if numbers is None:
        problems.update(load_problems(PROBLEMS))
        return None
    pairs = ((problems[rows[n]["question_id"]], rows[n]["code"]) for n in numbers)
    verdicts = [None] * len(numbers)
    for judged in judge_many(pairs, settings=settings, pool=pool):
        judgement = judged.judgement
        verdicts[judged.index] = (
            list(judgement.upstream.results), judgement.upstream.error_code,
            judgement.upstream.error_message, sum(test.cpu for test in judgement.tests),
        )  # fmt: skip
    return verdicts


loop.serve(job)
