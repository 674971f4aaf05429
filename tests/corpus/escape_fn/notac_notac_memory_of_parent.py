# why: the parent's memory must not open
# upstream: AC (escape) /proc/<ppid>/mem opens, the uid is the same
import os
import posix


class Solution:
    def add(self, a, b):
        for pid in {posix.getppid(), 1} - {posix.getpid()}:
            try:
                os.close(os.open(f"/proc/{pid}/mem", os.O_RDWR))
                return a + b
            except OSError:
                pass
        return "contained"
