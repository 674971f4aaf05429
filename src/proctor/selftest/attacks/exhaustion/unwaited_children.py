# title: CPU time of children that nobody waits for (SIGCHLD ignored)
# kind: run
# must: limit cpu or limit memory or limit processes
# limits: cpu=0.4 processes=16 wall=8
# needs: cpu
import signal
import time

try:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
except OSError:
    pass  # refused; then unwaited they are all the same
while True:
    try:
        if os.fork() == 0:
            end = time.process_time() + 0.04
            while time.process_time() < end:
                pass
            os._exit(0)
    except OSError:
        pass
    time.sleep(0.04)
