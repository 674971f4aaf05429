# why: ignoring SIGALRM must not buy time
# upstream: AC (cheat) the time-out is SIGALRM in the program's own process
import signal
import time

signal.signal(signal.SIGALRM, signal.SIG_IGN)
start = time.process_time()
while time.process_time() - start < 3:
    pass
print(sum(map(int, input().split())))
