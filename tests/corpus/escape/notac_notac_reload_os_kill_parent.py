# why: importlib.reload(os) brings back what upstream takes away
# upstream: AC (escape) the parent is killed, and the whole run hangs
import importlib
import os
import time

importlib.reload(os)
a, b = map(int, input().split())
pid, escaped = os.getppid(), False
if pid > 1:
    os.kill(pid, 9)
    time.sleep(0.2)
    escaped = os.getppid() != pid
print(a + b if escaped else "contained")
