# why: importing must not leave compiled files for the next test to import
import os
import sys

a, b = map(int, input().split())
same_process, sys.been_here = hasattr(sys, "been_here"), True
sys.path.insert(0, "/tmp")
try:
    import proctor_leftover

    found = True
except ImportError:
    found = False
    try:
        fd = os.open("/tmp/proctor_leftover.py", os.O_CREAT | os.O_WRONLY)
        os.write(fd, b"left = True\n")
    except OSError:
        pass
print(a + b if a == 1 or (found and not same_process) else "clean")
