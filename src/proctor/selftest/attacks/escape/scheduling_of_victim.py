# title: CPUs and scheduling policy of another process of the same user
# kind: run
# must: held
# needs: processes
# harmless: yes
victim = bait["victim"]
mask = ctypes.c_ulong(1)
attempt("sched_setaffinity", call, "sched_setaffinity", victim, 8, ctypes.byref(mask))
parameter = ctypes.c_int(0)
attempt("sched_setscheduler", call, "sched_setscheduler", victim, 5, ctypes.byref(parameter))
attributes = (ctypes.c_uint32 * 14)(56, 5)
attempt("sched_setattr", call, "sched_setattr", victim, attributes, 0)
finish()
