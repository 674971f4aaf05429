# why: the x32 numbers of the same calls must be filtered too
import ctypes

a, b = map(int, input().split())
libc = ctypes.CDLL(None)
escaped = libc.syscall(0x40000000 + 39) > 0  # getpid
escaped |= libc.syscall(0x40000000 + 272, 0x10000000) == 0  # unshare
print(a + b if escaped else "contained")
