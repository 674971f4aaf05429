# why: function-call programs are held as tightly: the parent is not theirs to kill
# upstream: AC (escape) the executor's worker dies and the whole run hangs
import posix
import time


class Solution:
    def add(self, a, b):
        pid = posix.getppid()
        if pid < 1:
            return "contained"
        posix.kill(pid, 9)
        time.sleep(0.2)
        return a + b if posix.getppid() != pid else "contained"
