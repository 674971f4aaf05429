"""Choice of the judgements that are remembered: those that any machine would make again."""

import re
from enum import StrEnum

from proctor.judgement import Judgement, TestResult
from proctor.judging.official.upstream import TEST_RUNNER_ERROR
from proctor.limits import Limits
from proctor.verdict import Verdict

CPU_SHARE = 0.5
"""Share of the CPU limit: a test that took more may overrun it on a slower or busier machine."""
IDLE_SHARE = 0.5
"""Share of the time that a program may rest or wait: a test that took more may overrun it
elsewhere."""
MEMORY_SHARE = 0.9
"""Share of the memory limit: a test that took more may overrun it where memory is counted
differently."""
_LIMITS = (Verdict.TLE, Verdict.ILE, Verdict.MLE, Verdict.OLE)
_SIGNAL = re.compile(r"ended by signal (\d+)\b")
_OWN_SIGNALS = frozenset({"4", "6", "7", "8", "11", "31"})
"""Signals that a program's own instructions bring about: SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV,
SIGSYS. Any other may have come from outside."""
_TOO_MANY = "process limit"
"""Words that are in the message on a program that was stopped there, or could start no more."""
_COMPILING = re.compile(r"while compiling: |compiling exceeded ")


class Unkept(StrEnum):
    """Why a judgement is not remembered."""

    FAULT = "fault"
    LIMIT = "limit overrun"
    """The program was stopped there; how much it would have used is not known."""
    NEAR = "near a limit"
    KILLED = "ended by a signal"
    CHANCE = "chance or time"
    """The program uses chance or time, by its source or since two judgements of it differed."""
    ONCE = "judged once so far"
    """It is remembered once a second judgement is equal; see repeatable.py."""
    MACHINES = "machines differ"
    """The judging machines have several versions or levels, or do not report them."""
    FILES = "unreadable test"
    LARGE = "too large"


def unkept(judgement: Judgement, limits: Limits) -> Unkept | None:
    """Return why another machine may judge otherwise; None if none would.

    `limits` are those of each test. Faults are never kept, not even those of the task: a fault
    that every machine finds is found again in no time, since nothing is run.
    """
    verdicts = {judgement.verdict, *(each.verdict for each in judgement.tests)}
    verdicts |= {each.verdict for each in judgement.subtasks}
    if any(each.is_fault for each in verdicts):
        return Unkept.FAULT
    too_many = any(_TOO_MANY in each.message for each in judgement.tests)
    if too_many or _COMPILING.match(judgement.message) or not verdicts.isdisjoint(_LIMITS):
        return Unkept.LIMIT
    if any(_is_near(each, limits) for each in judgement.tests):
        return Unkept.NEAR
    # Upstream's code for a process that ended without a result, however it ended.
    died = judgement.upstream is not None and judgement.upstream.error_code == TEST_RUNNER_ERROR
    return Unkept.KILLED if died or any(map(_is_killed, judgement.tests)) else None


def _is_near(test: TestResult, limits: Limits) -> bool:
    longest = min(limits.wall or limits.wall_backstop, limits.wall_backstop)
    return (
        test.cpu > CPU_SHARE * limits.cpu
        or test.memory > MEMORY_SHARE * limits.memory
        or test.wall - test.cpu > IDLE_SHARE * limits.idle_allowance
        or test.wall > IDLE_SHARE * longest
    )


def _is_killed(test: TestResult) -> bool:
    found = _SIGNAL.search(test.message)
    return found is not None and found[1] not in _OWN_SIGNALS
