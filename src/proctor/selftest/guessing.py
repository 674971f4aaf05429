"""Judging a program that guesses, again and again: one with any memory passes in the end."""

import secrets
import time
from collections import Counter

from proctor.judging.judge import judge
from proctor.judging.settings import JudgeSettings, Mode
from proctor.problem import Problem, Test
from proctor.sandbox.pool import Pool
from proctor.selftest.attack import Attack, guesser
from proctor.selftest.report import AttackOutcome, AttackStatus
from proctor.verdict import Verdict

JUDGEMENTS = 300
"""Most judgements of one program, over all modes; one with a memory needs about fifty to pass."""
CELLS = 2
"""Number of cells that it is judged in, whichever is free."""
_TESTS, _VALUES = 10, 10
_IN_ONE_MODE = 6
"""Judgements in one mode before the next mode's turn."""


def guess(attack: Attack, pool: Pool, judgements: int = JUDGEMENTS) -> AttackOutcome:
    """Judge the attack's program until it passes, `judgements` times at most."""
    problem = Problem(
        "guess",
        tuple(Test(f"{n}\n", f"{secrets.randbelow(_VALUES)}\n") for n in range(_TESTS)),
    )
    source = guesser() + attack.parts[0]
    modes = [attack.modes[n // _IN_ONE_MODE % len(attack.modes)] for n in range(judgements)]

    def verdict(mode: str) -> Verdict:
        chosen: Mode = "official" if mode == "official" else "standard"
        # Of all ways to judge, this one tells a program most about its answers.
        settings = JudgeSettings(chosen, attack.limits, stop="first", fast=mode == "fast")
        return judge(problem, source, settings=settings, pool=pool).verdict

    began, found = time.monotonic(), Counter[Verdict]()
    for mode in modes:
        found[verdict(mode)] += 1
        if found[Verdict.AC]:
            break
    happened = f"{found.total()} judgements: " + ", ".join(
        f"{verdict} {number}" for verdict, number in found.most_common()
    )
    escaped = sum(number for verdict, number in found.items() if verdict.is_fault)
    status = AttackStatus.THROUGH if found[Verdict.AC] or escaped else AttackStatus.HELD
    return AttackOutcome(attack, status, happened, wall=time.monotonic() - began)
