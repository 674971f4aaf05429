# why: catching the time-out must not buy time
# upstream: AC (cheat) the time-out is an exception, which the program can catch
import time


class Solution:
    def add(self, a, b):
        start = time.process_time()
        while time.process_time() - start < 3:
            try:
                while time.process_time() - start < 3:
                    pass
            except Exception:
                continue
        return a + b
