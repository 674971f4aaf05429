# why: the right answer, then work for ever in threads, children and the process itself
import os
import posix
import threading


def work():
    while True:
        pass


os.write(1, b"%d\n" % sum(map(int, input().split())))
print(end="", flush=True)
posix.fork()
posix.fork()
threading.Thread(target=work).start()
work()
