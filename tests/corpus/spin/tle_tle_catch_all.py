# why: catching the time-out and wiping its message must not buy time
# upstream: AC (cheat) the time-out is an exception, which the program can catch
import sys
import time

start = time.process_time()
try:
    while time.process_time() - start < 3:
        pass
except Exception:
    sys.stdout.seek(0)
    sys.stdout.truncate()
print(sum(map(int, input().split())))
