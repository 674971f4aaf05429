# title: kill(-1), which reaches every process one may signal
# kind: run
# must: held
# needs: signals
import signal

# A process of the host's is asked first, without a signal: if it were in reach, so would be all of
# the user's, and the point is made without harm. kill(-1, 0) would not tell: it succeeds anyway.
for pid in {bait["victim"], bait["runner"], os.getppid()} - {0}:
    attempt(f"process {pid} can be signalled", os.kill, pid, 0)
if not found:
    child = os.fork()
    if child == 0:
        os.setsid()
        signal.pause()
    os.kill(-1, signal.SIGKILL)  # its own child only
    os.waitpid(child, 0)
finish()
