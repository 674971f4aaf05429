# title: Pending signals, timers, masks and handlers of an earlier program
# kind: pair
# must: held
import signal

signal.signal(signal.SIGUSR1, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2, signal.SIGALRM])
os.kill(os.getpid(), signal.SIGUSR2)
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
os.umask(0o777)
os.nice(3)
libc.prctl(15, b"left", 0, 0, 0)
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
# --- second ---
import signal

if signal.getsignal(signal.SIGUSR1) == signal.SIG_IGN:
    found.append("an ignored signal")
if signal.pthread_sigmask(signal.SIG_BLOCK, []) or signal.sigpending():
    found.append("a mask or pending signal")
if signal.getitimer(signal.ITIMER_REAL)[1]:
    found.append("a timer")
if os.umask(0o022) == 0o777:
    found.append("a file mode mask")
if os.getpriority(os.PRIO_PROCESS, 0) != bait["niceness"]:
    found.append("a niceness")
name = ctypes.create_string_buffer(16)
libc.prctl(16, name, 0, 0, 0)
if name.value == b"left":
    found.append("a process name")
finish()
