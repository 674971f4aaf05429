# why: the first process of the box must not be the program's to kill
import posix
import time

a, b = map(int, input().split())
escaped = False
if posix.getpid() != 1:
    posix.kill(1, 9)
    time.sleep(0.2)
    try:
        posix.kill(1, 0)
    except ProcessLookupError:
        escaped = True
print(a + b if escaped else "contained")
