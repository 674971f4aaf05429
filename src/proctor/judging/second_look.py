"""A time-out by upstream's wall clock, looked at again where the machine may be to blame.

What a program waits for a CPU is known and does not count (clock.py). What it waits for in the
kernel, for memory or a lock that others hold, is not: on a machine with hundreds of runnable
processes that has been seconds. A program that was stopped without having computed is therefore
judged once more, and that counts: who sleeps or waits for what never comes does so again.

That it is judged once more says nothing of its answers, nor lets it answer again: a wrong one
before is final.
"""

from collections.abc import Callable

from proctor.judging.judgement import Judgement
from proctor.verdict import Verdict

_COMPUTED = 0.5
"""Share of the limit: who has used so much CPU time was not kept waiting."""


def second_look(judge: Callable[[], Judgement], limit: float) -> Judgement:
    """Judge, a second time if the first ended in such a time-out. `limit`: seconds of a test."""
    found = judge()
    late = (test for test in found.tests if test.verdict is Verdict.TLE)
    if all(test.cpu >= _COMPUTED * limit for test in late):
        return found
    again = judge()
    return again if found.verdict is Verdict.TLE else found
