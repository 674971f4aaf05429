# why: four threads use CPU time of one program, not of four
import threading
import time


def burn():
    start = time.thread_time()
    while time.thread_time() - start < 0.8:
        pass


threads = [threading.Thread(target=burn) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sum(map(int, input().split())))
