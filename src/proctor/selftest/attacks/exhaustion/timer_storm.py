# title: Signals from a timer as often as the kernel can deliver them
# kind: run
# must: limit cpu
# limits: cpu=0.3
import signal

signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 1e-6, 1e-6)
while True:
    pass
