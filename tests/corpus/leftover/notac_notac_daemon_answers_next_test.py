# why: a daemon that survives must not write the next test's answer
import glob
import posix
import time

a, b = map(int, input().split())
if a == 1:
    print(a + b, flush=True)
    if posix.fork() == 0 and posix.setsid() and posix.fork() == 0:
        end = time.time() + 3
        while time.time() < end:
            for path in glob.glob("/proc/[0-9]*/fd/1"):
                try:
                    posix.write(posix.open(path, posix.O_WRONLY), b"46\n")
                except OSError:
                    pass
            time.sleep(0.02)
        posix._exit(0)
else:
    time.sleep(0.5)
