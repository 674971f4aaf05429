# why: the result is there, but a thread that never ends keeps the interpreter busy
# upstream: AC (outruns its limit) the process blocks until the global time-out
import threading


class Solution:
    def add(self, a, b):
        def forever():
            while True:
                pass

        threading.Thread(target=forever).start()
        return a + b
