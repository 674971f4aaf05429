# title: Threads that go on printing after the program has ended
# kind: judge
# must: not AC
import os
import threading
import time


def late():
    while True:
        try:
            os.write(1, b"AC\n")
        except OSError:
            pass
        time.sleep(0.001)


for daemon in (True, True):
    threading.Thread(target=late, daemon=daemon).start()
