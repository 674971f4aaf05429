# why: the module posix has what upstream takes from os
# upstream: AC (escape) the executor's worker dies and the whole run hangs
import posix
import time

a, b = map(int, input().split())
pid, escaped = posix.getppid(), False
if pid > 0:
    posix.kill(pid, 9)
    time.sleep(0.2)
    escaped = posix.getppid() != pid
print(a + b if escaped else "contained")
