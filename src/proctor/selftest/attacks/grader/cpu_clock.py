# title: Running longer than the limit: sleeping children, timers, stopped clocks
# kind: judge
# must: not AC
# limits: cpu=0.3 wall=3
import os
import signal
import time

time.time = time.monotonic = time.perf_counter = time.process_time = lambda: 0.0
signal.signal(signal.SIGXCPU, signal.SIG_IGN)
signal.signal(signal.SIGALRM, signal.SIG_IGN)
signal.alarm(0)
try:
    if os.fork() == 0:
        while True:
            pass
except (OSError, TypeError):
    pass
while True:
    pass
