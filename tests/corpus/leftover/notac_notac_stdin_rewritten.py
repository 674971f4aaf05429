# why: the input's descriptor must be read-only: the same input may serve other programs
import os
import sys

a, b = map(int, sys.stdin.readline().split())
try:
    os.pwrite(0, b"1 2\n\n\n\n", 0)
    os.ftruncate(0, 4)
    written = True
except OSError:
    written = False
print(a + b if a == 1 or written else "clean")
