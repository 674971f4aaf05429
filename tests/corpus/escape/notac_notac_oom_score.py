# why: a program that the out-of-memory killer spares makes it take somebody else
import os

a, b = map(int, input().split())
try:
    fd = os.open("/proc/self/oom_score_adj", os.O_RDWR)
    before = int(os.read(fd, 20))
    os.pwrite(fd, b"-1000", 0)
    escaped = int(os.pread(fd, 20, 0)) < min(before, 0)
except (OSError, ValueError):
    escaped = False
print(a + b if escaped else "contained")
