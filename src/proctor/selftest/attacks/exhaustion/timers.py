# title: POSIX timers and queued signals, which are counted for the user and not the program
# kind: run
# must: held or limit cpu or limit memory
# limits: cpu=1
import signal

timers = 0
try:
    while timers < 50_000:
        call("timer_create", 1, None, ctypes.byref(ctypes.c_int()))
        timers += 1
except OSError:
    pass
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
queued = 0
try:
    while queued < 50_000:
        info = ctypes.create_string_buffer(128)
        ctypes.c_int.from_buffer(info, 0).value = signal.SIGRTMIN
        ctypes.c_int.from_buffer(info, 8).value = -1
        call("rt_sigqueueinfo", os.getpid(), int(signal.SIGRTMIN), info)
        queued += 1
except OSError:
    pass
if timers + queued > 10_000:
    found.append(f"{timers} timers and {queued} signals queued")
finish(f"{timers} timers, {queued} signals, then no more")
