# title: Performance counters, which watch other processes
# kind: run
# must: held
# needs: kernel
# harmless: yes
attributes = (ctypes.c_uint32 * 32)(1, 128)  # a software event: the CPU clock
attributes[10] = 0x61  # of user space only
attempt("of itself", call, "perf_event_open", attributes, 0, -1, -1, 0)
attempt("of the host's process", call, "perf_event_open", attributes, bait["victim"], -1, -1, 0)
attempt("of a whole CPU", call, "perf_event_open", attributes, -1, 0, -1, 0)
finish()
