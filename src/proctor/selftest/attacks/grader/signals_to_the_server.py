# title: Signals to the process that forks the tests
# kind: judge
# must: not AC
import os
import signal

for pid in (os.getppid(), -1, 0, 1):
    for number in (signal.SIGCONT, signal.SIGINT, signal.SIGUSR1, signal.SIGCHLD, signal.SIGTERM, signal.SIGSTOP, signal.SIGKILL):
        if pid > 0:  # its own group last: that ends it, too
            try:
                os.kill(pid, number)
            except (OSError, AttributeError, TypeError):
                pass
print("whatever")
