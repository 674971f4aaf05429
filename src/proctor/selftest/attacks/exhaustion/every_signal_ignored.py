# title: A spinning program that ignores every signal it can
# kind: run
# must: limit cpu
# limits: cpu=0.3
import signal

for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
while True:
    pass
