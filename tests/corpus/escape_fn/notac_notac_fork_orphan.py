# why: a child that goes on after its parent's end must not hold up the judge
# upstream: AC (escape) the orphan survives and the item takes three times as long
import posix
import time


class Solution:
    def add(self, a, b):
        if posix.fork() == 0:
            posix.setsid()
            time.sleep(30)
            posix._exit(0)
        return "contained"
