# why: the answer is out, but a thread that never ends keeps the interpreter busy
# upstream: AC too, but only after blocking until its global time-out
import threading


def forever():
    while True:
        pass


print(sum(map(int, input().split())))
threading.Thread(target=forever).start()
