# why: an orphan's CPU time is not in its parent's rusage, yet it must not be free
import posix
import time

a, b = map(int, input().split())
r, w = posix.pipe()
if posix.fork() == 0:
    posix.close(r)
    if posix.fork():
        posix._exit(0)
    start = time.process_time()
    while time.process_time() - start < 8:
        pass
    posix.write(w, b"%d" % (a + b))
    posix._exit(0)
posix.close(w)
posix.wait()
print(posix.read(r, 100).decode())
