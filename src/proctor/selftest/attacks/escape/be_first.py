# title: A real-time or higher priority, and not being killed when memory runs out
# kind: run
# must: held
# needs: kernel
for policy in (1, 2, 6):  # FIFO, RR, DEADLINE
    attempt(f"policy {policy}", call, "sched_setscheduler", 0, policy, ctypes.byref(ctypes.c_int(1)))
attributes = (ctypes.c_uint32 * 14)(56, 1, 0, 0, 0, 1)
attempt("by sched_setattr", call, "sched_setattr", 0, attributes, 0)
attempt("niceness", os.setpriority, os.PRIO_PROCESS, 0, -5)
attempt("disk priority", call, "ioprio_set", 1, 0, 1 << 13)
try:
    fd = os.open("/proc/self/oom_score_adj", os.O_RDWR)
    before = int(os.read(fd, 20))
    os.pwrite(fd, b"-1000", 0)
    if int(os.pread(fd, 20, 0)) < min(before, 0):
        found.append("spared when memory runs out")
except (OSError, ValueError):
    pass
finish()
