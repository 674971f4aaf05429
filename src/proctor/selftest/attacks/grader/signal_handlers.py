# title: Signal handlers and timers that outlast a test
# kind: judge
# must: not AC
import os
import signal


def late(*_):
    os.write(1, b"AC\n")
    os._exit(0)


for number in range(1, 65):
    try:
        signal.signal(number, late)
    except (OSError, ValueError):
        pass
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
print("whatever")
