# title: Asking the kernel about a process of somebody else
# kind: run
# must: held
# needs: processes
# harmless: yes
victim = bait["victim"]
attempt("getsid", os.getsid, victim)
attempt("getpgid", os.getpgid, victim)
attempt("getpriority", os.getpriority, os.PRIO_PROCESS, victim)
attempt("sched_getscheduler", os.sched_getscheduler, victim)
attempt("sched_getaffinity", os.sched_getaffinity, victim)
attempt("ioprio_get", call, "ioprio_get", 1, victim)
attempt("get_robust_list", call, "get_robust_list", victim, (ctypes.c_long * 2)(), (ctypes.c_long * 2)())
finish()
