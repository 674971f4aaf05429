"""proctor on LiveCodeBench rows. Usage: ... PROBLEMS PROGRAMS official|standard [PACKAGES].

The argument of a request is a list of line numbers of PROGRAMS, or null: load the problems.
"""

import json
import sys
from pathlib import Path

import loop

from proctor import JudgeSettings, judge_many, load_problems, open_pool

PROBLEMS, PROGRAMS = Path(sys.argv[1]), Path(sys.argv[2])
rows = [json.loads(line) for line in PROGRAMS.read_text("utf-8").splitlines()]
settings = JudgeSettings(mode=sys.argv[3], stop="first")  # the same work as upstream's
pool = open_pool(packages=tuple(sys.argv[4:]))
problems = {}


def job(numbers):
    if numbers is None:
        problems.update(load_problems(PROBLEMS))
        return None
    pairs = ((problems[rows[n]["question_id"]], rows[n]["code"]) for n in numbers)
    verdicts = [None] * len(numbers)
    for judged in judge_many(pairs, settings=settings, pool=pool):
        judgement = judged.judgement
        upstream = judgement.upstream
        what = (
            (list(upstream.results), upstream.error_code, upstream.error_message)
            if upstream is not None
            else ([judgement.passed], judgement.verdict, judgement.message)
        )
        verdicts[judged.index] = (*what, sum(test.cpu for test in judgement.tests))
    return verdicts


loop.serve(job)
