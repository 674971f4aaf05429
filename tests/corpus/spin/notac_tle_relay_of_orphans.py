# why: work passed on from orphan to orphan, none of which lives long or is waited for
import os
import posix
import time

a, b = map(int, input().split())
reading, writing = os.pipe()
if posix.fork() == 0:
    for _ in range(4000):
        end = time.process_time() + 0.004
        while time.process_time() < end:
            pass
        if posix.fork() != 0:
            posix._exit(0)
    os.write(writing, b"%d\n" % (a + b))
    posix._exit(0)
os.wait()
os.write(1, os.read(reading, 100))
