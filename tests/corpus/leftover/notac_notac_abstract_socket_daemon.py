# why: a daemon behind an abstract socket must not serve the next test
import posix
import socket
import sys
import time

a, b = map(int, input().split())
same_process, sys.been_here = hasattr(sys, "been_here"), True
found = False
s = socket.socket(socket.AF_UNIX)
try:
    s.connect("\0proctor-leftover")
    found = True
except OSError:
    if posix.fork() == 0:
        posix.setsid()
        s.bind("\0proctor-leftover")
        s.listen()
        time.sleep(3)
        posix._exit(0)
    time.sleep(0.1)
print(a + b if a == 1 or (found and not same_process) else "clean")
