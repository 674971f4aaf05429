# why: a System V segment outlives its process; it must not outlive the test
import ctypes
import sys

a, b = map(int, input().split())
same_process, sys.been_here = hasattr(sys, "been_here"), True
libc = ctypes.CDLL(None)
found = libc.shmget(0x70726F63, 4096, 0o600) >= 0
libc.shmget(0x70726F63, 4096, 0o1600)
print(a + b if a == 1 or (found and not same_process) else "clean")
