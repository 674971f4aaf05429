# why: another process's descriptors must not be had through pidfd_getfd
import ctypes
import os
import posix

a, b = map(int, input().split())
libc = ctypes.CDLL(None)
escaped = False
for pid in {posix.getppid(), 1} - {0, posix.getpid()}:
    try:
        escaped |= any(libc.syscall(438, os.pidfd_open(pid), fd, 0) >= 0 for fd in range(16))
    except OSError:
        pass
print(a + b if escaped else "contained")
