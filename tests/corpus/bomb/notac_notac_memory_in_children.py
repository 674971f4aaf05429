# why: memory is counted over all processes, not per process
import posix
import time

for _ in range(8):
    if posix.fork() == 0:
        block = bytearray(b"x") * (100 << 20)
        time.sleep(0.5)
        posix._exit(len(block) == 0)
statuses = [posix.wait()[1] for _ in range(8)]
print("contained" if any(statuses) else sum(map(int, input().split())))
