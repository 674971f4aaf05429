# why: a child handed to one's own parent (CLONE_PARENT) must not lend its exit code
import ctypes
import posix
import time

print(sum(map(int, input().split())), flush=True)
if ctypes.CDLL(None).syscall(56, 0x00008000 | 17, None, None, None, None) == 0:
    posix._exit(0)
time.sleep(0.2)
posix._exit(3)
