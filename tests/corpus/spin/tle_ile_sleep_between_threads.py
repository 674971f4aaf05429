# why: Threads that come and go hide nobody's sleep: what ended threads waited for a CPU is unknown, but the program is seen at rest.
import threading
import time

for _ in range(600):
    thread = threading.Thread(target=len, args=("",))
    thread.start()
    thread.join()
    time.sleep(0.1)
print(input())
