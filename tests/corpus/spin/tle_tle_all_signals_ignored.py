# why: SIGXCPU, SIGTERM and the rest may be ignored; SIGKILL may not
# upstream: AC (cheat) the time-out is SIGALRM in the program's own process
import signal
import time

for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
start = time.process_time()
while time.process_time() - start < 3:
    pass
print(sum(map(int, input().split())))
