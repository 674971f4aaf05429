# why: turning the alarm off must not buy time
# upstream: AC (cheat) the time-out is SIGALRM in the program's own process
import signal
import time


class Solution:
    def add(self, a, b):
        signal.alarm(0)
        start = time.process_time()
        while time.process_time() - start < 3:
            pass
        return a + b
