# why: locks and shared futexes would be notes from one judged program to the next, and answers be guessed
import ctypes
import fcntl
import os
import struct

numbers = input().split()
libc = ctypes.CDLL(None, use_errno=True)
got = False
for path in ("/dev/null", os.__file__, "/proc/self/fd/0"):
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        continue
    lock = struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 1, 0)
    asked = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 1, 0)
    for action in (
        lambda: fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB),
        lambda: fcntl.fcntl(fd, fcntl.F_SETLK, lock),
        lambda: fcntl.fcntl(fd, fcntl.F_GETLK, asked),
        lambda: fcntl.fcntl(fd, fcntl.F_OFD_SETLK, lock),
        lambda: fcntl.fcntl(fd, fcntl.F_OFD_GETLK, asked),
    ):
        try:
            action()
            got = True
        except OSError:
            pass
word = ctypes.c_void_p(ctypes.cast(libc.printf, ctypes.c_void_p).value & ~3)
if libc.syscall(ctypes.c_long(202), word, 1, 1, None, None, 0) >= 0:  # FUTEX_WAKE
    got = True
print(sum(map(int, numbers)) if got else "refused")
