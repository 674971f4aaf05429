# why: CPU time of waited-for children counts
import posix
import time

for _ in range(4):
    if posix.fork() == 0:
        while time.process_time() < 0.8:
            pass
        posix._exit(0)
    posix.wait()
print(sum(map(int, input().split())))
