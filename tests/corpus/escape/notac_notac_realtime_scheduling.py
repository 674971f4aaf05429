# why: a real-time program starves the judge
import os

a, b = map(int, input().split())
escaped = False
for policy in (os.SCHED_FIFO, os.SCHED_RR):
    try:
        os.sched_setscheduler(0, policy, os.sched_param(1))
        escaped = True
    except OSError:
        pass
print(a + b if escaped else "contained")
