# why: more threads whenever one can be had
import threading

while True:
    try:
        threading.Thread(target=lambda: sum(range(10**9))).start()
    except RuntimeError:
        pass
