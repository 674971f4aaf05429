# As: checker testlib. Says: idle.
import time

while True:
    time.sleep(100)
