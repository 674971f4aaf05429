# why: blocking every signal that can be blocked must not buy time
# upstream: AC (cheat) the time-out is SIGALRM in the program's own process
import signal
import time

signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
start = time.process_time()
while time.process_time() - start < 3:
    pass
print(sum(map(int, input().split())))
