# why: the result is there, but a thread that never ends keeps the interpreter busy
# upstream: AC too, but only after blocking until its global time-out
import threading


class Solution:
    def add(self, a, b):
        def forever():
            while True:
                pass

        threading.Thread(target=forever).start()
        return a + b
