"""Runs made up from a seed: contests of four problems, two platforms, months, faults, two modes."""

import random
from dataclasses import replace
from datetime import date

from proctor.reports.records import RunRecords, SampleDetail, SampleRecord
from proctor.verdict import Verdict

PROVENANCE = {
    "dataset": "made up, revision 1",
    "prompt": "sha256:0123",
    "limits": {"cpu_seconds": 6, "memory_bytes": 1 << 30},
    "judge": "0.1.0",
    "model": "a model",
}
_DIFFICULTIES = {"easy": 1.2, "medium": -0.3, "hard": -2.0}
_FAILURES = (Verdict.WA, Verdict.WA, Verdict.WA, Verdict.TLE, Verdict.RE, Verdict.CE)


def make_run(
    name: str = "made",
    *,
    contests: int = 30,
    samples: int = 4,
    skill: float = 0.0,
    fall: float = 0.0,
    faults: float = 0.0,
    seed: int = 1,
) -> RunRecords:
    """`fall` is taken from the skill (logits) at problems from 2024-07 on."""
    chance = random.Random(seed)
    records = []
    for contest in range(contests):
        month = contest * 18 // contests
        day = date(2023 + (month + 6) // 12, (month + 6) % 12 + 1, 1 + contest % 28)
        platform = ("atcoder", "leetcode")[contest % 2]
        mood = chance.gauss(0, 0.6)
        for letter in "abcd":
            difficulty = chance.choice(list(_DIFFICULTIES))
            logit = skill + _DIFFICULTIES[difficulty] + mood + chance.gauss(0, 1)
            logit -= fall * (day >= date(2024, 7, 1))
            for sample in range(samples):
                passed = chance.random() < 1 / (1 + 2.718281828**-logit)
                verdict = Verdict.AC if passed else chance.choice(_FAILURES)
                lost = chance.random() < faults
                records.append(
                    SampleRecord(
                        problem_id=f"{platform[:3]}{contest:03}_{letter}",
                        sample=sample,
                        cluster=f"{platform[:3]}{contest:03}",
                        platform=platform,
                        difficulty=difficulty,
                        published=day,
                        official=None if lost else verdict,
                        standard=None if lost else _again(verdict, chance),
                        fault="the model's server did not answer" if lost else "",
                        prompt_tokens=chance.randrange(300, 900),
                        completion_tokens=int(chance.lognormvariate(6.5, 0.7)),
                        cost=round(chance.uniform(0.0004, 0.004), 6),
                        model_seconds=round(chance.lognormvariate(1.5, 0.6), 2),
                        judge_cpu=round(chance.uniform(0.05, 3), 3),
                        slowest_share=_share(verdict, chance),
                        finish_reason="length" if chance.random() < 0.03 else "stop",
                    )
                )
    return RunRecords(name, tuple(records), dict(PROVENANCE))


def with_details(run: RunRecords) -> RunRecords:
    """The same with a program for every sample, and a test for those that fail."""
    program = "import sys\n\nfor line in sys.stdin:\n    if int(line) < 3:\n        print(line)\n"
    details = {
        (record.problem_id, record.sample): SampleDetail(code=program)
        if record.official is Verdict.AC
        else SampleDetail(program, "line 2 differs", "1\n2\n5\n", "1\n2\n", "1\n\n2\n")
        for record in run.records
    }
    return replace(run, details=details)


def _again(verdict: Verdict, chance: random.Random) -> Verdict:
    """What a contest judge says: the same but for one in a hundred."""
    return Verdict.AC if chance.random() < 0.01 else verdict


def _share(verdict: Verdict, chance: random.Random) -> float:
    return 1.02 if verdict is Verdict.TLE else min(0.999, chance.lognormvariate(-3, 1.2))
