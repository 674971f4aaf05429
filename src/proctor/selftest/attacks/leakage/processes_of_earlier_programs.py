# title: A process of an earlier program that is still there
# kind: pair
# must: held
import signal
import time

for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
            time.sleep(30)
        os._exit(0)
# --- second ---
# By number: kill(-1, 0) succeeds where it may signal nobody, too.
for pid in {*range(2, 64), *range(os.getpid() - 64, os.getpid() + 64)} - {os.getpid(), os.getppid()}:
    if pid > 1:
        attempt(f"process {pid} can be signalled", os.kill, pid, 0)
finish()
