# title: One test that uses everything up, so that the next fails in the program's favour
# kind: judge
# must: not AC
# limits: cpu=0.5 wall=3
import os
import sys
import threading

name = input()
kept = []
try:
    for _ in range(64):
        kept.append(os.dup(0))
    for _ in range(8):
        kept.append(bytearray(4 << 20))
    sys.setrecursionlimit(50)
    threading.stack_size(32768)
    sys.setswitchinterval(1000)
except (OSError, MemoryError, ValueError, RecursionError):
    pass
try:
    for _ in range(12):
        if os.fork() == 0:
            while True:
                pass
except (OSError, TypeError):
    pass
print(name)
