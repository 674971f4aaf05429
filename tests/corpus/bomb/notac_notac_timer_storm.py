# why: signals from a timer as often as the kernel can deliver them
import signal

signal.signal(signal.SIGALRM, lambda *args: None)
signal.setitimer(signal.ITIMER_REAL, 1e-6, 1e-6)
while True:
    pass
