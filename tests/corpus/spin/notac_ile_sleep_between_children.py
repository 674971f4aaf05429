# why: Likewise with children, which in official mode nobody may have.
import os
import time

for _ in range(600):
    if os.fork() == 0:
        os._exit(0)
    os.wait()
    time.sleep(0.1)
print(input())
