# title: Limits, priority, CPUs and scheduling of another process of the same user
# kind: run
# must: held
# needs: processes
# harmless: yes
victim = bait["victim"]
NOFILE, CPU = 7, 0
for pid in (victim, os.getppid() or 1, 1):
    old = (ctypes.c_uint64 * 2)()
    attempt(f"limits of process {pid} were read", call, "prlimit64", pid, CPU, None, old)
new = (ctypes.c_uint64 * 2)(17, 19)
attempt("limits were changed", call, "prlimit64", victim, NOFILE, new, None)
attempt("setpriority", call, "setpriority", 0, victim, 19)
attempt("setpriority of its group", call, "setpriority", 1, victim, 19)
attempt("ioprio_set", call, "ioprio_set", 1, victim, 3 << 13)
mask = ctypes.c_ulong(1)
attempt("sched_setaffinity", call, "sched_setaffinity", victim, 8, ctypes.byref(mask))
parameter = ctypes.c_int(0)
attempt("sched_setscheduler", call, "sched_setscheduler", victim, 5, ctypes.byref(parameter))
attributes = (ctypes.c_uint32 * 14)(56, 5)
attempt("sched_setattr", call, "sched_setattr", victim, attributes, 0)
finish()
