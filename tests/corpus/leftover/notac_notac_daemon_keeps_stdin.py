# why: a daemon that keeps the descriptors of its test must not see or feed the next one's
import posix
import time

a, b = map(int, input().split())
if a == 1:
    print(a + b, flush=True)
    if posix.fork() == 0:
        posix.setsid()
        for _ in range(30):
            time.sleep(0.1)
            data = posix.pread(0, 100, 0).split()
            if data[:1] == [b"12"]:
                posix.write(1, b"46\n")
        posix._exit(0)
else:
    time.sleep(0.5)
