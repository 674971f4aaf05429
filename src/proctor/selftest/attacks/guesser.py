# What every attack of kind `guess` begins with: guessing with notes from one judgement to the next.
#
# A judgement stops at the first wrong answer, so a program that is given test k + 1 knows that its
# answer to test k was right. With a memory of what it has tried it passes after some fifty judgements.
import os
import random
import sys
import time

TESTS, VALUES = 10, 10


def play(recall, leave, linger=0.0):
    """Answer one test by the notes that `recall` finds, and have `leave` keep the new ones.

    Notes are for each test the last value tried, -1 if there is none. `linger`: seconds to stay
    alive after the notes were left, for whoever can read them only as long as we are there.
    """
    test = int(input())
    try:
        tried = recall()
    except Exception:
        tried = None
    if tried is None:
        tried = [-1] * TESTS
    known = any(value >= 0 for value in tried[test + 1 :])
    if not known or tried[test] < 0:
        tried[test] = (tried[test] + 1) % VALUES
    answer = tried[test]
    try:
        leave(tried)
    except Exception:
        answer = random.SystemRandom().randrange(VALUES)
    if linger:
        time.sleep(linger)
    print(answer)


# ---- the attack itself ----
