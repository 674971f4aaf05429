# title: The host's clock
# kind: run
# must: held
# needs: kernel
import time

attempt("clock_settime", time.clock_settime, time.CLOCK_REALTIME, time.time())
now = (ctypes.c_long * 2)(int(time.time()), 0)
attempt("settimeofday", call, "settimeofday", now, None)
buffer = ctypes.create_string_buffer(512)
ctypes.c_uint32.from_buffer(buffer, 0).value = 0x4000  # ADJ_TICK
attempt("clock_adjtime", call, "clock_adjtime", 0, buffer)
finish()
