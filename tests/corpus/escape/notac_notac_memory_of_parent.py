# why: the parent's memory must not open
# upstream: AC (escape) /proc/<ppid>/mem opens, the uid is the same
import os
import posix

a, b = map(int, input().split())
escaped = False
for pid in {posix.getppid(), 1} - {posix.getpid()}:
    try:
        os.close(os.open(f"/proc/{pid}/mem", os.O_RDWR))
        escaped = True
    except OSError:
        pass
print(a + b if escaped else "contained")
